/** Headers of a stored event. Sequences are stream sequences, absent where there is no such event. */
export const HEADER = {
  messageId: 'Nats-Msg-Id',
  expectedLastSequence: 'Nats-Expected-Last-Sequence',
  expectedLastMessageId: 'Nats-Expected-Last-Msg-Id',
  batchId: 'Nats-Batch-Id',
  batchSequence: 'Nats-Batch-Sequence',
  batchCommit: 'Nats-Batch-Commit',
  seq: 'Lr-Seq',
  type: 'Lr-Type',
  /** Incarnation of the owner's term that wrote the event. */
  term: 'Lr-Term',
  /** Ordinal of the session's latest fact up to and including this event. */
  ordinal: 'Lr-Ord',
  previous: 'Lr-Prev',
  previousFact: 'Lr-Prev-Fact',
  fact16: 'Lr-F16',
  fact256: 'Lr-F256',
  fact4096: 'Lr-F4096',
  copied: 'Lr-Copied',
  traceparent: 'traceparent',
} as const;

/** KV bucket of the deployment's fixed facts; its key `partitions` holds the partition count. */
export const META_BUCKET = 'LONGREIN_META';
export const PARTITIONS_KEY = 'partitions';

/** Request subject on which the holder of a partition of this scope is asked to give it up. */
export function leaseReleaseSubject(scope: string): string {
  return `longrein.leases.${scope}.release`;
}

/** Key of a partition's lease in the bucket of its scope. Its value is the name of the replica. */
export function leaseKey(partition: number): string {
  return `p.${partition}`;
}

/** KV bucket of one scope's partition leases. */
export function leaseBucket(scope: string): string {
  return `LONGREIN_LEASES_${scope}`;
}
