import type { BaseEnvelope } from '@longrein/events';
import type { NatsConnection, Subscription } from '@nats-io/nats-core';
import { LogError } from '../port/index.js';
import { ConnectionWatch } from './connection-watch.js';

/** What a follower hears. */
export interface LiveListener {
  /** An event was stored. Events may be missing, and come twice, around a lost connection. */
  stored(event: BaseEnvelope, bytes: number): void;
  /** Events may have been missed: read. */
  uncertain(): void;
  /** There is nothing more to hear. */
  failed(error: Error): void;
}

interface Topic {
  readonly listeners: Set<LiveListener>;
  readonly subscription: Subscription;
}

const hubs = new WeakMap<NatsConnection, LiveHub>();

/** Shares one core subscription per followed session among all followers on a connection. */
export class LiveHub {
  readonly #nc: NatsConnection;
  readonly #topics = new Map<string, Topic>();

  /** The connection's one hub. */
  static of(nc: NatsConnection): LiveHub {
    let hub = hubs.get(nc);
    if (!hub) {
      hub = new LiveHub(nc);
      hubs.set(nc, hub);
    }
    return hub;
  }

  private constructor(nc: NatsConnection) {
    this.#nc = nc;
    ConnectionWatch.of(nc).listen({
      reconnected: () => this.#all((listener) => listener.uncertain()),
      closed: () => this.#all((listener) => listener.failed(closed())),
    });
  }

  /** Subscriptions held at this moment. */
  get subscriptions(): number {
    return this.#topics.size;
  }

  /**
   * Hears the subject from now on: a request sent on the same connection after this call is handled by the server
   * after the subscription. Returns how to stop; the last one out unsubscribes.
   */
  attach(subject: string, listener: LiveListener): () => void {
    if (this.#nc.isClosed()) throw closed();
    let topic = this.#topics.get(subject);
    if (!topic) {
      const listeners = new Set<LiveListener>();
      const callback = (error: Error | null, msg: { data: Uint8Array; json<T>(): T }): void => {
        if (error) this.#drop(subject, error);
        else deliver(listeners, msg);
      };
      topic = { listeners, subscription: this.#nc.subscribe(subject, { callback }) };
      this.#topics.set(subject, topic);
    }
    const { listeners, subscription } = topic;
    listeners.add(listener);
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return;
      if (this.#topics.get(subject)?.listeners === listeners) this.#topics.delete(subject);
      if (!this.#nc.isClosed()) subscription.unsubscribe();
    };
  }

  #drop(subject: string, cause: Error): void {
    const topic = this.#topics.get(subject);
    this.#topics.delete(subject);
    const error = new LogError('unavailable', `live events on ${subject} cannot be heard: ${cause.message}`);
    for (const listener of [...(topic?.listeners ?? [])]) listener.failed(error);
  }

  #all(action: (listener: LiveListener) => void): void {
    for (const { listeners } of [...this.#topics.values()]) for (const listener of [...listeners]) action(listener);
  }
}

function deliver(listeners: Set<LiveListener>, msg: { data: Uint8Array; json<T>(): T }): void {
  let event: BaseEnvelope | undefined;
  try {
    event = msg.json<BaseEnvelope>();
  } catch {
    // Not from the log. A real event behind it is found by its seq.
  }
  for (const listener of [...listeners]) {
    if (event) listener.stored(event, msg.data.length);
    else listener.uncertain();
  }
}

function closed(): LogError {
  return new LogError('unavailable', 'the connection to NATS is closed');
}
