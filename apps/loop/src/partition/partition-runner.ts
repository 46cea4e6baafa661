import type { EventEnvelope } from '@longrein/events';
import type { Checkpoint, Delivery } from '@longrein/log';
import { RecoveryGate } from '../core/recovery-gate.js';
import { WorkSet } from '../core/work-set.js';
import type { ActorDeps, ActorEnd } from '../session/actor-deps.js';
import { SessionActor } from '../session/session-actor.js';
import { WarmStates } from '../session/warm-states.js';
import type { LoopSettings } from './loop-settings.js';

/** Facts after which the work set is saved again. */
export const CHECKPOINT_EVERY = 500;

/** What a runner needs besides what it makes itself. */
export interface RunnerDeps extends LoopSettings {
  /** Called when the runner cannot go on: its epoch is not in force any more, or its stream cannot be trusted. */
  readonly failed: (partition: number, error: unknown) => void;
}

/** Types that may give a session something to do that no actor of it knows about. */
const STIMULI: ReadonlySet<string> = new Set([
  'input/queued',
  'turn/cancel_requested',
  'approval/resolved',
  'session/quarantine_lifted',
]);

/**
 * Serves one partition: owns it under an epoch, folds its facts into the work set, and keeps one actor for each session
 * in work. Nothing is remembered about any other session.
 */
export class PartitionRunner {
  readonly #actors = new Map<string, SessionActor>();
  readonly #life = new AbortController();
  readonly #recovery = new RecoveryGate();
  readonly #warm = new WarmStates();
  #workSet = new WorkSet();
  #position: Checkpoint | undefined;
  #unsaved = 0;
  #caughtUp = false;
  #stopping = false;
  #actorDeps!: ActorDeps;
  #consuming: Promise<void> = Promise.resolve();
  #onQuiet: (() => void)[] = [];

  constructor(
    readonly partition: number,
    private readonly deps: RunnerDeps,
  ) {}

  /** Sessions that have an actor now. */
  get active(): number {
    return this.#actors.size;
  }

  /** Sessions with an open turn or an unconsumed input. */
  get inWork(): number {
    return this.#workSet.size;
  }

  /** Whether every fact that was there at the start has been read, so that sessions are acted on. */
  get caughtUp(): boolean {
    return this.#caughtUp;
  }

  /** Owns the partition and begins to consume. Resolves once owned: from then on no earlier owner can append. */
  async start(): Promise<void> {
    const { log, owner, documents } = this.deps;
    const { epoch } = await log.own(this.partition, { scope: 'loop', owner });
    this.#actorDeps = { ...this.deps, epoch, recovery: this.#recovery, warm: this.#warm };
    const saved = await documents.load(this.#document);
    const workSet = WorkSet.restore(saved);
    if (workSet) {
      this.#workSet = workSet;
      this.#position = (saved as { checkpoint?: Checkpoint }).checkpoint;
    }
    this.deps.logger.info({ partition: this.partition, epoch, in_work: this.#workSet.size }, 'owns a partition');
    this.#consuming = this.#consume().catch((error: unknown) => this.#fail(error));
  }

  /**
   * Stops taking up anything new, lets every actor end at its next step boundary, aborts those that have not after
   * `drain_ms`, and leaves the work set saved for the next owner.
   */
  async stop(): Promise<void> {
    if (this.#stopping) return this.#quiet();
    this.#stopping = true;
    for (const actor of this.#actors.values()) actor.stop();
    this.deps.logger.info({ partition: this.partition, active: this.#actors.size }, 'hands its turns over');
    const drained = this.#quiet();
    const cancelAbort = this.deps.clock.setTimeout(() => {
      for (const actor of this.#actors.values()) actor.abort();
    }, this.deps.drain_ms);
    // A log that does not answer must not keep a process from ending.
    const cancelKill = this.deps.clock.setTimeout(() => this.kill(), this.deps.drain_ms + this.deps.abort_ms);
    await drained;
    cancelAbort();
    cancelKill();
    this.#life.abort();
    await this.#consuming;
    await this.#save().catch((error: unknown) => this.#warn(error, 'the work set was not saved'));
  }

  /** Stops at once, appending nothing more. */
  kill(): void {
    this.#stopping = true;
    this.#life.abort();
    for (const actor of this.#actors.values()) actor.kill();
  }

  async #consume(): Promise<void> {
    const { log } = this.deps;
    const { signal } = this.#life;
    const after = this.#position;
    const options = { partition: this.partition, select: 'facts' as const, signal, ...(after && { after }) };
    for await (const delivery of log.consume(options)) {
      if (signal.aborted) return;
      await this.#take(delivery);
    }
  }

  async #take(delivery: Delivery): Promise<void> {
    if (delivery.kind === 'caught_up') {
      this.#caughtUp = true;
      for (const sessionId of [...this.#workSet.actionable()]) this.#spawn(sessionId);
      return this.#save().catch((error: unknown) => this.#warn(error, 'the work set was not saved'));
    }
    const { event, checkpoint } = delivery;
    this.#workSet.apply(event);
    this.#position = checkpoint;
    this.#unsaved += 1;
    if (this.#caughtUp) this.#dispatch(event);
    if (this.#unsaved >= CHECKPOINT_EVERY) {
      await this.#save().catch((error: unknown) => this.#warn(error, 'the work set was not saved'));
    }
  }

  #dispatch(event: EventEnvelope): void {
    const actor = this.#actors.get(event.session_id);
    // It may be what its process suffers from: nothing more is done about it, not even a handover.
    if (actor && this.#workSet.isQuarantined(event.session_id)) return actor.kill();
    if (actor && !actor.finished) return actor.deliver(event);
    if (event.copied || !STIMULI.has(event.type) || !this.#workSet.isActionable(event.session_id)) return;
    this.#spawn(event.session_id, event);
  }

  #spawn(sessionId: string, stimulus?: EventEnvelope): void {
    if (this.#stopping) return;
    const actor = new SessionActor(sessionId, this.#actorDeps, stimulus);
    this.#actors.set(sessionId, actor);
    void actor.done.then((end) => this.#ended(actor, end));
  }

  #ended(actor: SessionActor, end: ActorEnd): void {
    if (this.#actors.get(actor.sessionId) === actor) this.#actors.delete(actor.sessionId);
    if (this.#actors.size === 0) for (const quiet of this.#onQuiet.splice(0)) quiet();
    this.deps.logger.debug({ session_id: actor.sessionId, end }, 'a session left work');
    if (end === 'fenced') this.#fail(new Error(`another loop owns partition ${this.partition} now`));
  }

  /** Resolves when no actor is left. */
  #quiet(): Promise<void> {
    return this.#actors.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#onQuiet.push(resolve));
  }

  #fail(error: unknown): void {
    if (this.#life.signal.aborted) return;
    this.kill();
    this.deps.failed(this.partition, error);
  }

  async #save(): Promise<void> {
    if (!this.#position) return;
    this.#unsaved = 0;
    await this.deps.documents.save(this.#document, { checkpoint: this.#position, ...this.#workSet.toJSON() });
  }

  get #document(): string {
    return `loop.work-set.${this.partition}`;
  }

  #warn(error: unknown, message: string): void {
    this.deps.logger.warn({ partition: this.partition, err: error }, message);
  }
}
