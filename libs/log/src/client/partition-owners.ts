import { type OwnerScope, type StreamKind, PARTITION_ID, eventSubject, ownerScope, streamName } from '@longrein/events';
import { type KV, Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/nats-core';
import { leaseBucket, leaseKey, leaseReleaseSubject } from '../jetstream/names.js';
import { loadScopes } from '../jetstream/partition-terms.js';
import { StreamApi } from '../jetstream/stream-api.js';
import { LogError } from '../port/index.js';

/** Services whose replicas share the partitions. */
export const LEASE_SCOPES = ['log', ...ownerScope.options] as const;

export type LeaseScope = (typeof LEASE_SCOPES)[number];

/** Who has a partition, as far as a scope is concerned. */
export interface PartitionOwnership {
  readonly partition: number;
  readonly scope: LeaseScope;
  /** Whose events: the log owns both kinds of stream of a partition, each under its own epoch. */
  readonly kind: StreamKind;
  /** Replica that holds the lease; null: nobody, so it is about to be taken. */
  readonly replica: string | null;
  /** Epoch in force; null before the first owner. */
  readonly epoch: number | null;
}

/** Partitions asked about at the same time. */
const PARALLEL = 16;

/** Who has each partition, by lease and by epoch. Reads only; leases may change hands meanwhile. */
export async function partitionOwners(nc: NatsConnection, partitions: number): Promise<PartitionOwnership[]> {
  const api = new StreamApi(nc);
  const leases = new Map<LeaseScope, KV>();
  for (const scope of LEASE_SCOPES) leases.set(scope, await new Kvm(nc).open(leaseBucket(scope)));
  const rows: PartitionOwnership[][] = [];
  const ask = async (partition: number): Promise<void> => {
    const holder = async (scope: LeaseScope) => holderOf(leases.get(scope)!, partition);
    const replicas = Object.fromEntries(
      await Promise.all(LEASE_SCOPES.map(async (scope) => [scope, await holder(scope)] as const)),
    ) as Record<LeaseScope, string | null>;
    const row = (scope: LeaseScope, kind: StreamKind, epoch: number | null): PartitionOwnership => {
      return { partition, scope, kind, replica: replicas[scope], epoch };
    };
    const [sessions, agents] = await Promise.all([
      epochs(api, 'sessions', partition),
      epochs(api, 'agents', partition),
    ]);
    rows[partition] = [
      row('log', 'sessions', sessions.log),
      row('log', 'agents', agents.log),
      row('loop', 'sessions', sessions.scopes.get('loop') ?? null),
      ...(['sessions', 'agents'] as const).flatMap((kind) => {
        const epoch = (kind === 'sessions' ? sessions : agents).scopes.get('registry');
        return epoch === undefined ? [] : [row('registry', kind, epoch)];
      }),
    ];
  };
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < partitions) await ask(next++);
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, partitions) }, worker));
  return rows.flat();
}

/**
 * Asks the holder of a partition to give it up, and waits until it has; resolves to its name. Whoever has room takes it
 * next, after a pause also the same replica. Throws `unavailable` when nobody holds it, or the holder does not answer.
 */
export async function releasePartition(
  nc: NatsConnection,
  { scope, partition }: { readonly scope: LeaseScope; readonly partition: number },
  options: { readonly timeout_ms?: number } = {},
): Promise<{ replica: string }> {
  const what = `partition ${partition} of ${scope}`;
  const holder = await holderOf(await new Kvm(nc).open(leaseBucket(scope)), partition);
  if (holder === null) throw new LogError('unavailable', `nobody holds ${what}: there is nothing to release`);
  const { timeout_ms = 30_000 } = options;
  let answer: { replica?: string; error?: { message: string } };
  try {
    const reply = await nc.request(leaseReleaseSubject(scope), JSON.stringify({ partition }), { timeout: timeout_ms });
    answer = reply.json();
  } catch (error) {
    throw new LogError('unavailable', `${holder} did not give up ${what}: ${(error as Error).message}`);
  }
  if (answer.replica === undefined) throw new LogError('unavailable', answer.error?.message ?? 'no answer');
  return { replica: answer.replica };
}

/** The replica that holds the lease, or null. */
async function holderOf(bucket: KV, partition: number): Promise<string | null> {
  // No bucket either before the first replica of a scope has run.
  const lease = await bucket.get(leaseKey(partition)).catch(() => null);
  return lease?.operation === 'PUT' ? lease.string() : null;
}

async function epochs(
  api: StreamApi,
  kind: StreamKind,
  partition: number,
): Promise<{ log: number | null; scopes: Map<OwnerScope, number> }> {
  const control = eventSubject(kind, partition, PARTITION_ID, 'fact', 'control');
  const [opened, owners] = await Promise.all([
    api.get(streamName(kind, partition), { last_by_subj: control }),
    loadScopes(api, kind, partition),
  ]);
  return {
    log: opened?.sequence ?? null,
    scopes: new Map([...owners].map(([scope, { epoch }]) => [scope, epoch])),
  };
}
