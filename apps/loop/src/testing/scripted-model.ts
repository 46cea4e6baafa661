import type { AssistantPart, Usage } from '@longrein/events';
import {
  type HistoryItem,
  type ModelDelta,
  ModelError,
  type ModelPort,
  type ModelRequest,
  type StreamOptions,
} from '@longrein/model';

/** One answer of a scripted model. */
export interface ScriptedAnswer {
  /** Text, as the deltas it arrives in. */
  readonly text?: string | readonly string[];
  /** A reasoning part before the text. */
  readonly reasoning?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly args?: unknown }[];
  readonly usage?: Usage;
  /** Runs once the request arrived, before the first delta. */
  readonly before?: (request: ModelRequest, signal: AbortSignal) => unknown;
  /** Runs after the deltas, before the answer is complete. */
  readonly during?: (signal: AbortSignal) => unknown;
  /** Fails after the deltas instead of completing the answer. */
  readonly error?: ModelError | Error;
}

/**
 * A model port that answers by a script, in order. As strict as a real provider: a history with an assistant call and
 * no result for it, or a result twice, is refused with `invalid_request`.
 */
export class ScriptedModel implements ModelPort {
  readonly requests: ModelRequest[] = [];
  readonly #answers: (ScriptedAnswer | ((request: ModelRequest) => ScriptedAnswer))[];

  constructor(...answers: (ScriptedAnswer | ((request: ModelRequest) => ScriptedAnswer))[]) {
    this.#answers = answers;
  }

  /** Adds answers to the end of the script. */
  then(...answers: (ScriptedAnswer | ((request: ModelRequest) => ScriptedAnswer))[]): void {
    this.#answers.push(...answers);
  }

  /** Answers that nobody asked for yet. */
  get left(): number {
    return this.#answers.length;
  }

  async *stream(request: ModelRequest, { signal }: StreamOptions): AsyncGenerator<ModelDelta, void> {
    this.requests.push(request);
    requirePairs(request.messages);
    const next = this.#answers.shift();
    if (!next) throw new ModelError('invalid_request', 'the script has no answer left', false);
    const answer = typeof next === 'function' ? next(request) : next;
    await answer.before?.(request, signal);
    const deltas = answer.text === undefined ? [] : [answer.text].flat();
    if (answer.reasoning !== undefined) yield { type: 'reasoning', text: answer.reasoning };
    for (const text of deltas) yield { type: 'text', text };
    await answer.during?.(signal);
    if (signal.aborted) throw new ModelError('aborted', 'aborted', false);
    if (answer.error) throw answer.error;
    yield { type: 'done', ...complete(answer, deltas.join('')) };
  }
}

function complete(answer: ScriptedAnswer, text: string): Omit<Extract<ModelDelta, { type: 'done' }>, 'type'> {
  const calls = answer.calls ?? [];
  const parts: AssistantPart[] = [
    ...(answer.reasoning === undefined ? [] : [{ type: 'reasoning' as const, text: answer.reasoning }]),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ id, name, args = {} }) => ({ type: 'tool_call' as const, id, name, args })),
  ];
  return { parts, stop_reason: calls.length > 0 ? 'tool_calls' : 'end', ...(answer.usage && { usage: answer.usage }) };
}

function requirePairs(messages: readonly HistoryItem[]): void {
  let owed: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      const at = owed.indexOf(message.id);
      if (at < 0) throw new ModelError('invalid_request', `result ${message.id} answers no call`, false);
      owed.splice(at, 1);
    } else {
      if (owed.length > 0) throw new ModelError('invalid_request', `no result for ${owed.join(', ')}`, false);
      if (message.role === 'assistant') {
        owed = message.parts.flatMap((part) => (part.type === 'tool_call' ? [part.id] : []));
      }
    }
  }
  if (owed.length > 0) throw new ModelError('invalid_request', `no result for ${owed.join(', ')}`, false);
}
