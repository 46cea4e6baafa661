import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MAX_ERROR_LENGTH, failure, outcomeOf } from './outcome.js';
import { MAX_DEPTH, jsonBytes, storageProblem } from './storable.js';

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = [value];
  return value;
}

describe('outcomeOf', () => {
  it('takes content and errors', () => {
    expect(outcomeOf({ content: { a: 1 } }, 100)).toEqual({ content: { a: 1 }, error: null });
    expect(outcomeOf({ content: null }, 100)).toEqual({ content: null, error: null });
    expect(outcomeOf({ content: 'x', error: null }, 100)).toEqual({ content: 'x', error: null });
    expect(outcomeOf({ error: 'no such city' }, 100)).toEqual({ content: null, error: 'no such city' });
    expect(outcomeOf({ content: 'x', error: 'no' }, 100)).toEqual({ content: null, error: 'no' });
    expect(outcomeOf({ error: '' }, 100).error).toContain('without saying which');
  });

  it.each([[{}], [[]], [null], ['ok'], [7], [{ error: 5 }], [{ error: {} }], [{ content: undefined }]])(
    'calls %j nonsense',
    (reply) => {
      const outcome = outcomeOf(reply, 100);
      expect(outcome.content).toBeNull();
      expect(outcome.error).toContain('something that is not a result');
    },
  );

  it('refuses what the log cannot store, and says so', () => {
    expect(outcomeOf({ content: { a: ['\ud800'] } }, 100).error).toContain('/a/0 holds text that is not well-formed');
    expect(outcomeOf({ content: nested(MAX_DEPTH + 1) }, 1000).error).toContain('nested deeper');
    expect(outcomeOf(JSON.parse('{"content":{"__proto__":1}}'), 100).error).toContain('__proto__');
    expect(outcomeOf({ content: nested(MAX_DEPTH) }, 1000).error).toBeNull();
  });

  it('measures bytes of JSON, not characters', () => {
    expect(outcomeOf({ content: 'é'.repeat(49) }, 100).error).toBeNull();
    expect(outcomeOf({ content: 'é'.repeat(50) }, 100).error).toContain('102 bytes, the limit is 100');
  });

  it('gives a storable outcome whatever was answered', () => {
    fc.assert(
      fc.property(fc.anything(), (reply) => {
        const outcome = outcomeOf(reply, 1000);
        expect(storageProblem(outcome)).toBeUndefined();
        expect(jsonBytes(outcome.content)).toBeLessThanOrEqual(1000);
        expect(outcome.error === null || outcome.content === null).toBe(true);
      }),
    );
  });
});

describe('failure', () => {
  it('cuts and repairs text', () => {
    const { error } = failure('\ud83d\ude00'.repeat(MAX_ERROR_LENGTH));
    expect(error?.length).toBeLessThan(MAX_ERROR_LENGTH + 20);
    expect(error?.isWellFormed()).toBe(true);
    expect(failure('\ud800').error).toBe('\ufffd');
  });
});
