import { type EventEnvelope, isSessionEvent } from '@longrein/events';
import { type Checkpoint, CheckpointMismatch, type DocumentStore, type EventLog } from '@longrein/log';
import type { Registry } from './registry.js';

/** How the promoter follows the turns of all sessions. */
export interface PromoterOptions {
  readonly sessions: EventLog<EventEnvelope>;
  readonly registry: Registry;
  /** Keeps how far each partition was followed. */
  readonly documents: DocumentStore;
  /** Events between two saved positions. */
  readonly save_every?: number;
  /** Waits before a failed attempt is repeated. */
  readonly pause: (signal: AbortSignal) => Promise<void>;
  readonly onProblem: (error: unknown, where: string) => void;
}

/**
 * Sees to it that waking inputs which no turn took up get one: whenever a turn ends in a session that has an agent, the
 * registry is asked to promote. Every replica does this; the log keeps one of their grants.
 */
export class Promoter {
  private readonly stopped = new AbortController();
  private readonly broken = new Map<number, string>();
  private running: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: PromoterOptions) {}

  /** Partitions that cannot be followed any more, with the reason. */
  get problems(): ReadonlyMap<number, string> {
    return this.broken;
  }

  /** Completes what other registries left half done, gives waiting inputs their turn, then follows every partition. */
  start(): void {
    const { partitions } = this.options.sessions;
    const followers = Array.from({ length: partitions }, (_, partition) =>
      this.persist(`partition ${partition}`, () => this.follow(partition)),
    );
    this.running = Promise.all([this.persist('catching up', () => this.catchUp()), ...followers]);
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.stopped.abort();
    await this.running;
  }

  private async catchUp(): Promise<void> {
    const { registry } = this.options;
    await registry.reconcile();
    for (const agent of await registry.live()) await registry.promote(agent);
  }

  private async follow(partition: number): Promise<void> {
    const { sessions, documents, save_every = 64 } = this.options;
    const name = `registry.turns.${partition}`;
    const after = (await documents.load(name)) as Checkpoint | null | undefined;
    const { signal } = this.stopped;
    let since = 0;
    let latest: Checkpoint | undefined;
    const deliveries = sessions.consume({ partition, select: { family: 'turn' }, ...(after && { after }), signal });
    try {
      for await (const delivery of deliveries) {
        if (delivery.kind === 'event') {
          await this.react(delivery.event);
          latest = delivery.checkpoint;
        }
        if (latest && (delivery.kind === 'caught_up' || ++since >= save_every)) {
          await documents.save(name, latest);
          since = 0;
        }
      }
      if (latest) await documents.save(name, latest);
    } catch (error) {
      if (!(error instanceof CheckpointMismatch)) throw error;
      this.broken.set(partition, error.message);
      this.options.onProblem(error, `partition ${partition}`);
    }
  }

  private async react(event: EventEnvelope): Promise<void> {
    if (!isSessionEvent(event) || event.type !== 'turn/end' || event.copied) return;
    const agent = await this.options.registry.liveFor(event.session_id);
    if (agent) await this.options.registry.promote(agent);
  }

  /** Repeats a job until it ends without an error, or the promoter stops. */
  private async persist(where: string, job: () => Promise<void>): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      try {
        await job();
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.options.onProblem(error, where);
        await this.options.pause(signal);
      }
    }
  }
}
