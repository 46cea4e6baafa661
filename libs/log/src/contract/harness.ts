import { afterAll, beforeAll } from '@jest/globals';
import type { AgentEventEnvelope, EventEnvelope, ServiceName } from '@longrein/events';
import type { ScrubRule } from '../core/index.js';
import type { AppendRequest, EventLog } from '../port/index.js';

/** What the suite asks of a log that is opened for it. */
export interface OpenOptions {
  readonly partitions: number;
  readonly scrubbers: readonly ScrubRule[];
}

/** A deployment of the log under test, empty and of its own: nobody else appends to it. */
export interface OpenLog {
  readonly partitions: number;
  /** The log as a service sees it, for session streams unless `kind` says `agents`. */
  as(service: ServiceName, kind?: 'sessions'): EventLog<EventEnvelope>;
  as(service: ServiceName, kind: 'agents'): EventLog<AgentEventEnvelope>;
  /**
   * Replaces whoever owns the partitions, as when its process dies: what it only remembered is gone. Resolves when
   * appends are served again. Absent: the cases that need it are skipped.
   */
  restartOwner?(): Promise<void>;
  /**
   * Makes the log's owner die in the middle of this append: its first `count` events are stored, the rest are not, and
   * nobody is answered. Resolves when appends are served again. Absent: the cases that need it are skipped.
   */
  storePrefix?(append: { service: ServiceName; id: string; request: AppendRequest }, count: number): Promise<void>;
  close(): Promise<void>;
}

/** How the suite gets the log under test. */
export interface LogHarness {
  /** Opens an empty deployment. Called once per topic; a server may be shared if the streams are not. */
  open(options: OpenOptions): Promise<OpenLog>;
  /** Runs of each property; default 25. */
  readonly runs?: number;
  /** Whether `OpenLog.restartOwner` and `OpenLog.storePrefix` are there. Default: both. */
  readonly can?: { readonly restartOwner?: boolean; readonly storePrefix?: boolean };
}

/** Opens a log for the tests of the surrounding `describe`; the returned function gives it inside a test. */
export function useLog(harness: LogHarness, options: Partial<OpenOptions> = {}): () => OpenLog {
  let log: OpenLog | undefined;
  beforeAll(async () => {
    log = await harness.open({ partitions: 4, scrubbers: [], ...options });
  });
  afterAll(async () => {
    await log?.close();
  });
  return () => {
    if (!log) throw new Error('the log under test did not open');
    return log;
  };
}
