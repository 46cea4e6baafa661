import { describe, expect, it } from '@jest/globals';
import { InProcessTools } from '../memory/index.js';
import { callKey } from '../port/index.js';
import { executeWithHooks, findVeto, type HookContext, type ToolHooks } from './hooks.js';

function bench(): { tools: InProcessTools; context: (agent: string) => HookContext } {
  const tools = new InProcessTools();
  tools.add({ name: 't', description: 'runs', input_schema: { type: 'object' } }, () => 'real');
  const call = { session_id: 's', turn_id: 't', call_id: 'c', call_seq: 1, name: 't', args: {}, attempt: 1, epoch: 1 };
  return {
    tools,
    context: (agent_id) => ({ agent_id, call: { ...call, key: callKey('s', 1) }, tool: tools.resolve('t') }),
  };
}

describe('hooks', () => {
  it('TLP-01: a veto gives an error with its reason; neither later hooks nor the tool run', async () => {
    const { tools, context } = bench();
    const later: string[] = [];
    const hooks: ToolHooks = {
      pre: [() => undefined, () => ({ veto: 'not today' }), () => void later.push('pre')],
      execute: [(_, next) => (later.push('execute'), next())],
      post: [(_, outcome) => (later.push('post'), outcome)],
    };
    expect(await executeWithHooks(hooks, tools, context('a'))).toEqual({ content: null, error: 'not today' });
    expect(later).toEqual([]);
    expect(tools.executed).toEqual([]);
  });

  it('TLP-02: a substitute result keeps the tool from running', async () => {
    const { tools, context } = bench();
    const hooks: ToolHooks = { execute: [() => ({ content: 'cached', error: null })] };
    expect(await executeWithHooks(hooks, tools, context('a'))).toEqual({ content: 'cached', error: null });
    expect(tools.executed).toEqual([]);
  });

  it('TLP-03: results are rewritten, in order, substitutes included', async () => {
    const { tools, context } = bench();
    const hooks: ToolHooks = {
      post: [
        (_, { content }) => ({ content: `${String(content)}+1`, error: null }),
        (_, { content }) => ({ content: `${String(content)}+2`, error: null }),
      ],
    };
    expect((await executeWithHooks(hooks, tools, context('a'))).content).toBe('real+1+2');
    const substituted: ToolHooks = { ...hooks, execute: [() => ({ content: 'cached', error: null })] };
    expect((await executeWithHooks(substituted, tools, context('a'))).content).toBe('cached+1+2');
  });

  it('TLP-06: refuses to run for nobody', async () => {
    const { tools, context } = bench();
    await expect(executeWithHooks({}, tools, context(''))).rejects.toThrow(/agent_id is missing/);
    await expect(findVeto({}, context(''))).rejects.toThrow(/agent_id is missing/);
    expect(tools.executed).toEqual([]);
  });

  it('TLP-09: a hook decides by agent', async () => {
    const { tools, context } = bench();
    const hooks: ToolHooks = { pre: [({ agent_id }) => (agent_id === 'a' ? { veto: 'not for a' } : undefined)] };
    expect((await executeWithHooks(hooks, tools, context('a'))).error).toBe('not for a');
    expect((await executeWithHooks(hooks, tools, context('b'))).content).toBe('real');
  });

  it('fails closed when a check throws, and gives an error result when another hook does', async () => {
    const { tools, context } = bench();
    const broken = (): never => {
      throw new Error('bug');
    };
    expect((await executeWithHooks({ pre: [broken] }, tools, context('a'))).error).toContain('bug');
    expect(tools.executed).toEqual([]);
    expect((await executeWithHooks({ execute: [broken] }, tools, context('a'))).error).toContain('bug');
    expect((await executeWithHooks({ post: [broken] }, tools, context('a'))).error).toContain('bug');
  });

  it('nests execution hooks, the first outermost', async () => {
    const { tools, context } = bench();
    const order: string[] = [];
    const named = (name: string): NonNullable<ToolHooks['execute']>[number] => {
      return async (_, next) => {
        order.push(`${name} in`);
        const outcome = await next();
        order.push(`${name} out`);
        return outcome;
      };
    };
    const hooks: ToolHooks = { execute: [named('outer'), named('inner')] };
    expect((await executeWithHooks(hooks, tools, context('a'))).content).toBe('real');
    expect(order).toEqual(['outer in', 'inner in', 'inner out', 'outer out']);
  });

  it('rejects with the reason after abort', async () => {
    const { tools, context } = bench();
    const abort = new AbortController();
    abort.abort(new Error('cancelled'));
    await expect(executeWithHooks({}, tools, context('a'), { signal: abort.signal })).rejects.toThrow('cancelled');
  });
});
