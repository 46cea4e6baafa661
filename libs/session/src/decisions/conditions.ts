import type { SessionEventType } from '@longrein/events';

/** Under which a step is claimed: none of these changed what the request is made of, or whether it may be made. */
export const CLAIM_CONDITION = [
  'turn/cancel_requested',
  'session/compacted',
  'session/configured',
  'session/model_selected',
  'session/quarantined',
] as const satisfies SessionEventType[];

/**
 * Under which a call starts, is refused or asked about, and a turn ends: policy, configuration, cancel and verdicts are
 * decided at the seq of what is appended.
 */
export const EXECUTE_CONDITION = [
  'policy/updated',
  'session/configured',
  'turn/cancel_requested',
  'approval/resolved',
  'session/quarantined',
] as const satisfies SessionEventType[];

/** Under which an outcome is logged: no other outcome came in between, so that order and number are right. */
export const OUTCOME_CONDITION = ['tool/result', 'tool/finished', 'turn/end'] as const satisfies SessionEventType[];

/** Under which a reply is logged. */
export const REPLY_CONDITION = ['assistant/message', 'step/end', 'turn/end'] as const satisfies SessionEventType[];

/** Under which `tool/call`s that an interrupted append left out are logged. */
export const CALL_CONDITION = ['tool/call', 'tool/result', 'turn/end'] as const satisfies SessionEventType[];

/** Under which an open turn changes hands. */
export const RESUME_CONDITION = [
  'turn/resumed',
  'turn/stalled',
  'turn/handed_over',
  'turn/end',
] as const satisfies SessionEventType[];

/** Under which a turn spends. */
export const BUDGET_CONDITION = [
  'budget/reserved',
  'budget/settled',
  'turn/cancel_requested',
  'turn/end',
] as const satisfies SessionEventType[];
