import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LogError } from '../port/index.js';
import { assertStorable } from './storable.js';

let nested: unknown = 'x';
for (let i = 0; i < 70; i++) nested = [nested];

describe('assertStorable (LOG-11)', () => {
  it.each([
    ['NaN', Number.NaN, /payload\.x is NaN/],
    ['infinity', Number.POSITIVE_INFINITY, /is Infinity/],
    ['a lone surrogate', '\ud800', /not well-formed/],
    ['a class instance', new Date(0), /instance of Date/],
    ['a map', new Map(), /instance of Map/],
    ['a symbol key', { [Symbol('s')]: 1 }, /not a string/],
    ['a bigint', 1n, /is a bigint/],
    ['a function', () => 1, /is a function/],
    ['a hole', new Array(2), /x\[0\] is a undefined/],
    ['too deep a value', nested, /nested deeper/],
    ['a key that is not well-formed', { '\udc00': 1 }, /key that is not well-formed/],
    ['a prototype in disguise', JSON.parse('{"__proto__": 1}'), /__proto__/],
  ])('refuses %s and names the place', (_, value, message) => {
    expect(() => assertStorable({ x: value })).toThrow(LogError);
    expect(() => assertStorable({ x: value })).toThrow(message);
  });

  it('takes what survives a JSON round trip', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        fc.pre(!JSON.stringify(value).includes('"__proto__"'));
        const stored: unknown = JSON.parse(JSON.stringify(value));
        expect(() => assertStorable(stored)).not.toThrow();
      }),
    );
    expect(() => assertStorable({ absent: undefined, text: 'naïve 🙂', list: [1, null, true] })).not.toThrow();
  });
});
