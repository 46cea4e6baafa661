import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson, digest } from './canonical.js';

describe('canonical JSON', () => {
  it.each([
    [{ b: 1, a: [true, null, 'é\n'] }, '{"a":[true,null,"é\\n"],"b":1}'],
    [{ B: 1, a: 2, '10': 3, '9': 4 }, '{"10":3,"9":4,"B":1,"a":2}'],
    [{ a: undefined, b: -0 }, '{"b":0}'],
    [[undefined, 1e21], '[null,1e+21]'],
    [{}, '{}'],
  ])('of %j is %s', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it.each([[NaN], [Infinity], [10n], [() => 1], [{ deep: [Symbol('s')] }]])('refuses %p', (value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError);
  });

  it('is the same whatever the order of keys, and parses back to the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const reversed = JSON.parse(JSON.stringify(value), (_, inner: unknown) =>
          typeof inner === 'object' && inner !== null && !Array.isArray(inner)
            ? Object.fromEntries(Object.entries(inner).reverse())
            : inner,
        ) as unknown;
        expect(canonicalJson(reversed)).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('has a digest that names its algorithm', () => {
    expect(digest({})).toBe('sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
  });
});
