import { describe, expect, it } from '@jest/globals';
import { TokenBook } from './token-book.js';
import { tokenRules } from './token-rules.js';

const ALL = ['read', 'steer', 'approve', 'policy', 'model'];

const book = new TokenBook(
  tokenRules.parse([
    { token: 'secret-of-all' },
    { token: 'secret-of-team', agents: ['team-*', 'helper'] },
    { token: 'secret-of-reader', capabilities: ['read'] },
  ]),
);

const capabilities = (header: string | undefined, agent: string): string[] | undefined => {
  const access = book.access(header, agent);
  return access && [...access.capabilities];
};

describe('TokenBook', () => {
  it('lets a token without limits do everything everywhere', () => {
    expect(capabilities('Bearer secret-of-all', 'any')).toEqual(ALL);
    expect(capabilities('bearer   secret-of-all ', 'any')).toEqual(ALL);
  });

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'secret-of-all',
    'Basic secret-of-all',
    'Bearer secret-of-al',
    'Bearer secret-of-all x',
  ])('WSP-01 gives no access for the header %j', (header) => {
    expect(capabilities(header, 'any')).toBeUndefined();
  });

  it('WSP-01 gives no access to another agent', () => {
    expect(capabilities('Bearer secret-of-team', 'team-1')).toEqual(ALL);
    expect(capabilities('Bearer secret-of-team', 'helper')).toEqual(ALL);
    expect(capabilities('Bearer secret-of-team', 'helper2')).toBeUndefined();
    expect(capabilities('Bearer secret-of-team', 'other')).toBeUndefined();
  });

  it('limits a token to its capabilities', () => {
    expect(capabilities('Bearer secret-of-reader', 'any')).toEqual(['read']);
  });

  it('does not keep the tokens', () => {
    expect(JSON.stringify(book)).not.toContain('secret');
  });

  it.each<[unknown, RegExp]>([
    [[], /at least one token/],
    [[{ token: 'short' }], /at least 8/],
    [[{ token: 'long enough', agents: [] }], /agents/],
    [[{ token: 'long enough', capabilities: ['fly'] }], /capabilities/],
    [[{ token: 'long enough', admin: true }], /admin/],
  ])('refuses the rules %j', (rules, problem) => {
    expect(() => tokenRules.parse(rules)).toThrow(problem);
  });
});
