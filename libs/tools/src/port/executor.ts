/** One execution of a tool call, i.e. one `tool/started`. Plain JSON: what a tool process receives. */
export interface ToolCall {
  readonly session_id: string;
  readonly turn_id: string;
  /** The provider's id of the call. Not unique. */
  readonly call_id: string;
  /** Seq of the call's `tool/call`: with the session id, the call's identity. */
  readonly call_seq: number;
  /** Name as the model wrote it. */
  readonly name: string;
  /** Arguments as the model wrote them. */
  readonly args: unknown;
  /** Idempotency key, `<session_id>/<call_seq>`: the same for every attempt. */
  readonly key: string;
  /** From 1. */
  readonly attempt: number;
  /** Epoch of the loop that executes: a tool refuses an epoch below the highest it has seen. */
  readonly epoch: number;
}

/** What a call came to, as `tool/result` stores it: content, or null and the error's text. Storable JSON. */
export interface ToolOutcome {
  readonly content: unknown;
  readonly error: string | null;
}

/** Options of one execution. */
export interface ExecuteOptions {
  /** Stops waiting. The tool itself may still be running: the outcome of an aborted call is unknown. */
  readonly signal?: AbortSignal | undefined;
}

/** Runs calls. */
export interface ToolExecutor {
  /**
   * Resolves with the call's outcome, whatever happens: a tool that is missing, slow, broken or answers nonsense is
   * an outcome with an `error` that tells the model what happened. Rejects only with the signal's reason, after abort.
   */
  execute(call: ToolCall, options?: ExecuteOptions): Promise<ToolOutcome>;
}

/** Idempotency key of a call. */
export function callKey(sessionId: string, callSeq: number): string {
  return `${sessionId}/${callSeq}`;
}
