import type {
  AssistantPart,
  ModelRole,
  SessionEventType,
  StepParameters,
  ToolDescription,
  Usage,
} from '@longrein/events';
import type { HistoryItem, OpenCall } from '../folds/state.js';

/** An event to append. Structurally the log's `NewEvent`. */
export interface ProposedEvent {
  readonly type: SessionEventType;
  readonly payload: unknown;
}

/** Events and the condition under which they were decided: hand both to the log as they are. */
export interface Append {
  /** 1 to 63. Every prefix of them leaves a state from which the next decision goes on. */
  readonly events: readonly ProposedEvent[];
  readonly expect: { readonly seq: number; readonly none_of: readonly SessionEventType[] };
}

/** Why a decision appends nothing. */
export type RefusalCode =
  /** The turn asked about is being run by the caller right now. */
  | 'turn_already_running'
  /** The log has an open turn that nobody asked to resume. */
  | 'turn_open_in_log'
  /** A session that belongs to an agent starts turns by grant only. */
  | 'not_granted'
  | 'unknown_input'
  | 'nothing_open'
  | 'unknown_call'
  /** The call has its result, or its outcome is kept already. */
  | 'already_answered'
  | 'not_expected';

/** Thrown by nothing: decisions return it. */
export interface Refusal {
  readonly kind: 'refused';
  readonly code: RefusalCode;
  readonly message: string;
}

/** What the deployment says where the session says nothing. */
export interface Deployment {
  readonly models?: Readonly<Partial<Record<ModelRole, string>>>;
  /** Policy floor of sessions whose spec names none. Absent: no allow list at all. */
  readonly policy?: readonly string[];
  /** Budget of every session, where its spec names none of that kind. */
  readonly limits?: BudgetLimits;
}

/** What a session may use up in all. */
export interface BudgetLimits {
  /** In US dollars. */
  readonly cost?: number;
  /** Tokens, those of prompts and of answers together. */
  readonly tokens?: number;
}

/** How a registered tool behaves, as far as decisions care. */
export interface ToolTraits {
  readonly mutating: boolean;
  readonly approval: 'never' | 'policy' | 'always';
  readonly concurrency: 'serial' | 'parallel';
  /** False: never executed a second time. */
  readonly repeatable: boolean;
}

/** A message about to be logged by a claim. */
export interface ClaimedMessage {
  readonly type: 'user/message' | 'context/injected';
  readonly input_id: string;
  readonly text: string;
}

/** The step that is about to be claimed. */
export interface StepName {
  readonly turn_id: string;
  readonly n: number;
}

/**
 * May rewrite the texts of the claimed messages, refuse the step, or leave the latest of them to the next step: what it
 * returns is what the claim carries.
 */
export type PreStep = (
  messages: readonly ClaimedMessage[],
  step: StepName,
) => readonly ClaimedMessage[] | { readonly reject: string };

/** What a step's request says besides content; nothing: the provider's defaults. */
export type RequestParameters = (step: StepName & { readonly model: string }) => StepParameters | undefined;

/** What the caller knows and the log does not. */
export interface TurnContext {
  readonly epoch: number;
  /** Agent name of turns it starts in sessions that are not configured. */
  readonly agent: string;
  /** Id of a turn it starts; a granted turn takes its grant's. */
  readonly new_turn_id: string;
  readonly deployment: Deployment;
  /** Tools and resources the model shall see, scrubbed as the log would scrub them. */
  readonly tools: readonly ToolDescription[];
  readonly resources?: readonly { readonly uri: string; readonly text: string }[];
  /** Traits by model-visible name; undefined for a tool that is not registered. */
  readonly traits: (name: string) => ToolTraits | undefined;
  /** The log's scrubbers, so that the digest covers what will be stored. Default: identity. */
  readonly scrub?: (text: string) => string;
  readonly pre_step?: PreStep;
  readonly parameters?: RequestParameters;
  /** `call_seq`s that this process is executing now. */
  readonly running?: ReadonlySet<number>;
  /** What the provider reported for the open step. Absent when unknown. */
  readonly usage?: Usage;
  /** The approvals gate is deployed. Default true. */
  readonly approvals?: boolean;
}

/** A request to the model, rendered from the fold as it will be once the claim is stored. */
export interface RenderedRequest {
  readonly model: string;
  readonly system?: string;
  readonly messages: readonly HistoryItem[];
  readonly tools: readonly ToolDescription[];
  readonly resources: readonly { readonly uri: string; readonly text: string }[];
  readonly parameters?: StepParameters;
  /** `step/start.request_digest`. */
  readonly digest: string;
}

/** What to do next with a session. Ask again after every append, result, or new fact. */
export type Action =
  /** Nothing open and nothing that may start a turn. */
  | { readonly kind: 'rest' }
  /** Append, then send `request` to the model. `turn_id` and `n` name the step. */
  | {
      readonly kind: 'claim';
      readonly append: Append;
      readonly request: RenderedRequest;
      /** What the claim carries, oldest first; the waking input of the first step before the others. */
      readonly messages: readonly ClaimedMessage[];
      readonly turn_id: string;
      readonly n: number;
    }
  /** Append and ask again. */
  | { readonly kind: 'append'; readonly append: Append }
  /** Decide each of these calls now (`decideCall`); they may run together. */
  | { readonly kind: 'calls'; readonly calls: readonly OwedCall[] }
  /** The open step's model request is under way (after a claim by this process). */
  | { readonly kind: 'await_model' }
  /** Calls are executing, or parked until a verdict, or both. */
  | { readonly kind: 'await_calls'; readonly running: readonly number[]; readonly parked: readonly number[] }
  /** The turn is stalled: `decideResume` on the next stimulus. */
  | { readonly kind: 'stalled'; readonly reason: string };

/** A call whose `tool/call` is in the log. */
export type OwedCall = OpenCall & { readonly call_seq: number };

/** What to do about one owed call. */
export type CallDecision =
  /** Append `tool/started`; once it is stored, execute with this attempt. */
  | { readonly kind: 'start'; readonly append: Append; readonly attempt: number; readonly call: OwedCall }
  /** Not executed: append the result that says why (veto, denial, cancel, budget, unknown tool or outcome). */
  | { readonly kind: 'answer'; readonly append: Append }
  /** Append `approval/requested`; the call is parked from then on. */
  | { readonly kind: 'park'; readonly append: Append }
  /** Waits for the verdict on this request. */
  | { readonly kind: 'parked'; readonly request_seq: number }
  | Refusal;

/** Why an open turn is taken up again. */
export type ResumeCause = 'death' | 'handover' | 'wake' | 'verdict';

/** What to do with an open turn that nobody is running. */
export type ResumeDecision =
  /** Append `turn/resumed`, then go on with `nextAction`. */
  | { readonly kind: 'resume'; readonly append: Append }
  /** The recovery limit is reached: append `turn/stalled`. */
  | { readonly kind: 'stall'; readonly append: Append }
  /** Leave it: it only waits for verdicts, or is stalled and this is no stimulus. Nothing is counted. */
  | { readonly kind: 'stay'; readonly reason: 'parked' | 'stalled' }
  | Refusal;

/** An assistant message as a model port delivers it. */
export type Reply = readonly AssistantPart[];

/** Append this; what it leads to is the next decision's business. */
export interface AppendDecision {
  readonly kind: 'append';
  readonly append: Append;
}

/** Append this; unless it `closes` the turn (or stalls it), fold it and decide the same again. */
export interface FailureDecision extends AppendDecision {
  readonly closes: boolean;
}
