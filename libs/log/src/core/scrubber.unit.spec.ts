import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { definitionOf } from '@longrein/events';
import { ScrubRuleError, Scrubber } from './scrubber.js';

const KEY = { pattern: 'sk-[A-Za-z0-9]{8,32}' };

describe('Scrubber', () => {
  it('puts the replacement in literally, whatever regular expressions make of it (RED-10)', () => {
    expect(new Scrubber([{ ...KEY, replacement: '$& $1 $$' }]).text('use sk-abcdefgh1 now')).toBe('use $& $1 $$ now');
  });

  it.each([
    [{ pattern: '(' }, /does not compile/],
    [{ pattern: 'a*' }, /matches the empty string/],
    [{ literal: 'short' }, /shorter than 8/],
    [{ pattern: 'red', replacement: '[redacted]' }, /itself scrubbed/],
  ])('refuses the rule %j when it is configured (RED-10)', (rule, message) => {
    expect(() => new Scrubber([rule])).toThrow(ScrubRuleError);
    expect(() => new Scrubber([rule])).toThrow(message);
  });

  it('takes a literal by its exact text, not as a pattern (RED-11)', () => {
    const scrubber = new Scrubber([{ literal: 'a.c(d)e+f' }]);
    expect(scrubber.text('a.c(d)e+f abc(d)e+f')).toBe('[redacted] abc(d)e+f');
  });

  it('applies rules in their order (RED-06)', () => {
    const rules = [
      { pattern: 'secret-[a-z]+', replacement: '[first]' },
      { pattern: '[a-z]+-token', replacement: '[second]' },
    ];
    expect(new Scrubber(rules).text('secret-token')).toBe('[first]');
    expect(new Scrubber(rules.reverse()).text('secret-token')).toBe('[second]');
  });

  it('scrubs what a model wrote wherever it stands, and structure nowhere (RED-04)', () => {
    const { content } = definitionOf('sessions', 'tool/call')!;
    const secret = 'sk-abcdefgh12';
    const payload = { id: secret, name: `tool ${secret}`, args: { id: secret, [secret]: [{ deep: secret }] } };
    expect(new Scrubber([KEY]).content(content, payload)).toEqual({
      id: secret,
      name: 'tool [redacted]',
      args: { id: '[redacted]', '[redacted]': [{ deep: '[redacted]' }] },
    });
  });

  it('refuses two keys that become the same', () => {
    expect(() => new Scrubber([KEY]).deep({ 'sk-abcdefgh1': 1, 'sk-abcdefgh2': 2 })).toThrow(/two keys scrub to/);
  });

  it('changes nothing the second time', () => {
    const scrubber = new Scrubber([KEY, { literal: 'topsecret' }]);
    fc.assert(
      fc.property(fc.array(fc.constantFrom('sk-', 'abcdefgh', 'topsecret', 'top', ' ', 'secret', 'x1')), (words) => {
        const once = scrubber.text(words.join(''));
        expect(scrubber.text(once)).toBe(once);
      }),
    );
  });

  it('without rules leaves every value as it is', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => expect(new Scrubber().content('deep', value)).toBe(value)));
  });
});
