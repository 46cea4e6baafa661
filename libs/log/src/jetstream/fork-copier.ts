import { type EventEnvelope, partitionOf } from '@longrein/events';
import {
  type PreparedEvent,
  expiredChunk,
  forkBoundary,
  forkedCopy,
  forkedEvent,
  microsecondTimestamp,
} from '../core/index.js';
import { type ForkRequest, type ForkResult, LogError } from '../port/index.js';
import type { LiveHead } from './live-head.js';
import type { SessionReader } from './session-reader.js';

/** How copies reach the child's stream. */
interface Destination {
  store(head: LiveHead, events: readonly PreparedEvent[]): void;
  settled(head: LiveHead): Promise<void>;
}

/** Copies are handed over in groups of this size, so that a long fork never fills the pipeline. */
const GROUP = 256;
const GROUP_BYTES = 1024 * 1024;

/**
 * Copies parents into children. Everything a copy needs is in the log (the child's first event names parent and
 * boundary, the copies have derived ids), so whoever owns the child's partition next finishes what was begun.
 */
export class ForkCopier {
  readonly #running = new Map<string, Promise<void>>();

  constructor(
    private readonly reader: SessionReader,
    private readonly partitions: number,
    private readonly child: Destination,
  ) {}

  /** Where a fork of the parent as it is now ends. */
  async boundary({ from, boundary }: ForkRequest): Promise<number> {
    const facts: EventEnvelope[] = [];
    for await (const event of this.#parent(from, 0, true)) {
      if (boundary !== undefined && event.seq > boundary) break;
      facts.push(event);
    }
    return forkBoundary(facts, boundary);
  }

  /** The answer to a fork whose child exists: the same as the first time, or `conflict` when it is another session. */
  async repeat(head: LiveHead, request: ForkRequest): Promise<ForkResult> {
    const { from, to } = request;
    await this.child.settled(head);
    const fork = await this.#begun(to);
    if (fork?.from !== from) {
      throw new LogError('conflict', `session ${to} exists and is no fork of ${from}`, { last_seq: head.lastSeq });
    }
    // Without a boundary the parent's end was meant, which has moved on since.
    if (request.boundary !== undefined && (await this.boundary(request)) !== fork.boundary) {
      const message = `session ${to} is a fork of ${from} at ${fork.boundary}, not at ${request.boundary}`;
      throw new LogError('conflict', message, { last_seq: head.lastSeq });
    }
    await this.finish(head);
    return { boundary: fork.boundary, last_seq: fork.boundary + 1 };
  }

  /** Copies what is missing and closes the fork. Concurrent callers share one copy. */
  finish(head: LiveHead): Promise<void> {
    if (!head.forking) return Promise.resolve();
    let running = this.#running.get(head.id);
    if (!running) {
      running = this.#copy(head).finally(() => this.#running.delete(head.id));
      this.#running.set(head.id, running);
    }
    return running;
  }

  async #copy(head: LiveHead): Promise<void> {
    await this.child.settled(head);
    const fork = await this.#begun(head.id);
    if (!fork) throw new LogError('unavailable', `the beginning of session ${head.id} cannot be read; retry`);
    let group: PreparedEvent[] = [];
    let bytes = 0;
    let seq = head.lastSeq + 1;
    const flush = async (): Promise<void> => {
      if (group.length > 0) this.child.store(head, group);
      group = [];
      bytes = 0;
      await this.child.settled(head);
    };
    if (seq <= fork.boundary) {
      for await (const event of this.#parent(fork.from, seq, false)) {
        for (; seq < Math.min(event.seq, fork.boundary + 1); seq++) {
          group.push(forkedCopy(expiredChunk(seq, event.at, fork.from), head.id));
        }
        if (event.seq > fork.boundary) break;
        const copy = forkedCopy(event, head.id);
        group.push(copy);
        bytes += copy.body.length;
        seq++;
        if (group.length >= GROUP || bytes >= GROUP_BYTES) await flush();
      }
      if (seq <= fork.boundary) {
        throw new LogError(
          'unavailable',
          `session ${fork.from} ends at ${seq - 1}, below the fork at ${fork.boundary}`,
        );
      }
    }
    await flush();
    this.child.store(head, [forkedEvent(head.id, fork.from, fork.boundary, microsecondTimestamp)]);
    await this.child.settled(head);
    head.forking = false;
  }

  async #begun(child: string): Promise<{ from: string; boundary: number } | undefined> {
    const page = await this.reader.page(partitionOf(child, this.partitions), child, { from_seq: 0, limit: 1 });
    const first = page.events[0];
    if (!first) return undefined;
    const { payload } = JSON.parse(Buffer.from(first.message.data).toString()) as EventEnvelope<
      string,
      { fork?: { from: string; boundary: number } }
    >;
    return payload.fork;
  }

  async *#parent(id: string, fromSeq: number, factsOnly: boolean): AsyncGenerator<EventEnvelope> {
    for (let from: number | null = fromSeq; from !== null;) {
      const page = await this.reader.page(partitionOf(id, this.partitions), id, {
        from_seq: from,
        facts_only: factsOnly,
      });
      for (const { message } of page.events) yield JSON.parse(Buffer.from(message.data).toString()) as EventEnvelope;
      from = page.events.length > 0 ? page.next_seq : null;
    }
  }
}
