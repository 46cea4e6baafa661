import { describe, expect, it } from '@jest/globals';
import { scrubRules } from './scrub-rules.js';

describe('scrub rules in an environment variable', () => {
  it('are a JSON array of rules', () => {
    const rules = [{ pattern: 'sk-[a-z]+' }, { literal: 'hunter2hunter2', replacement: '***' }];
    expect(scrubRules.parse(JSON.stringify(rules))).toEqual(rules);
  });

  it.each([
    ['{', /JSON/],
    ['{}', /not an array/],
    ['[{"pattern":"("}]', /does not compile/],
    ['[{"literal":"short"}]', /shorter than 8/],
  ])('are refused as %s (RED-10)', (text, message) => {
    expect(scrubRules.safeParse(text).error?.issues[0]?.message).toMatch(message);
  });
});
