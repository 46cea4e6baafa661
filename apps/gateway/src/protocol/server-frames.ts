/** Version of the socket protocol: raised when a frame's meaning changes. */
export const PROTOCOL = 1;

/** Codes of error frames. */
export type ErrorCode =
  | 'unauthorized'
  | 'superseded'
  | 'lagged'
  | 'internal'
  | 'bad_frame'
  | 'not_running'
  | 'stale_call'
  | 'unsupported'
  | 'unavailable'
  | 'refused'
  | 'limit_exceeded';

/** Frames of the protocol itself. Events are sent as stored; only they have a `seq`. */
export type ServerFrame =
  | { readonly type: 'hello'; readonly proto: typeof PROTOCOL; readonly session_id: string; readonly last_seq: number }
  | { readonly type: 'replay_truncated'; readonly requested_from_seq: number; readonly from_seq: number }
  | { readonly type: 'error'; readonly code: ErrorCode; readonly message?: string };

/** WebSocket close codes of the errors that close. */
export const CLOSE_CODES: Readonly<Partial<Record<ErrorCode, number>>> = {
  unauthorized: 4401,
  superseded: 4409,
  lagged: 4408,
  internal: 1011,
};

/** WebSocket close code of a connection that a token's limits kept from being opened. */
export const TOO_MANY = 4429;

/** WebSocket close code after an `unavailable` that kept a session from being opened. */
export const TRY_AGAIN_LATER = 1013;

/** A refusal that a client is told about; the connection stays open unless the code has a close code. */
export class FrameError extends Error {
  override readonly name: string = 'FrameError';

  constructor(
    readonly code: ErrorCode,
    message: string,
  ) {
    super(message);
  }
}
