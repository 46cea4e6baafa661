import type { BaseEnvelope, EventEnvelope } from '@longrein/events';
import { checkId, createdEvent, forkBoundary, forkedCopy, forkedEvent } from '../core/index.js';
import { type ForkRequest, type ForkResult, LogError } from '../port/index.js';
import type { MemoryLog } from './memory-log.js';
import { type StoredEvent, isFact } from './memory-partition.js';

/** Copies a session's past into a new session. In memory this is one step, so a fork is never half done. */
export function fork(log: MemoryLog, { from, to, boundary: wanted }: ForkRequest): ForkResult {
  checkId('sessions', from);
  checkId('sessions', to);
  const parent = log.home('sessions', from).session(from);
  if (!parent) throw new LogError('unknown_session', `session ${from} does not exist; it cannot be forked`);
  const partition = log.home('sessions', to);
  const child = partition.session(to);
  if (child) return repeated(child, parent, { from, to, ...(wanted === undefined ? {} : { boundary: wanted }) });

  const boundary = forkBoundary(facts(parent), wanted);
  const created = createdEvent('sessions', to, { ...log.sources, parent_id: from, fork: { from, boundary } });
  const copies = parent.slice(1, boundary + 1).map(({ envelope }) => forkedCopy(envelope as EventEnvelope, to));
  partition.store(to, [created, ...copies, forkedEvent(to, from, boundary, log.sources.now)]);
  return { boundary, last_seq: boundary + 1 };
}

function repeated(child: readonly StoredEvent[], parent: readonly StoredEvent[], request: ForkRequest): ForkResult {
  const { from, to, boundary: wanted } = request;
  const { fork: made } = child[0]!.envelope.payload as { fork?: { from: string; boundary: number } };
  if (made?.from !== from) throw conflict(`session ${to} exists and is no fork of ${from}`, child);
  if (wanted !== undefined && forkBoundary(facts(parent), wanted) !== made.boundary) {
    throw conflict(`session ${to} was forked from ${from} at ${made.boundary}, not at ${wanted}`, child);
  }
  return { boundary: made.boundary, last_seq: made.boundary + 1 };
}

function facts(session: readonly StoredEvent[]): BaseEnvelope[] {
  return session.filter(isFact).map(({ envelope }) => envelope);
}

function conflict(message: string, child: readonly StoredEvent[]): LogError {
  return new LogError('conflict', `${message}; choose another id`, { last_seq: child.length - 1 });
}
