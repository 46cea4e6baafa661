import { type Clock, systemClock } from '@longrein/clock';
import type { ServiceName } from '@longrein/events';
import { type DocumentStore, type ScrubRule, Scrubber, type SessionLog } from '@longrein/log';
import { SoleLeases } from '@longrein/log/jetstream';
import type { ModelPort } from '@longrein/model';
import { InProcessTools } from '@longrein/tools/memory';
import { LoopEngine } from '../partition/loop-engine.js';
import { type LoopOptions, type LoopPorts, loopSettings } from '../partition/loop-settings.js';
import { SessionProbe } from './session-probe.js';

/** A log that can be opened as any service, with a place for documents. */
export interface Deployment {
  as(service: ServiceName): SessionLog;
  readonly documents: DocumentStore;
}

/** What a fixture may set; the rest has defaults that suit tests. */
export interface FixtureOptions extends Partial<LoopOptions> {
  readonly deployment: Deployment;
  readonly model: ModelPort;
  readonly tools?: InProcessTools;
  readonly clock?: Clock;
  readonly scrub?: readonly ScrubRule[];
}

/** A loop in this process on any log, with tools and a model of the test's own. */
export class LoopFixture {
  readonly tools: InProcessTools;
  readonly deployment: Deployment;
  readonly #options: FixtureOptions;
  #engine: LoopEngine | undefined;
  #made = 0;

  constructor(options: FixtureOptions) {
    this.#options = options;
    this.deployment = options.deployment;
    this.tools = options.tools ?? new InProcessTools();
  }

  /** Starts a loop, as a new replica with an empty memory would. */
  async start(more: Partial<LoopOptions> = {}, ports: Partial<LoopPorts> = {}): Promise<LoopEngine> {
    const { deployment, model, clock = systemClock, scrub, tools: _, ...options } = this.#options;
    const log = deployment.as('loop');
    const settings = loopSettings(
      {
        log,
        documents: deployment.documents,
        model,
        catalog: this.tools,
        executor: this.tools,
        scrubber: new Scrubber(scrub),
        clock,
        logger: silent,
        ...ports,
      },
      { owner: `loop-${++this.#made}`, models: { main: 'test/model' }, scrub_rules: scrub ?? [], ...options, ...more },
    );
    this.#engine = new LoopEngine(settings, new SoleLeases(log.partitions));
    await this.#engine.start();
    return this.#engine;
  }

  /** The running loop. */
  get engine(): LoopEngine {
    if (!this.#engine) throw new Error('the fixture was not started');
    return this.#engine;
  }

  /** Ends the loop in order. */
  async stop(): Promise<void> {
    await this.#engine?.stop();
    this.#engine = undefined;
  }

  /** Ends the loop as a crash would: nothing more is appended. */
  crash(): void {
    this.#engine?.kill();
    this.#engine = undefined;
  }

  /** Creates a session and returns a client of it. */
  async session(id: string): Promise<SessionProbe> {
    await this.deployment.as('gateway').create(id);
    return new SessionProbe(id, this.deployment);
  }
}

const nothing = (): void => undefined;
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };
