import type { Msg, NatsConnection, Subscription } from '@nats-io/nats-core';

/** What a replica tells the others besides being there. */
export interface Announcement {
  /** Partitions it holds. */
  readonly held: number;
  /** It is stopping: its share is the others' from now on. */
  readonly leaving?: true;
  /** It gave this partition up: whoever has room takes it. */
  readonly freed?: number;
  /** It serves this partition now. */
  readonly took?: number;
}

/** The replicas of one scope, as far as they were heard of lately on a plain subject. */
export class LeaseMembers {
  readonly #seenAt = new Map<string, number>();
  readonly #subject: string;
  #announcements: Subscription | undefined;

  /** @param changed called when partitions have become free, or found an owner: worth a look at once */
  constructor(
    private readonly nc: NatsConnection,
    private readonly options: { readonly scope: string; readonly replica: string; readonly ttl_ms: number },
    private readonly changed: () => void,
  ) {
    this.#subject = `longrein.members.${options.scope}`;
  }

  start(): void {
    this.#announcements = this.nc.subscribe(this.#subject, { callback: (_, msg) => this.#heard(msg) });
  }

  stop(): void {
    this.#announcements?.unsubscribe();
  }

  announce(announcement: Announcement): void {
    const { replica } = this.options;
    if (!this.nc.isClosed()) this.nc.publish(this.#subject, JSON.stringify({ replica, ...announcement }));
  }

  /** Replicas that were heard of within a lease's time, this one included. */
  get count(): number {
    const now = performance.now();
    for (const [replica, seenAt] of this.#seenAt) {
      if (now - seenAt > this.options.ttl_ms) this.#seenAt.delete(replica);
    }
    return new Set([...this.#seenAt.keys(), this.options.replica]).size;
  }

  #heard(msg: Msg): void {
    let member: (Partial<Announcement> & { replica?: unknown }) | null;
    try {
      member = msg.json();
    } catch {
      return;
    }
    if (typeof member?.replica !== 'string' || member.replica === this.options.replica) return;
    if (member.leaving) this.#seenAt.delete(member.replica);
    else this.#seenAt.set(member.replica, performance.now());
    if (member.leaving || member.freed !== undefined || member.took !== undefined) this.changed();
  }
}
