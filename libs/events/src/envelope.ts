/** Place of an event in the append that wrote it. Absent for appends of one event. */
export interface BatchPosition {
  /** The same for every event of the append. */
  readonly id: string;
  /** From 0. */
  readonly index: number;
  /** How many events the append has. Fewer in the log: its owner died in the middle (see `docs/log.md`). */
  readonly count: number;
}

/** What every event of every stream carries, whatever the stream is about. */
export interface BaseEnvelope<Type extends string = string, Payload = unknown> {
  /** Unique within the session; the caller's `event_id`, else made by the log. */
  readonly id: string;
  /** Position in the session, from 0, without gaps. */
  readonly seq: number;
  /** UTC, microseconds, e.g. `2026-11-30T19:20:25.123456Z`. */
  readonly at: string;
  readonly type: Type;
  readonly payload: Payload;
  /** Version of the payload's schema. */
  readonly v: number;
  /** Set on the events a fork copied from its parent: history, never a stimulus. */
  readonly copied?: true;
  readonly batch?: BatchPosition;
}

/** An event of a session as stored, replayed and sent to clients. */
export interface EventEnvelope<Type extends string = string, Payload = unknown> extends BaseEnvelope<Type, Payload> {
  readonly session_id: string;
}

/** An event of an agent's own stream. */
export interface AgentEventEnvelope<Type extends string = string, Payload = unknown> extends BaseEnvelope<
  Type,
  Payload
> {
  readonly agent_id: string;
}
