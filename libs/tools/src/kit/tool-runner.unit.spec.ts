import { beforeEach, describe, expect, it } from '@jest/globals';
import { VirtualClock } from '@longrein/testing';
import { z } from 'zod';
import { argumentReader } from './argument-reader.js';
import { MemoryDedupeStore, type DedupeStore } from './dedupe.js';
import { EpochFence } from './epoch-fence.js';
import { ToolRunner, type ToolContext } from './tool-runner.js';

let clock: VirtualClock;
beforeEach(() => {
  clock = new VirtualClock();
});

const bytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));

function call(more: Record<string, unknown> = {}): Uint8Array {
  return bytes({
    session_id: 's1',
    turn_id: 't1',
    call_id: 'c1',
    call_seq: 7,
    name: 'double',
    args: { n: 2 },
    key: 's1/7',
    attempt: 1,
    epoch: 5,
    not_after: new Date(clock.now() + 1_000).toISOString(),
    ...more,
  });
}

type Handler = (args: { n: number }, context: ToolContext) => unknown;

function runner(
  handler: Handler,
  more: { dedupe?: DedupeStore; partitions?: number; maxBytes?: number } = {},
): ToolRunner {
  return new ToolRunner({
    readArguments: argumentReader(z.object({ n: z.number() })).read,
    handler,
    fence: new EpochFence(more.partitions),
    clock,
    dedupe: more.dedupe,
    maxBytes: more.maxBytes ?? 10_000,
  });
}

const double: Handler = ({ n }) => n * 2;

describe('ToolRunner', () => {
  it('answers with what the handler returns and tells it about its call', async () => {
    const seen: ToolContext[] = [];
    const tool = runner((args, context) => (seen.push(context), double(args, context)));
    expect(await tool.handle(call({ attempt: 2, future_field: true }))).toEqual({ content: 4 });
    expect(seen[0]).toMatchObject({
      key: 's1/7',
      attempt: 2,
      epoch: 5,
      call_seq: 7,
      not_after: new Date(clock.now() + 1_000),
    });
    expect(seen[0]?.signal.aborted).toBe(false);
    expect(clock.pending).toBe(0);
  });

  it.each([
    ['returns nothing', () => undefined, { content: null }],
    ['returns a date', () => new Date(0), { content: '1970-01-01T00:00:00.000Z' }],
    [
      'throws',
      () => {
        throw new Error('no ink');
      },
      { error: 'no ink' },
    ],
    [
      'throws without a message',
      () => {
        throw new RangeError();
      },
      { error: 'The tool failed: RangeError' },
    ],
    ['rejects with a string', () => Promise.reject('ink'), { error: 'The tool failed: ink' }],
    ['returns NaN', () => ({ a: Number.NaN }), { error: expect.stringContaining('a is NaN') }],
    ['returns a function', () => ({ a: () => 1 }), { error: expect.stringContaining('a is a function') }],
    ['returns a bigint', () => 1n, { error: expect.stringContaining('not JSON') }],
    ['returns a lone surrogate', () => '\ud800', { error: expect.stringContaining('well-formed') }],
    ['returns too much', () => 'x'.repeat(20_000), { error: expect.stringContaining('too large') }],
  ])('when the handler %s', async (_what, handler, reply) => {
    expect(await runner(handler).handle(call())).toEqual(reply);
  });

  it('refuses bytes that are no call', async () => {
    const tool = runner(double);
    expect(await tool.handle(bytes('{'))).toEqual({ error: expect.stringContaining('not JSON') });
    expect(await tool.handle(Uint8Array.of(0xff))).toEqual({ error: expect.stringContaining('UTF-8') });
    expect(await tool.handle(call({ epoch: -1 }))).toEqual({ error: expect.stringContaining('epoch') });
    expect(await tool.handle(call({ not_after: 'soon' }))).toEqual({ error: expect.stringContaining('not_after') });
    expect(await tool.handle(call({ args: { n: 'x' } }))).toEqual({ error: expect.stringContaining('/n') });
  });

  it('does not run what arrives after its time limit', async () => {
    let ran = 0;
    const late = call();
    await clock.advance(1_000);
    expect(await runner(() => ran++).handle(late)).toEqual({ error: expect.stringContaining('has not run') });
    expect(ran).toBe(0);
  });

  it('refuses an epoch below the highest seen in the session, and only there', async () => {
    const tool = runner(double);
    expect(await tool.handle(call({ epoch: 9 }))).toEqual({ content: 4 });
    expect(await tool.handle(call({ epoch: 8 }))).toEqual({ error: expect.stringContaining('epoch 8, 9 is known') });
    expect(await tool.handle(call({ epoch: 9 }))).toEqual({ content: 4 });
    expect(await tool.handle(call({ epoch: 8, session_id: 's2' }))).toEqual({ content: 4 });
  });

  it('refuses a stale epoch across the sessions of a partition when it knows the partitions', async () => {
    const tool = runner(double, { partitions: 1 });
    await tool.handle(call({ epoch: 9 }));
    expect(await tool.handle(call({ epoch: 8, session_id: 's2' }))).toEqual({
      error: expect.stringContaining('superseded'),
    });
  });

  it('aborts the handler at not_after and answers without it', async () => {
    const reason = Promise.withResolvers<unknown>();
    const tool = runner((_, { signal }) => {
      signal.addEventListener('abort', () => reason.resolve(signal.reason));
      return new Promise(() => undefined);
    });
    const reply = tool.handle(call());
    await clock.advance(999);
    await clock.advance(1);
    expect(await reply).toEqual({ error: expect.stringContaining('ran past its time limit') });
    expect(await reason.promise).toMatchObject({ name: 'TimeoutError' });
  });
});

describe('deduplication', () => {
  it('answers a repeated key from the first result; errors may be tried again', async () => {
    let runs = 0;
    const tool = runner(
      () => {
        runs += 1;
        if (runs === 1) throw new Error('first fails');
        return runs;
      },
      { dedupe: new MemoryDedupeStore() },
    );
    expect(await tool.handle(call())).toEqual({ error: 'first fails' });
    expect(await tool.handle(call({ attempt: 2 }))).toEqual({ content: 2 });
    expect(await tool.handle(call({ attempt: 3 }))).toEqual({ content: 2 });
    expect(await tool.handle(call({ key: 's1/8', call_seq: 8 }))).toEqual({ content: 3 });
  });

  it('joins a key that is still running, and lets it run until the last caller gives up', async () => {
    let runs = 0;
    const end = Promise.withResolvers<string>();
    let signal: AbortSignal | undefined;
    const started = Promise.withResolvers<void>();
    const tool = runner(
      (_, context) => {
        runs += 1;
        signal = context.signal;
        started.resolve();
        return end.promise;
      },
      { dedupe: new MemoryDedupeStore() },
    );
    const first = tool.handle(call());
    await started.promise;
    await clock.advance(500);
    const second = tool.handle(call({ attempt: 2 }));
    await clock.advance(500);
    expect(await first).toEqual({ error: expect.stringContaining('time limit') });
    expect(signal?.aborted).toBe(false);
    end.resolve('done');
    expect(await second).toEqual({ content: 'done' });
    expect(runs).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it('keeps a result that came too late for its caller', async () => {
    const end = Promise.withResolvers<string>();
    const store = new MemoryDedupeStore();
    const kept = Promise.withResolvers<void>();
    const watched: DedupeStore = {
      get: (key) => store.get(key),
      put: async (key, result) => {
        await store.put(key, result);
        kept.resolve();
      },
    };
    const tool = runner(() => end.promise, { dedupe: watched });
    const first = tool.handle(call());
    await clock.advance(1_000);
    expect(await first).toEqual({ error: expect.stringContaining('time limit') });
    end.resolve('late');
    await kept.promise;
    expect(await tool.handle(call({ attempt: 2 }))).toEqual({ content: 'late' });
  });

  it('does not run blind when the store fails', async () => {
    let runs = 0;
    const broken: DedupeStore = { get: () => Promise.reject(new Error('db down')), put: () => Promise.resolve() };
    expect(await runner(() => runs++, { dedupe: broken }).handle(call())).toEqual({
      error: expect.stringContaining('db down'),
    });
    expect(runs).toBe(0);
    const full: DedupeStore = { get: () => Promise.resolve(undefined), put: () => Promise.reject(new Error('full')) };
    expect(await runner(() => runs++, { dedupe: full }).handle(call())).toEqual({
      error: expect.stringContaining('has run'),
    });
  });

  it('forgets the key that was used longest ago', async () => {
    const store = new MemoryDedupeStore(2);
    await store.put('a', { content: 1 });
    await store.put('b', { content: 2 });
    await store.get('a');
    await store.put('c', { content: 3 });
    expect(await store.get('b')).toBeUndefined();
    expect(await store.get('a')).toEqual({ content: 1 });
  });
});

describe('argumentReader', () => {
  it('registers what a zod schema takes in and hands over what it parses to', () => {
    const { json, read } = argumentReader(z.object({ n: z.coerce.number().default(1) }));
    expect(json).toMatchObject({ type: 'object' });
    expect(json['required']).toBeUndefined();
    expect(read({})).toEqual({ value: { n: 1 } });
  });

  it('refuses schemas nobody could use', () => {
    expect(() => argumentReader(z.object({ d: z.date() }))).toThrow(TypeError);
    expect(() => argumentReader({ type: 'object', $ref: '#/nowhere' })).toThrow(TypeError);
  });

  it('checks plain JSON Schema', () => {
    const { read } = argumentReader({ type: 'object', properties: { n: { type: 'number' } } });
    expect(read({ n: 1 })).toEqual({ value: { n: 1 } });
    expect(read({ n: 'x' })).toEqual({ invalid: expect.stringContaining('/n must be number') });
    expect(read('x')).toEqual({ invalid: expect.stringContaining('object') });
  });
});
