import { describe, expect, it } from '@jest/globals';
import { saying } from '@longrein/testing/model-server';
import { callWeather, FORMATS, TOOL, withModel } from '../spec-kit/calls.js';

describe.each(FORMATS)('an answer of a %s server', (format) => {
  it('arrives delta by delta, and whole at the end', () =>
    withModel(format, [saying('The answer is forty-two.')], async ({ ask }) => {
      const { deltas, reply } = await ask();
      expect(deltas.slice(0, -1)).toEqual([
        { type: 'text', text: 'The ' },
        { type: 'text', text: 'answer ' },
        { type: 'text', text: 'is ' },
        { type: 'text', text: 'forty-two.' },
      ]);
      expect(reply.parts).toEqual([{ type: 'text', text: 'The answer is forty-two.' }]);
      expect(reply.stop_reason).toBe('end');
    }));

  it('is seen while it is being written', () =>
    withModel(format, [{ steps: [{ text: 'one' }, { wait: 'g' }, { text: 'two' }] }], async ({ server, models }) => {
      const request = {
        model: `${format}/m`,
        messages: [{ role: 'user', text: 'x', source: 'user' }],
        tools: [],
      } as const;
      const stream = models.stream(request, { signal: new AbortController().signal });
      expect(await stream.next()).toMatchObject({ value: { type: 'text', text: 'one' } });
      await server.reached('g');
      server.release('g');
      expect(await stream.next()).toMatchObject({ value: { type: 'text', text: 'two' } });
      expect(await stream.next()).toMatchObject({ value: { type: 'done' } });
      expect((await stream.next()).done).toBe(true);
    }));

  it('holds text and calls in the order in which they were written, arguments put together from fragments', () => {
    const calls = [
      { tool_call: { id: 'call_a', name: 'weather', args: { city: 'Zürich "north" \n' }, fragments: 9 } },
      { tool_call: { id: 'call_b', name: 'clock', fragments: 1 } },
    ];
    return withModel(format, [{ steps: [{ text: 'Let me see.' }, ...calls] }], async ({ ask }) => {
      const { deltas, reply } = await ask({ tools: [TOOL] });
      expect(reply.parts).toEqual([
        { type: 'text', text: 'Let me see.' },
        { type: 'tool_call', id: 'call_a', name: 'weather', args: { city: 'Zürich "north" \n' } },
        { type: 'tool_call', id: 'call_b', name: 'clock', args: {} },
      ]);
      expect(reply.stop_reason).toBe('tool_calls');
      expect(deltas.filter(({ type }) => type === 'tool_call')).toEqual([
        { type: 'tool_call', id: 'call_a', name: 'weather' },
        { type: 'tool_call', id: 'call_b', name: 'clock' },
      ]);
    });
  });

  it.each(['{"city": "Os', '["Oslo"]', 'null', '{"n": 1e999}'])(
    'keeps the text of arguments that are no object: %s',
    (raw) =>
      withModel(
        format,
        [{ steps: [{ tool_call: { name: 'weather', raw } }] }, saying('sorry')],
        async ({ server, ask }) => {
          const { reply } = await ask({ tools: [TOOL] });
          const call = reply.parts[0];
          expect(call).toMatchObject({ type: 'tool_call', name: 'weather', args: raw });

          const id = call?.type === 'tool_call' ? call.id : '';
          await ask({
            tools: [TOOL],
            messages: [
              { role: 'user', text: 'weather?', source: 'user' },
              { role: 'assistant', parts: reply.parts },
              { role: 'tool', id, content: null, error: 'the arguments are not a JSON object' },
            ],
          });
          expect(server.rejections).toEqual([]);
        },
      ),
  );

  it('has no parts when the model says nothing', () =>
    withModel(format, [{ steps: [] }], async ({ ask }) => {
      expect((await ask()).reply).toMatchObject({ parts: [], stop_reason: 'end' });
    }));

  it.each(['length', 'refusal'] as const)('says why it stopped: %s', (stop) =>
    withModel(format, [saying('so far', { stop })], async ({ ask }) => {
      expect((await ask()).reply.stop_reason).toBe(stop);
    }),
  );

  it('keeps a character that was cut between two deltas', () =>
    withModel(format, [{ steps: [{ text: 'a\ud83d' }, { text: '\ude00b' }, { text: '\ud83d' }] }], async ({ ask }) => {
      const { deltas, reply } = await ask();
      const text = deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join('');
      expect(text).toBe('a😀b\ufffd');
      expect(deltas.every((delta) => delta.type !== 'text' || delta.text.isWellFormed())).toBe(true);
      expect(reply.parts).toEqual([{ type: 'text', text }]);
    }));

  it('TRN-15: carries the usage the provider reported, and none when it reported none', () => {
    const usage = { prompt_tokens: 120, completion_tokens: 7, cached_tokens: 100 };
    return withModel(format, [saying('a', { usage }), saying('b', { usage: null })], async ({ ask }) => {
      expect((await ask()).reply.usage).toEqual(usage);
      expect((await ask()).reply).not.toHaveProperty('usage');
    });
  });

  it('costs what the price list says when the provider reports no cost', () => {
    const prices = (model: string, { prompt_tokens }: { prompt_tokens: number }): number | undefined =>
      model === `${format}/scripted-1` ? prompt_tokens / 1000 : undefined;
    const usage = { prompt_tokens: 500, completion_tokens: 1 };
    return withModel(
      format,
      [saying('a', { usage })],
      async ({ ask }) => expect((await ask()).reply.usage?.cost).toBe(0.5),
      { deps: { prices } },
    );
  });

  it('uses the tool’s own name although the provider takes another', () => {
    const tool = { ...TOOL, name: `mcp__files.example__${'deep_'.repeat(20)}read` };
    return withModel(format, [], async ({ server, ask }) => {
      server.script = ({ tools }) => ({ steps: [{ tool_call: { name: tools[0]!.name } }] });
      const { reply } = await ask({ tools: [tool] });
      expect(reply.parts).toMatchObject([{ type: 'tool_call', name: tool.name }]);
      expect(server.rejections).toEqual([]);
    });
  });

  it('PRJ-10: goes back into a history as it was stored, every kind of part', () => {
    const steps = [
      { reasoning: 'Hm. ' },
      { reasoning: 'Let me think.' },
      { text: 'One moment.' },
      ...callWeather.steps,
    ];
    return withModel(format, [{ steps }, saying('It rains.')], async ({ server, ask }) => {
      const user = { role: 'user', text: 'weather?', source: 'user' } as const;
      const first = await ask({ tools: [TOOL], messages: [user] });
      const parts = JSON.parse(JSON.stringify(first.reply.parts)) as typeof first.reply.parts;
      expect(parts).toEqual(first.reply.parts);
      expect(parts.map(({ type }) => type)).toEqual(['reasoning', 'text', 'tool_call']);
      const result = { role: 'tool', id: 'call_a', content: { sky: 'rain' }, error: null } as const;
      const second = await ask({ tools: [TOOL], messages: [user, { role: 'assistant', parts }, result] });
      expect(second.reply.parts).toEqual([{ type: 'text', text: 'It rains.' }]);
      expect(server.rejections).toEqual([]);
      expect(JSON.stringify(server.requests[1]?.body)).toContain('Hm. Let me think.');
    });
  });
});

describe('the cost of an OpenAI-compatible answer', () => {
  it('is what the provider says it was', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 2, cost: 0.00125 };
    return withModel('openai', [saying('a', { usage })], async ({ ask }) => {
      expect((await ask()).reply.usage).toEqual(usage);
    });
  });
});
