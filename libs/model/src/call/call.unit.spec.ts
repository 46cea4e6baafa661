import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ModelError } from '../errors.js';
import { parseArguments } from './arguments.js';
import { nextDelay } from './retry.js';
import { retryAfterMs } from './retry-after.js';
import { redactor } from './secrets.js';
import { TextFeed } from './text-feed.js';

describe('arguments', () => {
  it.each<[string, unknown]>([
    ['', {}],
    [' {"a": 1} ', { a: 1 }],
    ['{"a":"\\ud800"}', { a: '\ufffd' }],
    ['"text"', '"text"'],
    ['[]', '[]'],
    ['{"a":1e999}', '{"a":1e999}'],
    ['{"__proto__":1}', '{"__proto__":1}'],
    ['{"a":', '{"a":'],
  ])('%j is %j', (text, expected) => expect(parseArguments(text)).toEqual(expected));

  it('nested without end stay text', () => {
    const text = `{"a":${'['.repeat(500)}${']'.repeat(500)}}`;
    expect(parseArguments(text)).toBe(text);
  });

  it('that can be stored come back as they were written', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (value) => {
        fc.pre(!JSON.stringify(value).includes('__proto__'));
        expect(parseArguments(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe('text in pieces', () => {
  it('is well-formed piece by piece and whole in the end, wherever it was cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.nat(60)), (text, cuts) => {
        const feed = new TextFeed();
        const places = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length];
        const pieces = places.slice(1).map((end, i) => feed.push(text.slice(places[i], end)));
        pieces.push(feed.end());
        expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
        expect(pieces.join('')).toBe(text);
        expect(feed.text).toBe(text);
      }),
    );
  });
});

describe('the wait before another attempt', () => {
  const policy = { max_attempts: 4, base_ms: 100, max_delay_ms: 300, max_total_ms: 1000 };
  const later = new ModelError('overloaded', 'x', true);

  it('doubles up to its bound, jittered by up to half', () => {
    const delays = (random: number): unknown[] =>
      [1, 2, 3, 4].map((attempt) => nextDelay(later, attempt, 0, { policy, random: () => random }));
    expect(delays(0)).toEqual([50, 100, 150, undefined]);
    expect(delays(1)).toEqual([100, 200, 300, undefined]);
  });

  it('is none after an error that is final, or when it would end after the total time', () => {
    const random = (): number => 1;
    expect(nextDelay(new ModelError('unauthorized', 'x', false), 1, 0, { policy, random })).toBeUndefined();
    expect(nextDelay(later, 1, 901, { policy, random })).toBeUndefined();
    expect(nextDelay(later, 1, 900, { policy, random })).toBe(100);
  });
});

describe('Retry-After', () => {
  const now = (): number => Date.parse('2026-01-01T00:00:00Z');
  it.each<[Record<string, string>, number | undefined]>([
    [{}, undefined],
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': '1.5' }, 1500],
    [{ 'retry-after-ms': '40', 'retry-after': '2' }, 40],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:10 GMT' }, 10_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
  ])('%j is %p ms', (headers, expected) => expect(retryAfterMs(new Headers(headers), now)).toBe(expected));
});

describe('a redactor', () => {
  it('takes every secret out, the longer first, and bounds the text', () => {
    const redact = redactor(['secret-1', 'secret-1-long', undefined, 'x']);
    expect(redact('a secret-1-long b secret-1 x')).toBe('a *** b *** x');
    expect(redact('y'.repeat(5000))).toHaveLength(1001);
  });
});
