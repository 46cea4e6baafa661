import type { StepParameters } from '@longrein/events';
import { modelFor, unpromoted } from '../folds/selectors.js';
import type { QueuedInput, SessionState, ToolsInForce } from '../folds/state.js';
import { appendTo, fitting, propose } from './append.js';
import { BUDGET_REASON, exhausted } from './budget.js';
import { CLAIM_CONDITION } from './conditions.js';
import { renderRequest, toolsDigest } from './request.js';
import type { Starting } from './start.js';
import { closeTurn, turnStart } from './start.js';
import type { Action, ClaimedMessage, ProposedEvent, TurnContext } from './types.js';

/** Steps of a turn. The attempt to open one more fails it. */
export const MAX_STEPS = 25;

/** Inputs that ride one step at most; the rest ride the next. Leaves room for the claim's other events. */
const MAX_MESSAGES = 56;

/**
 * Claims a turn's next step, the first one together with its `turn/start`; or ends the turn where there is nothing to
 * say, no step left, no money, no model, or a hook refuses.
 */
export function decideClaim(state: SessionState, context: TurnContext, begin: Starting | null): Action {
  const close = (status: 'empty' | 'failed' | 'rejected', reason?: string) =>
    closeTurn(state, begin, context, { status, reason });
  const n = begin === null ? (state.turn?.n ?? 0) + 1 : 1;
  const turn_id = begin?.turn_id ?? state.turn?.turn_id ?? context.new_turn_id;
  if (n > MAX_STEPS) return close('failed', `step limit: a turn has at most ${MAX_STEPS} steps`);
  const overspent = exhausted(state, context.deployment);
  if (overspent !== null) return close('failed', `${BUDGET_REASON}: ${overspent}`);

  const own = ownInput(state, begin);
  const queued = [...(own === undefined ? [] : [own]), ...steers(state, own)];
  if (n === 1 && queued.length === 0) return close('empty');
  const claimed = claimedMessages(queued, own, context);
  const messages = context.pre_step?.(claimed, { turn_id, n }) ?? claimed;
  if ('reject' in messages) return close('rejected', messages.reject);

  const model = modelFor(state, 'main', context.deployment.models);
  if (model === undefined) return close('failed', 'no model is configured for the role "main"');
  const tools = toolsFor(state, context);
  const parameters = someOf(context.parameters?.({ turn_id, n, model }));
  const request = renderRequest(state, model, tools.inForce, messages, parameters);
  const events: ProposedEvent[] = [
    ...(begin === null ? [] : [turnStart(state, begin, context)]),
    ...tools.events,
    propose('step/start', { n, model, request_digest: request.digest, ...(parameters && { parameters }) }),
    ...messages.map(({ type, text, input_id }) => propose(type, { text, input_id })),
  ];
  return { kind: 'claim', append: appendTo(state, events, CLAIM_CONDITION), request, messages, turn_id, n };
}

/** Nothing where nothing is set: a request with no parameters is the same as one without. */
function someOf(parameters: StepParameters | undefined): StepParameters | undefined {
  return parameters && Object.keys(parameters).length > 0 ? parameters : undefined;
}

/** The input that the turn was started for, while no message carries it. */
function ownInput(state: SessionState, begin: Starting | null): QueuedInput | undefined {
  if (begin !== null) return begin.input ?? undefined;
  return state.inbox.find((input) => input.input_id === state.turn?.input_id);
}

/** What rides along: no granted input, which waits for a turn of its own, and no text that one of them promotes. */
function steers(state: SessionState, own: QueuedInput | undefined): readonly QueuedInput[] {
  return unpromoted(state).filter((input) => input.grant === undefined && input.input_id !== own?.input_id);
}

function claimedMessages(
  queued: readonly QueuedInput[],
  own: QueuedInput | undefined,
  { scrub = (text) => text }: TurnContext,
): readonly ClaimedMessage[] {
  const messages = queued.map(({ input_id, text }): ClaimedMessage => {
    return { type: input_id === own?.input_id ? 'user/message' : 'context/injected', input_id, text: scrub(text) };
  });
  const riding = fitting(
    messages.map(({ type, text, input_id }) => propose(type, { text, input_id })),
    MAX_MESSAGES,
  );
  return messages.slice(0, riding.length);
}

function toolsFor(
  state: SessionState,
  { tools, resources = [] }: TurnContext,
): { readonly events: readonly ProposedEvent[]; readonly inForce: Omit<ToolsInForce, 'seq'> | null } {
  const digest = toolsDigest({ tools, resources });
  const unchanged = state.tools === null ? tools.length + resources.length === 0 : state.tools.digest === digest;
  if (unchanged) return { events: [], inForce: state.tools };
  const payload = { digest, tools: [...tools], ...(resources.length === 0 ? {} : { resources: [...resources] }) };
  return { events: [propose('context/tools', payload)], inForce: { digest, tools, resources } };
}
