import {
  type AgentEventEnvelope,
  type BaseEnvelope,
  type EventEnvelope,
  type ServiceName,
  type StreamKind,
  DEFAULT_PARTITIONS,
  FLEET_ID,
  MAX_PARTITIONS,
  partitionOf,
} from '@longrein/events';
import { randomUUID } from 'node:crypto';
import { type ScrubRule, type Timestamp, Scrubber, microsecondTimestamp } from '../core/index.js';
import { type EventLog, LogError } from '../port/index.js';
import { Faults } from './faults.js';
import { MemoryEventLog } from './memory-event-log.js';
import { type Sources, MemoryPartition } from './memory-partition.js';

/** Settings of a log in memory; all have defaults. */
export interface MemoryLogOptions {
  readonly partitions?: number;
  readonly scrubbers?: readonly ScrubRule[];
  /** Time of every event. Give it, and `newId`, where a test compares whole events. */
  readonly now?: Timestamp;
  /** Ids the log makes: of events without one, and of the owner's terms. */
  readonly newId?: () => string;
  /**
   * Awaited before each append is decided and again before it is answered, e.g. fast-check's scheduler. Between the two
   * an append is one step. Default: no wait.
   */
  readonly schedule?: (step: 'store' | 'answer', append: { service: ServiceName; id: string }) => Promise<unknown>;
}

/**
 * The log in memory: for tests and for whoever runs a session without a server. Every rule is the core's, so it
 * refuses, numbers and answers as the log service does. One instance is one deployment; `as` opens it for a service.
 */
export class MemoryLog {
  readonly partitions: number;
  readonly scrubber: Scrubber;
  readonly sources: Sources;
  /** Makes appends fail on purpose. */
  readonly faults = new Faults();
  readonly schedule: MemoryLogOptions['schedule'];
  readonly #partitions = new Map<string, MemoryPartition>();

  constructor(options: MemoryLogOptions = {}) {
    const { partitions = DEFAULT_PARTITIONS } = options;
    if (!Number.isInteger(partitions) || partitions < 1 || partitions > MAX_PARTITIONS) {
      throw new RangeError(`partitions must be 1 to ${MAX_PARTITIONS}, got ${partitions}`);
    }
    this.partitions = partitions;
    this.scrubber = new Scrubber(options.scrubbers);
    this.sources = { now: options.now ?? microsecondTimestamp, newId: options.newId ?? randomUUID };
    this.schedule = options.schedule;
  }

  /** Opens the log as one service, for session streams unless `kind` says `agents`. */
  as(service: ServiceName, kind?: 'sessions'): EventLog<EventEnvelope>;
  as(service: ServiceName, kind: 'agents'): EventLog<AgentEventEnvelope>;
  as(service: ServiceName, kind?: StreamKind): EventLog<BaseEnvelope>;
  as(service: ServiceName, kind: StreamKind = 'sessions'): EventLog<BaseEnvelope> {
    return new MemoryEventLog(this, service, kind);
  }

  /** Replaces the owner of every partition: a new term, with nothing remembered but what is stored. */
  restartOwner(): void {
    for (const partition of this.#partitions.values()) partition.open();
  }

  /** The partition a session or agent lives in. The fleet is always in the first. */
  home(kind: StreamKind, id: string): MemoryPartition {
    return this.partition(kind, id === FLEET_ID ? 0 : partitionOf(id, this.partitions));
  }

  /** One partition by number. Throws `invalid_event` when there is none of this number. */
  partition(kind: StreamKind, partition: number): MemoryPartition {
    if (!Number.isInteger(partition) || partition < 0 || partition >= this.partitions) {
      throw new LogError('invalid_event', `partition must be 0 to ${this.partitions - 1}, got ${String(partition)}`);
    }
    const key = `${kind}.${partition}`;
    let found = this.#partitions.get(key);
    if (!found) this.#partitions.set(key, (found = new MemoryPartition(kind, partition, this.sources)));
    return found;
  }
}
