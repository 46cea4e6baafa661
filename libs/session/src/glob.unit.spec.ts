import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { matchesAny, matchesGlob } from './glob.js';

describe('a policy pattern', () => {
  it.each([
    ['read', 'read', true],
    ['read', 'Read', false],
    ['read', 'read_file', false],
    ['read', 'thread', false],
    ['*', '', true],
    ['*', 'anything', true],
    ['mcp__git__*', 'mcp__git__log', true],
    ['mcp__git__*', 'mcp__github__log', false],
    ['*_file', 'read_file', true],
    ['*_file', 'read_files', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'acb', false],
    ['**', 'x', true],
    ['re?d', 'read', false],
    ['r.ad', 'read', false],
    ['[r]ead', 'read', false],
    ['a*', '*a', false],
    ['*a', '*a', true],
    ['', '', true],
    ['', 'x', false],
  ])('%j on the tool %j: %j (POL-02)', (pattern, name, expected) => {
    expect(matchesGlob(pattern, name)).toBe(expected);
  });

  it('agrees with the regular expression it stands for', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.'), maxLength: 8 });
    fc.assert(
      fc.property(letters, letters, (pattern, name) => {
        const source = pattern
          .split('*')
          .map((part) => part.replaceAll('.', '\\.'))
          .join('[^]*');
        expect(matchesGlob(pattern, name)).toBe(new RegExp(`^${source}$`).test(name));
      }),
      { numRuns: 2000 },
    );
  });

  it('takes no exponential time', () => {
    expect(matchesGlob(`${'a*'.repeat(128)}b`, 'a'.repeat(256))).toBe(false);
  });

  it('is one of several; none of none matches (POL-13)', () => {
    expect(matchesAny(['x', 're*'], 'read')).toBe(true);
    expect(matchesAny([], 'read')).toBe(false);
  });
});
