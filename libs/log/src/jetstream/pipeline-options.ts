import type { LogError } from '../port/index.js';

/** Why a pipeline ended. */
export type PipelineEnd =
  /** Another owner opened the partition. */
  | 'fenced'
  /** The stream ends below what it had acknowledged. */
  | 'lost_data'
  | 'stopped';

/** Settings of a pipeline; all have defaults. */
export interface PipelineOptions {
  /** Unacknowledged messages and bytes on the wire. */
  readonly window?: number;
  readonly window_bytes?: number;
  /** Messages, and bytes of messages, waiting behind the window before appends are refused. */
  readonly queue?: number;
  readonly queue_bytes?: number;
  /** How long an acknowledgement may take before its outcome counts as unknown. */
  readonly ack_timeout_ms?: number;
}

/** What a pipeline tells its owner. */
export interface PipelineHandlers {
  /** Once, when the partition is no longer ours to write. */
  readonly onEnd: (end: PipelineEnd, error: LogError) => void;
  /** When appends were refused but the pipeline goes on: what was decided on top of them is void. */
  readonly onReset: (error: LogError) => void;
}
