import { describe, expect, it } from '@jest/globals';
import { contentReply, thrownReply } from './reply.js';

describe('thrownReply', () => {
  it.each([
    [new Error('no such city'), 'no such city'],
    [new Error('fetch failed', { cause: new Error('connect ECONNREFUSED') }), 'fetch failed: connect ECONNREFUSED'],
    [new Error('cannot reach it: refused', { cause: new Error('refused') }), 'cannot reach it: refused'],
    [new TypeError(''), 'The tool failed: TypeError'],
    ['just text', 'The tool failed: just text'],
  ])('tells the model what %p says', (thrown, error) => {
    expect(thrownReply(thrown)).toEqual({ error });
  });
});

describe('contentReply', () => {
  it('answers nothing as null and refuses what JSON would distort', () => {
    expect(contentReply(undefined, 100)).toEqual({ content: null });
    expect(contentReply({ x: Number.NaN }, 100)).toEqual({ error: expect.stringContaining('x is NaN') });
  });
});
