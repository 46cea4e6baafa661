import { type Clock, sleepOn, systemClock } from '@longrein/clock';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/nats-core';
import { META_BUCKET, PARTITIONS_KEY } from '../jetstream/names.js';
import { PartitionCountMismatch } from '../jetstream/provision.js';

/** How a service waits for its deployment. */
export interface AwaitDeploymentOptions {
  readonly clock?: Clock;
  /** Milliseconds between two looks. Default 500. */
  readonly poll_ms?: number;
  readonly signal?: AbortSignal;
  /** Told once when there is something to wait for. */
  readonly onWait?: () => void;
}

/**
 * Waits until the log service has created the deployment, and checks that it has the partition count that this service
 * is configured with: with another one it would look for sessions where they are not. Throws `PartitionCountMismatch`.
 */
export async function awaitDeployment(
  nc: NatsConnection,
  partitions: number,
  options: AwaitDeploymentOptions = {},
): Promise<void> {
  const { clock = systemClock, poll_ms = 500, signal } = options;
  for (let waited = false; ; waited = true) {
    signal?.throwIfAborted();
    const deployed = await deployedPartitions(nc);
    if (deployed === partitions) return;
    if (deployed !== undefined) throw new PartitionCountMismatch(partitions, deployed);
    if (!waited) options.onWait?.();
    await sleepOn(clock, poll_ms, signal);
  }
}

/** The partition count that the deployment was created with; nothing where there is none (yet). */
export async function deployedPartitions(nc: NatsConnection): Promise<number | undefined> {
  try {
    const meta = await new Kvm(nc).open(META_BUCKET);
    const entry = await meta.get(PARTITIONS_KEY);
    return entry ? Number(entry.string()) : undefined;
  } catch {
    // No bucket yet, or no JetStream at this moment: both pass.
    return undefined;
  }
}
