import type { NatsConnection } from '@nats-io/nats-core';
import { Kvm } from '@nats-io/kv';
import { LIVE_PREFIX, MAX_PARTITIONS, type StreamKind, partitionSubjects, streamName } from '@longrein/events';
import { META_BUCKET, PARTITIONS_KEY } from './names.js';
import { JetStreamError, StreamApi } from './stream-api.js';

/** How the streams are made. Fixed facts of a deployment; only the partition count is checked at every start. */
export interface ProvisionOptions {
  readonly partitions: number;
  /** Copies of each stream: 1 in development, 3 in production. */
  readonly replicas?: number;
  /** Byte limit of each partition's stream. Default: none. */
  readonly max_bytes?: number;
}

/** A service was started with another partition count than the deployment was created with. */
export class PartitionCountMismatch extends Error {
  override readonly name = 'PartitionCountMismatch';

  constructor(
    readonly configured: number,
    readonly deployed: number,
  ) {
    super(
      `this deployment has ${deployed} partitions and its sessions are placed by that number; ` +
        `it cannot run with ${configured}. Set LONGREIN_PARTITIONS=${deployed}`,
    );
  }
}

const KINDS: readonly StreamKind[] = ['sessions', 'agents'];
const DUPLICATE_WINDOW_NS = 120_000_000_000;
const STREAM_EXISTS = 10058;

/**
 * Creates what the log needs and does not exist: the streams of every partition and the record of their count. Safe to
 * run from several replicas at once. Throws `PartitionCountMismatch` before anything is touched.
 */
export async function provision(nc: NatsConnection, options: ProvisionOptions): Promise<void> {
  const { partitions, replicas = 1, max_bytes = -1 } = options;
  if (!Number.isInteger(partitions) || partitions < 1 || partitions > MAX_PARTITIONS) {
    throw new RangeError(`partitions must be 1 to ${MAX_PARTITIONS}, got ${partitions}`);
  }
  await recordPartitions(nc, partitions, replicas);
  const api = new StreamApi(nc, { timeout_ms: 20_000 });
  const atomic = knowsAtomicBatches(nc.info?.version);
  for (const kind of KINDS) {
    for (let partition = 0; partition < partitions; partition++) {
      await createStream(api, kind, partition, { replicas, max_bytes, atomic });
    }
  }
}

async function recordPartitions(nc: NatsConnection, partitions: number, replicas: number): Promise<void> {
  const meta = await new Kvm(nc).create(META_BUCKET, { replicas, history: 1 });
  try {
    await meta.create(PARTITIONS_KEY, String(partitions));
  } catch {
    const recorded = await meta.get(PARTITIONS_KEY);
    if (!recorded) throw new Error(`the partition count in ${META_BUCKET} can be neither written nor read`);
    const deployed = Number(recorded.string());
    if (deployed !== partitions) throw new PartitionCountMismatch(partitions, deployed);
  }
}

async function createStream(
  api: StreamApi,
  kind: StreamKind,
  partition: number,
  options: { replicas: number; max_bytes: number; atomic: boolean },
): Promise<void> {
  const name = streamName(kind, partition);
  const subjects = partitionSubjects(kind, partition);
  try {
    await api.request(`STREAM.CREATE.${name}`, {
      name,
      subjects: [subjects],
      storage: 'file',
      retention: 'limits',
      discard: 'new',
      num_replicas: options.replicas,
      max_bytes: options.max_bytes,
      max_msgs: -1,
      max_age: 0,
      max_consumers: -1,
      max_msg_size: 512 * 1024,
      duplicate_window: DUPLICATE_WINDOW_NS,
      deny_delete: false,
      deny_purge: false,
      allow_direct: true,
      allow_rollup_hdrs: false,
      ...(options.atomic ? { allow_atomic: true } : {}),
      republish: { src: subjects, dest: `${LIVE_PREFIX}.${subjects}` },
    });
  } catch (error) {
    // Already there, made by an earlier start or another replica, perhaps with an operator's limits: theirs stand.
    if (!(error instanceof JetStreamError && error.errorCode === STREAM_EXISTS)) throw error;
  }
}

/** Servers from 2.12 on store a batch whole or not at all. */
function knowsAtomicBatches(version = ''): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 2 || (major === 2 && minor >= 12);
}
