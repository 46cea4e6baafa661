import { userInfo } from 'node:os';
import { isLogError } from '@longrein/log';
import { type LeaseScope, partitionOwners, releasePartition } from '@longrein/log/client';
import { CliError, EXIT } from '../errors.js';
import { type OperatorOptions, onDeployment } from '../operator/deployment.js';
import { renderOwners } from '../render/owners.js';
import type { Io } from './io.js';

/** `partition list`. */
export async function listPartitions(io: Io, options: OperatorOptions): Promise<void> {
  const owners = await onDeployment(options, io.env, ({ nats, partitions }) => partitionOwners(nats, partitions));
  io.out(options.json ? `${JSON.stringify(owners)}\n` : renderOwners(owners));
}

/** `partition release <scope> <partition>`. */
export async function release(io: Io, scope: LeaseScope, partition: number, options: OperatorOptions): Promise<void> {
  const { replica } = await onDeployment(options, io.env, async ({ nats, partitions }) => {
    if (partition >= partitions) {
      throw new CliError(`this deployment has the partitions 0 to ${partitions - 1}`, EXIT.usage);
    }
    return releasePartition(nats, { scope, partition }).catch(explain);
  });
  const text = `${replica} gave up partition ${partition} of ${scope}\n`;
  io.out(options.json ? `${JSON.stringify({ scope, partition, replica })}\n` : text);
}

/** `session quarantine <id>`, or its end. */
export async function quarantine(
  io: Io,
  id: string,
  options: OperatorOptions & { readonly lift?: boolean; readonly reason?: string },
): Promise<void> {
  const type = options.lift ? 'session/quarantine_lifted' : 'session/quarantined';
  const payload = { ...operatorName(), ...(options.reason !== undefined && { reason: options.reason }) };
  const { seq } = await onDeployment(options, io.env, async ({ log }) => {
    // Not more of it than its end: a session may be put away for what reading it does.
    const { last_seq: since } = await log.read(id, { from_seq: 0, limit: 1 });
    return log.append(id, { events: [{ type, payload }], since });
  }).catch(explain);
  const text = options.lift ? `loops take ${id} up again` : `no loop touches ${id} until the quarantine is lifted`;
  io.out(options.json ? `${JSON.stringify({ session_id: id, type, seq })}\n` : `${text} (seq ${seq})\n`);
}

/** As the system knows whoever runs this; a container may know nobody. */
function operatorName(): { readonly by?: string } {
  try {
    return { by: userInfo().username };
  } catch {
    return {};
  }
}

function explain(error: unknown): never {
  if (isLogError(error, 'unknown_session')) throw new CliError(error.message, EXIT.unknown_session, { cause: error });
  if (isLogError(error, 'invalid_event')) throw new CliError(error.message, EXIT.usage, { cause: error });
  if (isLogError(error, 'unavailable')) throw new CliError(error.message, EXIT.unreachable, { cause: error });
  throw error;
}
