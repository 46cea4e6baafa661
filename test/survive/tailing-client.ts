import type { EventEnvelope } from '@longrein/events';
import { type Frame, SocketClient } from '../../apps/gateway/src/socket-client.spec-kit.js';

/** Where clients find gateways, and what lets them in. */
export interface Entrance {
  readonly urls: readonly string[];
  readonly token: string;
}

/**
 * A client as an application would write it: follows its agent's session from where it was, connects again to any
 * gateway when its connection is lost, and sends again what it has not seen in the log.
 */
export class TailingClient {
  /** The session as this client saw it, over all its connections. */
  readonly events: EventEnvelope[] = [];
  /** What should not have come: errors, gaps, repetitions. */
  readonly complaints: string[] = [];
  reconnects = -1;
  readonly #unseen = new Map<string, string>();
  readonly #watchers = new Set<() => void>();
  readonly #following: Promise<void>;
  #socket: SocketClient | undefined;
  #closed = false;
  #sent = 0;

  constructor(
    readonly agent: string,
    private readonly entrance: Entrance,
    private gateway: number,
  ) {
    this.#following = this.#follow();
  }

  /** Sends an input that starts a turn, and resolves with the end of the turn that consumed it. */
  async ask(text: string): Promise<EventEnvelope> {
    const input_id = `${this.agent}-${++this.#sent}`;
    this.#unseen.set(input_id, text);
    this.#send(input_id, text);
    for (let from = 0, consumed = false; ;) {
      for (; from < this.events.length; from++) {
        const { type, payload } = this.events[from]!;
        const consumes = type === 'user/message' || type === 'context/injected';
        if (consumes && (payload as { input_id?: string }).input_id === input_id) consumed = true;
        if (type === 'turn/end' && consumed) return this.events[from]!;
      }
      await new Promise<void>((resolve) => this.#watchers.add(resolve));
    }
  }

  /** Resolves when the session was followed up to this seq. */
  async caughtUp(seq: number): Promise<void> {
    while ((this.events.at(-1)?.seq ?? -1) < seq) await new Promise<void>((resolve) => this.#watchers.add(resolve));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#socket?.kill();
    await this.#following;
  }

  #send(input_id: string, text: string): void {
    if (this.#socket?.socket.readyState === 1) this.#socket.send({ type: 'inject', text, wake: true, input_id });
  }

  async #follow(): Promise<void> {
    while (!this.#closed) {
      const { urls, token } = this.entrance;
      const socket = new SocketClient(urls[this.gateway++ % urls.length]!, `/agents/${this.agent}/ws`, token);
      this.#socket = socket;
      await this.#read(socket).catch(() => undefined);
      // A gateway that is just restarting refuses: the next one is asked, not at once.
      if (!this.#closed) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async #read(socket: SocketClient): Promise<void> {
    const hello = await socket.next();
    if (hello.type !== 'hello') return void this.#complain(hello);
    this.reconnects += 1;
    socket.send({ type: 'subscribe', from_seq: this.events.length });
    for (const [input_id, text] of this.#unseen) this.#send(input_id, text);
    for (;;) this.#take(await socket.next());
  }

  #take(frame: Frame): void {
    if (frame.seq === undefined) return void this.#complain(frame);
    if (frame.seq !== this.events.length) {
      this.complaints.push(`seq ${frame.seq} where ${this.events.length} comes next`);
    }
    const event = frame as unknown as EventEnvelope;
    this.events.push(event);
    if (event.type === 'input/queued') this.#unseen.delete((event.payload as { input_id: string }).input_id);
    for (const tell of this.#watchers) tell();
    this.#watchers.clear();
  }

  #complain(frame: Frame): void {
    this.complaints.push(JSON.stringify(frame));
  }
}
