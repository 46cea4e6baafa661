/** What a replica does when it gains or loses a partition. */
export interface LeaseHandlers {
  /** Serve it. May reject: the lease is released and tried again later, by this or another replica. */
  acquired(partition: number): Promise<void>;
  /** Stop serving it. Called before the lease is given up, or as soon as it is known to be lost. */
  lost(partition: number): Promise<void>;
}

/**
 * Which partitions this replica should serve. Leases exist for liveness only: two replicas may believe they hold one,
 * and nothing breaks, because writers are fenced by the stream and by epochs.
 */
export interface PartitionLeases {
  /** Partitions held at this moment. */
  readonly held: ReadonlySet<number>;
  start(handlers: LeaseHandlers): Promise<void>;
  /** Gives one partition to whoever wants it. */
  release(partition: number): Promise<void>;
  /** Gives up everything, so that others need not wait for the leases to expire. */
  stop(): Promise<void>;
}
