import type { AgentSpec, AssistantPart, Grant, ModelRole, ToolDescription } from '@longrein/events';
import type { List } from '../list.js';

/** Raised whenever the same events fold into a different state: snapshots of other versions are discarded. */
export const FOLD_VERSION = 2;

/** A message of the model's history, in projection order. */
export type HistoryItem =
  | { readonly role: 'user'; readonly text: string; readonly source: 'user' | 'injected' | 'summary' }
  | { readonly role: 'assistant'; readonly parts: readonly AssistantPart[] }
  | { readonly role: 'tool'; readonly id: string; readonly content: unknown; readonly error: string | null };

/** A message and the seq of the event it projects. */
export interface HistoryEntry {
  readonly seq: number;
  readonly item: HistoryItem;
}

/** The history since the latest compaction, the summary first, and a running digest over its items. */
export interface HistoryState {
  readonly entries: List<HistoryEntry>;
  readonly digest: string;
}

/** What a tool call came to. */
export interface CallOutcome {
  readonly content: unknown;
  readonly error: string | null;
}

/** A tool call of the open step. Stays here until its step is over. */
export interface OpenCall {
  /** Seq of the `tool/call`; null when the append died between the message and this call's event. */
  readonly call_seq: number | null;
  /** The provider's call id: not unique. */
  readonly id: string;
  readonly name: string;
  /** As stored. */
  readonly args: unknown;
  /** Latest `tool/started`. */
  readonly started: { readonly attempt: number; readonly epoch: number; readonly seq: number } | null;
  /** Outcome kept by `tool/finished` while an earlier call is still unanswered. */
  readonly finished: CallOutcome | null;
  /** Its `tool/result` is in the log. */
  readonly answered: boolean;
}

/** A step that was started and not ended. */
export interface OpenStep {
  readonly n: number;
  readonly model: string;
  readonly seq: number;
  readonly request_digest: string;
  /** Its assistant message is in the log. */
  readonly replied: boolean;
  /** A resume took it over: its usage died with the process that made the request. */
  readonly usage_lost: boolean;
}

/** A human's decision about one request. */
export interface Verdict {
  readonly verdict: 'approved' | 'denied';
  readonly reason?: string | undefined;
  readonly by?: string | undefined;
  readonly seq: number;
}

/** One `approval/requested` of the open turn. */
export interface ApprovalState {
  readonly request_seq: number;
  readonly call_seq: number;
  readonly call_id: string;
  readonly name: string;
  readonly args: unknown;
  readonly verdict: Verdict | null;
}

/** A standing cancel. The latest reason wins; `hard` sticks. */
export interface CancelState {
  readonly reason?: string | undefined;
  readonly hard: boolean;
  readonly seq: number;
}

/** Money of the open turn, in US dollars. */
export interface TurnBudget {
  /** Sum of `step/end` costs of the turn. */
  readonly spent: number;
  /** Reservations not settled yet, by purpose. */
  readonly reserved: Readonly<Record<string, number>>;
  readonly settled: number;
}

/** The turn that has a `turn/start` and no `turn/end`. */
export interface OpenTurn {
  readonly turn_id: string;
  readonly agent: string;
  readonly input_id?: string | undefined;
  readonly grant?: Grant | undefined;
  /** Epoch of the latest `turn/start` or `turn/resumed`. */
  readonly epoch: number;
  readonly start_seq: number;
  /** Number of the latest `step/start`; 0 before the first. The cap of 25 counts these. */
  readonly n: number;
  readonly step: OpenStep | null;
  /** Calls of the latest assistant message in call order; emptied when its step ends. */
  readonly calls: readonly OpenCall[];
  /** The latest assistant message asked for no tool: nothing more is owed once its step is closed. */
  readonly concluded: boolean;
  readonly approvals: readonly ApprovalState[];
  readonly cancel: CancelState | null;
  readonly stalled: { readonly reason: string; readonly seq: number } | null;
  /** Seq of a `turn/handed_over` that no resume has followed. */
  readonly handed_over: number | null;
  /** `turn/resumed` by cause; `death` is the recovery count, which nothing resets. */
  readonly resumes: {
    readonly death: number;
    readonly handover: number;
    readonly wake: number;
    readonly verdict: number;
  };
  readonly budget: TurnBudget;
}

/** A queued input that no message carries yet. */
export interface QueuedInput {
  readonly input_id: string;
  readonly seq: number;
  readonly text: string;
  readonly wake: boolean;
  readonly origin?: string | undefined;
  readonly correlation_id?: string | undefined;
  readonly grant?: Grant | undefined;
  /** A cancel that named the granted turn before it started. */
  readonly revoked?: CancelState | undefined;
}

/** The first document's `usage`: sums over every `step/end`, whatever was compacted. */
export interface UsageTotals {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  /** In US dollars. */
  readonly cost: number;
  readonly steps: number;
}

/** Tokens and money of some kind of request. */
export interface SpendTotals {
  readonly requests: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cached_tokens: number;
  readonly cost: number;
}

/** The whole bill of a session. */
export interface SpendState {
  readonly steps: SpendTotals;
  readonly utility: { readonly title: SpendTotals; readonly compaction: SpendTotals };
  readonly by_model: Readonly<Record<string, SpendTotals>>;
}

/** An operator keeps loops away from the session. */
export interface Quarantine {
  readonly reason?: string | undefined;
  readonly by?: string | undefined;
  readonly seq: number;
}

/** What the session was configured to be. */
export interface Configuration {
  readonly agent_id: string;
  readonly generation: number;
  readonly config_revision?: string | undefined;
  readonly spec: AgentSpec;
  readonly seq: number;
}

/** Tool definitions and resources in force, as the model sees them. */
export interface ToolsInForce {
  readonly digest: string;
  readonly tools: readonly ToolDescription[];
  readonly resources: readonly { readonly uri: string; readonly text: string }[];
  readonly seq: number;
}

/** Everything the events of a session say. Plain JSON; immutable: `evolve` shares what did not change. */
export interface SessionState {
  /** Seq of the last event folded, -1 before the first. */
  readonly last_seq: number;
  /** Seq of the last fact (chunks are none). */
  readonly last_fact_seq: number;
  /** Id of that fact: with its seq the position a snapshot is verified by. */
  readonly last_fact_id: string | null;
  /** Set while the last fact's append is stored only in part. */
  readonly open_batch: { readonly id: string; readonly index: number; readonly count: number } | null;
  readonly parent_id: string | null;
  readonly erased: boolean;
  readonly history: HistoryState;
  readonly turn: OpenTurn | null;
  /** Of the last turn that ended. */
  readonly last_turn: { readonly turn_id: string; readonly status: string; readonly seq: number } | null;
  readonly turns: number;
  readonly inbox: readonly QueuedInput[];
  readonly usage: UsageTotals;
  readonly spend: SpendState;
  readonly title: string | null;
  /** Null unless an operator keeps loops away from the session now. */
  readonly quarantine: Quarantine | null;
  /** The latest `policy/updated`; null when there never was one, which an empty list is not. */
  readonly policy: { readonly patterns: readonly string[]; readonly seq: number } | null;
  readonly configuration: Configuration | null;
  readonly models: Readonly<Partial<Record<ModelRole, string>>>;
  readonly tools: ToolsInForce | null;
  readonly compaction: { readonly seq: number; readonly upto_seq: number } | null;
}

/** Status of a session, from its log alone. */
export type SessionStatus = 'idle' | 'running' | 'waiting_approval' | 'stopping' | 'stalled' | 'quarantined';
