import type { SessionState } from '../folds/state.js';
import { appendTo, fitting } from './append.js';
import { nextAction } from './next-action.js';
import type { Action, Append, ProposedEvent, TurnContext } from './types.js';

/** An append with what follows from it, and the claim that is its last part, if one is. */
export interface Continuation {
  readonly append: Append;
  readonly claim: Extract<Action, { kind: 'claim' }> | null;
}

/** What continuing needs. */
export interface ContinuationDeps {
  /** The state once `events` are stored right after it, their content as the log will keep it. */
  readonly preview: (state: SessionState, events: readonly ProposedEvent[]) => SessionState;
  readonly context: (state: SessionState) => TurnContext;
  /** Whether a step may be claimed without asking anybody. */
  readonly claims: boolean;
}

/** Later events name these by their seq, which nobody knows before they are stored. */
const NAMED_BY_SEQ: ReadonlySet<string> = new Set(['tool/call', 'approval/requested']);

/**
 * Puts into one append what would be decided next anyway, as if the first part were stored already: the end of the step
 * and of the turn behind the final message, the next step's claim behind the last result. The whole is stored under
 * every condition of its parts, so that nothing enters the log which would not have been decided there; any prefix of it
 * is one that the parts, appended one by one, lead to as well.
 */
export function continued(state: SessionState, first: Append, deps: ContinuationDeps): Continuation {
  let { events } = first;
  const conditions = new Set(first.expect.none_of);
  let after = deps.preview(state, events);
  while (after.turn !== null && !events.some(({ type }) => NAMED_BY_SEQ.has(type))) {
    const next = nextAction(after, deps.context(after));
    if (next.kind !== 'append' && !(next.kind === 'claim' && deps.claims)) break;
    const together = [...events, ...next.append.events];
    if (fitting(together).length < together.length) break;
    events = together;
    for (const type of next.append.expect.none_of) conditions.add(type);
    if (next.kind === 'claim') return { append: appendTo(state, events, [...conditions]), claim: next };
    after = deps.preview(after, next.append.events);
  }
  return { append: appendTo(state, events, [...conditions]), claim: null };
}
