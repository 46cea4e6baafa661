import type { BaseEnvelope, StreamKind } from '@longrein/events';
import type { RecentEvent } from '../core/index.js';
import { LogError } from '../port/index.js';
import { LiveHead } from './live-head.js';
import type { Pipeline } from './pipeline.js';
import { SessionWalk } from './session-walk.js';
import type { StreamApi } from './stream-api.js';

/** Heads kept per partition. A head with events on their way to the stream is never dropped. */
const CAPACITY = 1024;

/** Events read back at a time: they may be large, and their envelopes are mostly not kept. */
const STRIDE = 256;

/** The heads of a partition's live sessions, loaded from the stream on first use. */
export class HeadCache {
  readonly #heads = new Map<string, LiveHead>();
  readonly #loading = new Map<string, Promise<LiveHead | undefined>>();
  readonly #extending = new Map<LiveHead, Promise<void>>();
  /** Counts how often everything was forgotten: what was read from the stream before that may be out of date. */
  #generation = 0;

  constructor(
    private readonly api: StreamApi,
    private readonly kind: StreamKind,
    private readonly partition: number,
    private readonly pipeline: () => Pipeline,
  ) {}

  /** The head in memory, if it is there and still in force. */
  peek(id: string): LiveHead | undefined {
    return this.#heads.get(id);
  }

  /** The session's head; nothing when the session does not exist. */
  async get(id: string): Promise<LiveHead | undefined> {
    const head = this.#heads.get(id);
    if (head) return head;
    let loading = this.#loading.get(id);
    if (!loading) {
      const begun = this.#load(id).finally(() => {
        if (this.#loading.get(id) === begun) this.#loading.delete(id);
      });
      loading = begun;
      this.#loading.set(id, loading);
    }
    return loading;
  }

  /** Makes this the session's head. */
  put(head: LiveHead): void {
    this.#heads.delete(head.id);
    this.#heads.set(head.id, head);
    if (this.#heads.size > CAPACITY) this.#evict();
  }

  /** Marks the head as recently used. */
  touch(head: LiveHead): void {
    if (this.#heads.size > CAPACITY / 2 && this.#heads.get(head.id) === head) this.put(head);
  }

  /** Forgets everything: what was decided on top of these heads is void. */
  clear(): void {
    this.#generation++;
    for (const head of this.#heads.values()) head.retired = true;
    this.#heads.clear();
    this.#loading.clear();
  }

  /** Reaches the head's window back to a seq. */
  async extend(head: LiveHead, from: number): Promise<void> {
    const release = head.window.hold();
    try {
      while (head.window.from > from) {
        let extending = this.#extending.get(head);
        if (!extending) {
          extending = this.#extend(head, from).finally(() => this.#extending.delete(head));
          this.#extending.set(head, extending);
        }
        await extending;
      }
    } finally {
      release();
    }
  }

  async #load(id: string): Promise<LiveHead | undefined> {
    for (;;) {
      const generation = this.#generation;
      const walk = await SessionWalk.begin(this.api, this.kind, this.partition, id);
      // An event beyond everything this pipeline has handed out is another owner's.
      if (walk && walk.tip.sequence >= this.pipeline().next) await this.pipeline().verify();
      const raced = this.#heads.get(id);
      if (raced) return raced;
      if (generation !== this.#generation) continue;
      if (!walk) return undefined;
      const head = LiveHead.at(id, walk.tip);
      this.put(head);
      return head;
    }
  }

  async #extend(head: LiveHead, wanted: number): Promise<void> {
    await this.pipeline().settled(head.sequence);
    const below = head.window.from;
    const from = Math.max(wanted, below - STRIDE);
    const walk = await SessionWalk.begin(this.api, this.kind, this.partition, head.id);
    if (!walk) throw new LogError('unavailable', `session ${head.id} cannot be read back; retry`);
    const end = await walk.atLeastSeq(below - 1);
    const placed = await walk.range(from, end, false);
    const events = new Map(placed.map((event) => [event.seq, event]));
    const older: RecentEvent[] = [];
    for (let seq = from; seq < below; seq++) {
      const event = events.get(seq);
      if (!event) {
        // An expired chunk: nobody retries it and no condition names it.
        older.push({ seq, id: '', type: 'assistant/chunk', at: '', fact: undefined, bytes: 0 });
        continue;
      }
      const envelope = JSON.parse(Buffer.from(event.message.data).toString()) as BaseEnvelope;
      const { id, type, at } = envelope;
      const [fact, bytes] = event.isFact ? [envelope, event.message.data.length] : [undefined, 0];
      older.push({ seq, id, type, at, fact, bytes });
    }
    if (head.window.from === below) head.window.extend(older);
  }

  #evict(): void {
    const { acknowledged } = this.pipeline();
    for (const [id, head] of this.#heads) {
      if (head.sequence > acknowledged || head.forking) continue;
      this.#heads.delete(id);
      head.retired = true;
      return;
    }
  }
}
