import { type NatsConnection, headers, nuid } from '@nats-io/nats-core';
import { type OwnerScope, type StreamKind, PARTITION_ID, eventSubject, ownerScope, streamName } from '@longrein/events';
import { type PreparedEvent, microsecondTimestamp, systemEvent } from '../core/index.js';
import { LogError } from '../port/index.js';
import { HEADER } from './names.js';
import type { StreamApi } from './stream-api.js';
import { saysFull } from './stream-writer.js';

/** One owner's time at a partition. */
export interface Term {
  /** Made up at random for this term; on every event it writes. */
  readonly incarnation: string;
  /** Stream sequence of its `partition/opened`. */
  readonly epoch: number;
}

/** Who owns the partition in one scope, and since when. */
export interface ScopeOwner {
  readonly epoch: number;
  /** Unknown for scopes that are not the last one to have changed hands. */
  readonly owner: string | undefined;
  /** The owner before, until this one's claim is known to be stored. */
  before?: ScopeOwner | undefined;
}

const OPEN_ATTEMPTS = 5;

/**
 * Begins a term: appends `partition/opened` without a condition, which cannot lose a race. From its acknowledgement on
 * every publish of an earlier owner fails, because the stream no longer ends where that owner believes. Throws
 * `storage_full` where not even that event fits, else `unavailable`.
 */
export async function openTerm(nc: NatsConnection, kind: StreamKind, partition: number): Promise<Term> {
  const incarnation = nuid.next();
  const { body, definition } = systemEvent(kind, PARTITION_ID, {
    id: incarnation,
    seq: 0,
    at: microsecondTimestamp(),
    type: 'partition/opened',
    payload: { incarnation },
  });
  const subject = eventSubject(kind, partition, PARTITION_ID, definition.class, definition.family);
  const header = headers();
  header.set(HEADER.messageId, `${PARTITION_ID}/${incarnation}`);
  header.set(HEADER.type, definition.type);
  header.set(HEADER.term, incarnation);
  let problem = '';
  let full = false;
  for (let attempt = 0; attempt < OPEN_ATTEMPTS && !full; attempt++) {
    try {
      // The same message id: a second try whose first was stored is answered with the first one's sequence.
      const reply = await nc.request(subject, body, { headers: header, timeout: 2_000 });
      const ack = reply.json<{ seq?: number; error?: { err_code?: number; description: string } }>();
      if (ack.seq) return { incarnation, epoch: ack.seq };
      full = ack.error !== undefined && saysFull(ack.error);
      problem = ack.error?.description ?? 'no sequence in the acknowledgement';
    } catch (error) {
      problem = (error as Error).message;
    }
  }
  const stream = streamName(kind, partition);
  if (full)
    throw new LogError('storage_full', `${stream} has no owner and no room for one to begin: raise its max_bytes`);
  throw new LogError('unavailable', `${stream} could not be opened: ${problem}`);
}

/** The owners in force when a term begins. Nothing of an earlier owner can land after the term's first event. */
export async function loadScopes(
  api: StreamApi,
  kind: StreamKind,
  partition: number,
): Promise<Map<OwnerScope, ScopeOwner>> {
  const scopes = new Map<OwnerScope, ScopeOwner>();
  const last = await api.get(streamName(kind, partition), {
    last_by_subj: eventSubject(kind, partition, PARTITION_ID, 'fact', 'owner'),
  });
  if (!last) return scopes;
  const { payload } = JSON.parse(Buffer.from(last.data).toString()) as {
    payload: { scope: OwnerScope; owner: string; epochs: Partial<Record<OwnerScope, number>> };
  };
  for (const scope of ownerScope.options) {
    const epoch = payload.epochs[scope];
    if (epoch !== undefined) scopes.set(scope, { epoch, owner: undefined });
  }
  scopes.set(payload.scope, { epoch: last.sequence, owner: payload.owner });
  return scopes;
}

/** The event that gives a scope a new owner. Its stream sequence is the new epoch. */
export function ownerChanged(
  kind: StreamKind,
  claim: { scope: OwnerScope; owner: string },
  scopes: ReadonlyMap<OwnerScope, ScopeOwner>,
): PreparedEvent {
  const epochs: Partial<Record<OwnerScope, number>> = {};
  for (const [scope, { epoch }] of scopes) if (scope !== claim.scope) epochs[scope] = epoch;
  return systemEvent(kind, PARTITION_ID, {
    id: nuid.next(),
    seq: 0,
    at: microsecondTimestamp(),
    type: 'owner/changed',
    payload: { scope: claim.scope, owner: claim.owner, epochs },
  });
}
