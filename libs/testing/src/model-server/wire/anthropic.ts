import type { ReplyStep, ScriptedUsage } from '../script.js';
import { textSignature } from '../signature.js';
import { type FailureBody, type Stop, sse, type WireWriter, type WrittenCall } from './writer.js';

const STOP: Readonly<Record<Stop, string>> = {
  end: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  refusal: 'refusal',
};

/** A reply as events of a message. Consecutive deltas of one kind share a content block. */
export class AnthropicWriter implements WireWriter {
  readonly #id: string;
  readonly #model: string;
  readonly #usage: ScriptedUsage | null;
  #index = -1;
  #open: 'text' | 'thinking' | null = null;
  #thinking = '';

  constructor(id: string, model: string, usage: ScriptedUsage | null) {
    this.#id = `msg_${id}`;
    this.#model = model;
    this.#usage = usage;
  }

  start(): string[] {
    const usage = this.#usage && inputUsage(this.#usage);
    const message = {
      id: this.#id,
      type: 'message',
      role: 'assistant',
      model: this.#model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      ...(usage ? { usage: { ...usage, output_tokens: 0 } } : {}),
    };
    return [event({ type: 'message_start', message }), event({ type: 'ping' })];
  }

  text(text: string): string[] {
    return [...this.#enter('text', { type: 'text', text: '' }), this.#delta({ type: 'text_delta', text })];
  }

  reasoning({ reasoning }: Extract<ReplyStep, { reasoning: string }>): string[] {
    const block = { type: 'thinking', thinking: '', signature: '' };
    const entered = this.#enter('thinking', block);
    this.#thinking += reasoning;
    return [...entered, this.#delta({ type: 'thinking_delta', thinking: reasoning })];
  }

  redactedReasoning(data: string): string[] {
    return [...this.#leave(), this.#begin({ type: 'redacted_thinking', data }), this.#end()];
  }

  call({ id, name, fragments }: WrittenCall): string[] {
    return [
      ...this.#leave(),
      this.#begin({ type: 'tool_use', id, name, input: {} }),
      ...fragments.map((partial_json) => this.#delta({ type: 'input_json_delta', partial_json })),
      this.#end(),
    ];
  }

  error({ status, message }: { status: number; message: string }): string[] {
    return [event({ type: 'error', error: { type: errorType(status), message } })];
  }

  finish(stop: Stop, usage: ScriptedUsage | null): string[] {
    return [
      ...this.#leave(),
      event({
        type: 'message_delta',
        delta: { stop_reason: STOP[stop], stop_sequence: null },
        ...(usage ? { usage: { output_tokens: usage.completion_tokens } } : {}),
      }),
      event({ type: 'message_stop' }),
    ];
  }

  #enter(kind: 'text' | 'thinking', block: object): string[] {
    if (this.#open === kind) return [];
    const left = this.#leave();
    this.#open = kind;
    return [...left, this.#begin(block)];
  }

  #leave(): string[] {
    if (this.#open === null) return [];
    const signature = { type: 'signature_delta', signature: textSignature(this.#thinking) };
    const signed = this.#open === 'thinking' ? [this.#delta(signature)] : [];
    this.#open = null;
    this.#thinking = '';
    return [...signed, this.#end()];
  }

  #begin(content_block: object): string {
    this.#index += 1;
    return event({ type: 'content_block_start', index: this.#index, content_block });
  }

  #delta(delta: object): string {
    return event({ type: 'content_block_delta', index: this.#index, delta });
  }

  #end(): string {
    return event({ type: 'content_block_stop', index: this.#index });
  }
}

function event(data: { type: string; [field: string]: unknown }): string {
  return sse(data, data.type);
}

/** The API counts what came from the cache apart from the rest of the prompt. */
function inputUsage({ prompt_tokens, cached_tokens = 0 }: ScriptedUsage): object {
  return {
    input_tokens: prompt_tokens - cached_tokens,
    cache_read_input_tokens: cached_tokens,
    cache_creation_input_tokens: 0,
  };
}

function errorType(status: number): string {
  const types: Record<number, string> = {
    401: 'authentication_error',
    403: 'permission_error',
    404: 'not_found_error',
    413: 'request_too_large',
    429: 'rate_limit_error',
    529: 'overloaded_error',
  };
  return types[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

/** An error document of the Anthropic API. */
export const anthropicFailure: FailureBody = ({ status, message = 'scripted failure' }) => ({
  type: 'error',
  error: { type: errorType(status), message },
});
