import { describe, expect, it } from '@jest/globals';
import type { AssistantPart } from '@longrein/events';
import { checkAnthropic, checkOpenAi } from '@longrein/testing/model-server';
import fc from 'fast-check';
import type { HistoryItem } from '../port.js';
import { renderAnthropic } from '../providers/anthropic/render.js';
import { renderOpenAi } from '../providers/openai/render.js';

const text = fc.oneof(fc.constantFrom('', ' ', 'a', 'b'), fc.string());
const id = fc.oneof(
  fc.constantFrom('x', 'y', 'call_1', 'call_2', 'functions.get:0'),
  fc.string({ minLength: 1, maxLength: 60 }),
);
const args = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue());

const part: fc.Arbitrary<AssistantPart> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text }),
  fc.record({ type: fc.constant('reasoning' as const), text, provider: fc.jsonValue() }),
  fc.record({ type: fc.constant('tool_call' as const), id, name: fc.string({ minLength: 1, maxLength: 80 }), args }),
);

const item: fc.Arbitrary<HistoryItem> = fc.oneof(
  fc.record({ role: fc.constant('user' as const), text, source: fc.constant('user' as const) }),
  fc.record({ role: fc.constant('assistant' as const), parts: fc.array(part, { maxLength: 4 }) }),
  fc.record({ role: fc.constant('tool' as const), id, content: fc.jsonValue(), error: fc.option(text) }),
);

describe('any history at all', () => {
  it('renders to a request that strict providers accept: pairs whole, ordered, unique, nothing empty', () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 12 }), (items) => {
        const messages: HistoryItem[] = [{ role: 'user', text: 'begin', source: 'user' }, ...items];
        const request = { model: 'p/m', messages, tools: [] };
        const shared = { model: 'm', extra: {} };
        checkOpenAi(renderOpenAi(request, { ...shared, provider: 'openai', maxTokensField: 'max_tokens' }));
        checkAnthropic(renderAnthropic(request, { ...shared, provider: 'anthropic', maxTokens: 9, promptCache: true }));
      }),
      { numRuns: 500 },
    );
  });
});

describe('the strict check', () => {
  const call = { role: 'assistant', content: null, tool_calls: [toolCall('x')] };
  const result = { role: 'tool', tool_call_id: 'x', content: 'ok' };
  const user = { role: 'user', content: 'q' };

  function toolCall(callId: string): object {
    return { id: callId, type: 'function', function: { name: 't', arguments: '{}' } };
  }

  it.each<[string, object[], string]>([
    ['a call without its result', [user, call, user], 'calls without results'],
    ['a call that ends the history', [user, call], 'calls without results'],
    ['two results of one call', [user, call, result, result], 'more than one result for x'],
    ['a result before its call', [user, result, call], 'must follow a message with tool_calls'],
    ['a result of another call', [user, call, { ...result, tool_call_id: 'y' }], 'did not call'],
    ['an id that was used before', [user, call, result, call, result], 'was used before'],
    ['an empty message', [{ role: 'user', content: ' ' }], 'non-whitespace'],
  ])('refuses %s', (_name, messages, problem) => {
    expect(() => checkOpenAi({ model: 'm', stream: true, messages })).toThrow(problem);
  });
});
