import { describe, expect, it } from '@jest/globals';
import type { HistoryItem, ModelRequest } from '../port.js';
import { renderAnthropic } from '../providers/anthropic/render.js';
import { renderOpenAi } from '../providers/openai/render.js';
import { reasoningDigest } from './reasoning.js';

const openAi = (request: Partial<ModelRequest>, model = 'm') =>
  renderOpenAi(requestOf(request), { provider: 'openai', model, maxTokensField: 'max_tokens', extra: {} });
const anthropic = (request: Partial<ModelRequest>) =>
  renderAnthropic(requestOf(request), {
    provider: 'anthropic',
    model: 'm',
    maxTokens: 100,
    promptCache: false,
    extra: {},
  });

function requestOf(request: Partial<ModelRequest>): ModelRequest {
  return { model: 'p/m', messages: [{ role: 'user', text: 'q', source: 'user' }], tools: [], ...request };
}

const reasoning = (provider: string, format: string, data: unknown, text = 'thought') => ({
  type: 'reasoning' as const,
  text,
  provider: { provider, model: 'm', format, data, digest: reasoningDigest('thought') },
});

const history = (...parts: Extract<HistoryItem, { role: 'assistant' }>['parts']): HistoryItem[] => [
  { role: 'user', text: 'q', source: 'user' },
  { role: 'assistant', parts: [...parts, { type: 'tool_call', id: 'c1', name: 't', args: { a: 1 } }] },
  { role: 'tool', id: 'c1', content: null, error: 'broke' },
  { role: 'user', text: 'steer', source: 'injected' },
];

const signed = reasoning('anthropic', 'thinking', { signature: 's' });

describe('an OpenAI-compatible request', () => {
  it('holds calls, results and texts in its notation', () => {
    const tools = [{ name: 't', description: 'd', input_schema: {} }];
    const body = openAi({
      system: 'be brief',
      messages: history(),
      tools,
      parameters: { temperature: 0, max_tokens: 5 },
    });
    expect(body).toEqual({
      model: 'm',
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'q' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 't', arguments: '{"a":1}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'Error: broke' },
        { role: 'user', content: 'steer' },
      ],
      tools: [
        { type: 'function', function: { name: 't', description: 'd', parameters: { type: 'object', properties: {} } } },
      ],
      temperature: 0,
      max_tokens: 5,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('carries the reasoning of its own provider and model in the fields it came in, and no other', () => {
    const detail = { detail: { type: 'reasoning.text', index: 0, signature: 's' }, field: 'text' };
    const parts = [
      reasoning('openai', 'reasoning_content', null),
      reasoning('openai', 'reasoning_details', detail),
      signed,
      reasoning('other', 'reasoning', null),
    ];
    const [, own] = openAi({ messages: history(...parts) }).messages;
    expect(own).toMatchObject({
      reasoning_content: 'thought',
      reasoning_details: [{ type: 'reasoning.text', index: 0, signature: 's', text: 'thought' }],
    });
    expect(own).not.toHaveProperty('reasoning');
    const [, foreign] = openAi({ messages: history(...parts) }, 'another').messages;
    expect(Object.keys(foreign ?? {})).toEqual(['role', 'content', 'tool_calls']);
  });

  it('leaves out signed reasoning that a scrubber has changed', () => {
    const detail = { detail: { type: 'reasoning.text', signature: 's' }, field: 'text' };
    const scrubbed = reasoning('openai', 'reasoning_details', detail, '[redacted]');
    expect(openAi({ messages: history(scrubbed) }).messages[1]).not.toHaveProperty('reasoning_details');
  });
});

describe('an Anthropic request', () => {
  it('holds results first, then the texts, in one user message', () => {
    const tools = [{ name: 't', description: 'd', input_schema: { properties: { a: {} } } }];
    expect(anthropic({ system: 'be brief', messages: history(signed), tools })).toEqual({
      model: 'm',
      max_tokens: 100,
      system: 'be brief',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'q' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'thought', signature: 's' },
            { type: 'tool_use', id: 'c1', name: 't', input: { a: 1 } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: 'broke', is_error: true },
            { type: 'text', text: 'steer' },
          ],
        },
      ],
      tools: [{ name: 't', description: 'd', input_schema: { type: 'object', properties: { a: {} } } }],
      stream: true,
    });
  });

  it('carries redacted thinking, and neither changed thinking nor another provider’s', () => {
    const parts = [
      reasoning('anthropic', 'redacted_thinking', { data: 'enc' }, ''),
      reasoning('anthropic', 'thinking', { signature: 's' }, '[redacted]'),
      reasoning('openai', 'reasoning_content', null),
    ];
    expect(anthropic({ messages: history(...parts) }).messages[1]?.content).toEqual([
      { type: 'redacted_thinking', data: 'enc' },
      { type: 'tool_use', id: 'c1', name: 't', input: { a: 1 } },
    ]);
  });

  it('declares and forbids the tools of its history when none is offered any more', () => {
    expect(anthropic({ messages: history() })).toMatchObject({
      tools: [{ name: 't', input_schema: { type: 'object' } }],
      tool_choice: { type: 'none' },
    });
  });

  it('begins with a user message and asks for the schema of the answer', () => {
    const messages: HistoryItem[] = [{ role: 'assistant', parts: [{ type: 'text', text: 'a' }] }];
    const body = anthropic({ messages, output_schema: { type: 'object', required: ['x'] } });
    expect(body.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(body.output_config).toMatchObject({ format: { type: 'json_schema', schema: { required: ['x'] } } });
  });

  it('is refused when there is nothing to send', () => {
    expect(() => anthropic({ messages: [] })).toThrow('the history holds no message');
  });
});
