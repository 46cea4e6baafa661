import type { Clock } from '@longrein/clock';
import type { SessionLog } from '@longrein/log';
import type { ModelPort } from '@longrein/model';
import type { OwedCall } from '@longrein/session';
import type { BackoffOptions } from '../core/backoff.js';
import type { RecoveryGate } from '../core/recovery-gate.js';
import type { TextScrubber } from '../core/text-chunker.js';
import type { StepHookDeps } from '../hooks/step-hooks.js';
import type { CallDeps } from './call-tasks.js';
import type { ContentScrubber } from './session-journal.js';
import type { SessionLoader } from './session-loader.js';
import type { TurnContexts } from './turn-context.js';
import type { WarmStates } from './warm-states.js';

/** How an actor ended. */
export type ActorEnd =
  /** Nothing is open and nothing may start. */
  | 'idle'
  /** Only a verdict, or a stimulus, brings the turn on. */
  | 'parked'
  | 'stalled'
  /** An operator keeps loops away from the session. */
  | 'quarantined'
  | 'handed_over'
  /** Another process owns the partition. */
  | 'fenced'
  | 'killed'
  /** Not even its failure could be logged. */
  | 'failed';

/** Where the loop tells its operator what happened: the part of pino that it uses. */
export interface LoopLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Tries to resume a turn whose resume fails, before it stalls until the next stimulus. */
export const RESUME_TRIES = 8;

/** Delay between those tries. */
export const RESUME_BACKOFF: BackoffOptions = { base_ms: 1_000, cap_ms: 60_000 };

/** Failures in a row, nothing appended between them, after which a session is left alone until its next stimulus. */
export const FUTILE_LIMIT = 3;

/** Delay while the log does not answer. */
export const LOG_BACKOFF: BackoffOptions = { base_ms: 100, cap_ms: 5_000 };

/** Delay while the log has no room: only people make some, and what asks meanwhile is load on a stream in trouble. */
export const FULL_BACKOFF: BackoffOptions = { base_ms: 2_000, cap_ms: 60_000 };

/** What the actors of a partition share. */
export interface ActorDeps extends CallDeps, Pick<StepHookDeps, 'claim_hooks'> {
  readonly log: SessionLog;
  readonly loader: SessionLoader;
  readonly warm: WarmStates;
  readonly model: ModelPort;
  readonly scrubber: ContentScrubber & TextScrubber;
  /** Whether the stored form of a call shows traces of a scrubber. */
  readonly wasScrubbed: (call: OwedCall) => boolean;
  readonly contexts: TurnContexts;
  readonly clock: Clock;
  /** In [0, 1): jitter. */
  readonly random: () => number;
  readonly logger: LoopLogger;
  /** Of the loop on the partition. */
  readonly epoch: number;
  /** When an open turn that its owner left is taken up. */
  readonly resume: 'on_takeover' | 'on_stimulus';
  /** Lets resumes of turns that died before go one at a time. */
  readonly recovery: RecoveryGate;
  /** Most calls of one message in flight. */
  readonly max_parallel_calls: number;
  /** How long a turn that waits for verdicts stays in memory. */
  readonly parked_ms: number;
}
