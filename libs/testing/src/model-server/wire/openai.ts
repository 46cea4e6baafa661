import type { ReplyStep, ScriptedUsage } from '../script.js';
import { type FailureBody, type Stop, sse, type WireWriter, type WrittenCall } from './writer.js';

const FINISH: Readonly<Record<Stop, string>> = {
  end: 'stop',
  tool_calls: 'tool_calls',
  length: 'length',
  refusal: 'content_filter',
};

/** A reply as chunks of a chat completion. */
export class OpenAiWriter implements WireWriter {
  readonly #id: string;
  readonly #model: string;
  #calls = 0;

  constructor(id: string, model: string) {
    this.#id = `chatcmpl-${id}`;
    this.#model = model;
  }

  start(): string[] {
    return [this.#delta({ role: 'assistant', content: '' })];
  }

  text(text: string): string[] {
    return [this.#delta({ content: text })];
  }

  reasoning({ reasoning, field = 'reasoning_content' }: Extract<ReplyStep, { reasoning: string }>): string[] {
    if (field !== 'reasoning_details') return [this.#delta({ [field]: reasoning })];
    const detail = { type: 'reasoning.text', text: reasoning, format: 'scripted', index: 0 };
    return [this.#delta({ reasoning, reasoning_details: [detail] })];
  }

  redactedReasoning(data: string): string[] {
    const detail = { type: 'reasoning.encrypted', data, format: 'scripted', index: 1 };
    return [this.#delta({ reasoning_details: [detail] })];
  }

  call({ id, name, fragments }: WrittenCall): string[] {
    const index = this.#calls++;
    return [
      this.#delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
      ...fragments.map((piece) => this.#delta({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ];
  }

  error({ status, message }: { status: number; message: string }): string[] {
    return [sse({ error: { message, code: status } })];
  }

  finish(stop: Stop, usage: ScriptedUsage | null): string[] {
    const last = this.#chunk([{ index: 0, delta: {}, finish_reason: FINISH[stop] }]);
    return [last, ...(usage ? [this.#chunk([], wireUsage(usage))] : []), sse('[DONE]')];
  }

  #delta(delta: object): string {
    return this.#chunk([{ index: 0, delta, finish_reason: null }]);
  }

  #chunk(choices: object[], usage?: object): string {
    const chunk = { id: this.#id, object: 'chat.completion.chunk', created: 0, model: this.#model, choices };
    return sse(usage ? { ...chunk, usage } : chunk);
  }
}

function wireUsage({ prompt_tokens, completion_tokens, cached_tokens, cost }: ScriptedUsage): object {
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    ...(cached_tokens === undefined ? {} : { prompt_tokens_details: { cached_tokens } }),
    ...(cost === undefined ? {} : { cost }),
  };
}

/** An error document of the OpenAI API. */
export const openAiFailure: FailureBody = ({ status, message = 'scripted failure', code = null }) => ({
  error: { message, type: status >= 500 ? 'server_error' : 'invalid_request_error', param: null, code },
});
