import { describe, expect, it } from '@jest/globals';
import { callKey, type ToolCall } from '../port/index.js';
import { InProcessTools } from './in-process-tools.js';

const definition = {
  name: 'echo',
  description: 'says it again',
  input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};
const call = (args: unknown, name = 'echo'): ToolCall => ({
  session_id: 's1',
  turn_id: 't1',
  call_id: 'c1',
  call_seq: 7,
  name,
  args,
  key: callKey('s1', 7),
  attempt: 1,
  epoch: 3,
});

describe('InProcessTools', () => {
  it('runs a call', async () => {
    const tools = new InProcessTools();
    tools.add(definition, (args: { text: string }) => ({ said: args.text }));
    expect(await tools.execute(call({ text: 'hi' }))).toEqual({ content: { said: 'hi' }, error: null });
    expect(tools.executed.map(({ key }) => key)).toEqual(['s1/7']);
  });

  it('TLP-04: a tool that is not registered is an ordinary error result', async () => {
    expect(await new InProcessTools().execute(call({}, 'nope'))).toEqual({
      content: null,
      error: 'No tool named "nope" is registered.',
    });
  });

  it('TLP-07: a retired tool leaves the list and can no longer run', async () => {
    const tools = new InProcessTools();
    const retire = tools.add(definition, () => 1);
    retire();
    expect(tools.describe().tools).toEqual([]);
    expect((await tools.execute(call({ text: 'hi' }))).error).toContain('No tool named');
  });

  it.each([
    [{ text: 5 }, '/text must be string'],
    ['{"text": "h', 'not valid JSON'],
  ])('keeps bad arguments %j from the handler', async (args, text) => {
    const tools = new InProcessTools();
    tools.add(definition, () => 1);
    expect((await tools.execute(call(args))).error).toContain(text);
    expect(tools.executed).toEqual([]);
  });

  it('runs a tool with an unusable schema unchecked, reported once', async () => {
    const reported: string[] = [];
    const tools = new InProcessTools({ report: ({ tool, reason }) => reported.push(`${tool}: ${reason}`) });
    tools.add({ ...definition, input_schema: { type: 'object', $ref: '#/nowhere' } }, () => 'ran');
    expect((await tools.execute(call({ text: 5 }))).content).toBe('ran');
    expect((await tools.execute(call({}))).content).toBe('ran');
    expect(reported).toEqual([expect.stringContaining('echo: arguments go unchecked')]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('out of ink');
      },
      'out of ink',
    ],
    ['rejects', () => Promise.reject(new Error('out of ink')), 'out of ink'],
    [
      'throws a string',
      () => {
        throw 'ink';
      },
      'ink',
    ],
    ['returns NaN', () => Number.NaN, 'cannot be stored'],
    ['returns a Date', () => new Date(), 'cannot be stored'],
    ['returns too much', () => 'x'.repeat(300_000), 'too large'],
  ])('gives an error result when the handler %s', async (_what, handler, text) => {
    const tools = new InProcessTools();
    tools.add(definition, handler);
    const outcome = await tools.execute(call({ text: 'hi' }));
    expect(outcome.content).toBeNull();
    expect(outcome.error).toContain(text);
  });

  it('rejects with the reason after abort, also when the handler ignores it', async () => {
    const tools = new InProcessTools();
    const abort = new AbortController();
    const entered = Promise.withResolvers<void>();
    tools.add(definition, () => {
      entered.resolve();
      return new Promise(() => undefined);
    });
    const running = tools.execute(call({ text: 'hi' }), { signal: abort.signal });
    await entered.promise;
    expect(tools.running('echo')).toBe(1);
    abort.abort(new Error('cancelled'));
    await expect(running).rejects.toThrow('cancelled');
    await expect(tools.execute(call({ text: 'hi' }), { signal: abort.signal })).rejects.toThrow('cancelled');
    expect(tools.running()).toBe(0);
  });

  it('refuses a definition nobody could register', () => {
    expect(() => new InProcessTools().add({ ...definition, name: 'a.b' }, () => 1)).toThrow(/default\.a\.b/);
  });
});
