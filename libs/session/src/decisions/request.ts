import type { StepParameters } from '@longrein/events';
import { digest } from '../canonical.js';
import { extendDigest } from '../folds/history.js';
import { history, spec } from '../folds/selectors.js';
import type { HistoryItem, SessionState, ToolsInForce } from '../folds/state.js';
import type { ClaimedMessage, RenderedRequest } from './types.js';

/** What a request's digest covers. The history enters by its running digest, so a step costs what it adds. */
export interface RequestIdentity {
  readonly model: string;
  readonly system: string | null;
  readonly tools: string | null;
  readonly history: string;
  /** Absent where the request names none. */
  readonly parameters?: StepParameters | undefined;
}

/** `step/start.request_digest`: SHA-256 of the identity's canonical JSON. */
export function requestDigest({ model, system, tools, history: messages, parameters }: RequestIdentity): string {
  return digest({ model, system, tools, history: messages, ...(parameters && { parameters }) });
}

/** The digest that the claim which led to `state` must have recorded in `step`: how a replay checks `step/start`. */
export function derivedRequestDigest(
  state: SessionState,
  { model, parameters }: { readonly model: string; readonly parameters?: StepParameters | undefined },
): string {
  const system = spec(state)?.system_prompt ?? null;
  const tools = state.tools?.digest ?? null;
  return requestDigest({ model, system, tools, history: state.history.digest, parameters });
}

/** Digest of tool definitions and resources, as `context/tools` carries it. */
export function toolsDigest(tools: Pick<ToolsInForce, 'tools' | 'resources'>): string {
  return digest({ tools: tools.tools, resources: tools.resources });
}

/** The request as the fold will be once `messages` are stored. */
export function renderRequest(
  state: SessionState,
  model: string,
  tools: Pick<ToolsInForce, 'digest' | 'tools' | 'resources'> | null,
  messages: readonly ClaimedMessage[],
  parameters?: StepParameters,
): RenderedRequest {
  const added = messages.map(({ type, text }): HistoryItem => {
    return { role: 'user', text, source: type === 'user/message' ? 'user' : 'injected' };
  });
  const system = spec(state)?.system_prompt;
  const identity: RequestIdentity = {
    model,
    system: system ?? null,
    tools: tools?.digest ?? null,
    history: added.reduce(extendDigest, state.history.digest),
    parameters,
  };
  return {
    model,
    ...(system === undefined ? {} : { system }),
    messages: [...history(state), ...added],
    tools: tools?.tools ?? [],
    resources: tools?.resources ?? [],
    ...(parameters && { parameters }),
    digest: requestDigest(identity),
  };
}
