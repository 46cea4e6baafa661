import type { EventClass, Family } from './vocabulary/define.js';

/** The two kinds of stream the log keeps: one stream per partition of each kind. */
export type StreamKind = 'sessions' | 'agents';

/** Prefix of the subjects on which a stream republishes what it stored. */
export const LIVE_PREFIX = 'live';

/** Pseudo session that holds a partition's own events. */
export const PARTITION_ID = '$partition';

/** JetStream stream of one partition, e.g. `SESSIONS_3`. */
export function streamName(kind: StreamKind, partition: number): string {
  return `${kind.toUpperCase()}_${partition}`;
}

/** Every subject of one partition's stream, e.g. `sessions.3.>`. */
export function partitionSubjects(kind: StreamKind, partition: number): string {
  return `${kind}.${partition}.>`;
}

/** Subject an event is stored under. Chunks have no family, so that readers of facts never see them. */
export function eventSubject(
  kind: StreamKind,
  partition: number,
  id: string,
  eventClass: EventClass,
  family: Family,
): string {
  return eventClass === 'chunk' ? `${kind}.${partition}.${id}.chunk` : `${kind}.${partition}.${id}.fact.${family}`;
}

/** Everything of one session, e.g. `sessions.3.s1.>`. */
export function sessionSubjects(kind: StreamKind, partition: number, id: string): string {
  return `${kind}.${partition}.${id}.>`;
}

/** Every fact of a partition, or those of one family; `*` as the partition covers all of them. */
export function factSubjects(kind: StreamKind, partition: number | '*', family?: Family): string {
  return family ? `${kind}.${partition}.*.fact.${family}` : `${kind}.${partition}.*.fact.>`;
}

/** Where live followers of one session subscribe. */
export function liveSubjects(kind: StreamKind, partition: number, id: string): string {
  return `${LIVE_PREFIX}.${sessionSubjects(kind, partition, id)}`;
}

/** Operations of the log service. `append` has one subject per calling service, which is what permissions bind to. */
export type LogOperation = 'append' | 'read' | 'create' | 'fork' | 'own';

/** Request subject of the log service, e.g. `log.sessions.3.append.loop`. */
export function logSubject(
  kind: StreamKind,
  partition: number | '*',
  operation: LogOperation,
  service?: string,
): string {
  const base = `log.${kind}.${partition}.${operation}`;
  return operation === 'append' ? `${base}.${service ?? '*'}` : base;
}
