import { beforeEach, describe, expect, it } from '@jest/globals';
import { VirtualClock } from '@longrein/testing';
import { configuredKey } from './ticket-key.js';
import { type Access, TokenBook } from './token-book.js';
import { tokenRules } from './token-rules.js';
import { Tickets } from './tickets.js';

const rules = (...of: object[]): TokenBook => new TokenBook(tokenRules.parse(of));
const ALL = { token: 'secret-of-all', name: 'console' };

let clock: VirtualClock;
let book: TokenBook;
let access: Access;

const replica = (key = 'k'.repeat(32)): Tickets => new Tickets(configuredKey(key), () => book, 30_000, clock);

beforeEach(() => {
  clock = new VirtualClock();
  book = rules(ALL);
  access = book.access('Bearer secret-of-all', 'a')!;
});

describe('Tickets', () => {
  it('are good for one agent, once, on any replica', async () => {
    const [one, other] = [replica(), replica()];
    const { ticket, expires_at, capabilities } = await one.issue('a', access);
    expect({ expires_at, capabilities }).toEqual({
      expires_at: '2026-01-01T00:00:30.000Z',
      capabilities: ['read', 'steer', 'approve', 'policy', 'model'],
    });
    expect(await other.redeem(ticket, 'b')).toBeUndefined();
    expect(await other.redeem(ticket, 'a')).toEqual(access);
    expect(await other.redeem(ticket, 'a')).toBeUndefined();
  });

  it('expire', async () => {
    const tickets = replica();
    const { ticket } = await tickets.issue('a', access);
    const spare = (await tickets.issue('a', access)).ticket;
    await clock.advance(29_999);
    expect(await tickets.redeem(ticket, 'a')).toBeDefined();
    await clock.advance(1);
    expect(await tickets.redeem(spare, 'a')).toBeUndefined();
    expect(await tickets.redeem(ticket, 'a')).toBeUndefined();
  });

  it('may do less than their token, never more, and nothing that the token may not do any more', async () => {
    const tickets = replica();
    const less = await tickets.issue('a', access, ['read', 'approve']);
    expect([...(await tickets.redeem(less.ticket, 'a'))!.capabilities]).toEqual(['read', 'approve']);
    const reader = { ...access, capabilities: new Set(['read'] as const) };
    expect((await tickets.issue('a', reader, ['read', 'steer'])).capabilities).toEqual(['read']);
    const full = await tickets.issue('a', access);
    book = rules({ ...ALL, capabilities: ['read'] });
    expect([...(await tickets.redeem(full.ticket, 'a'))!.capabilities]).toEqual(['read']);
  });

  it('are worth nothing once their token is rotated', async () => {
    const { ticket } = await replica().issue('a', access);
    book = rules({ token: 'secret-of-tomorrow' });
    expect(await replica().redeem(ticket, 'a')).toBeUndefined();
  });

  it('cannot be made or changed without the key', async () => {
    const tickets = replica();
    const { ticket } = await tickets.issue('a', access, ['read']);
    const [body = '', signature = ''] = ticket.split('.');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as object;
    const more = Buffer.from(JSON.stringify({ ...claims, capabilities: ['steer'] })).toString('base64url');
    const forged = [
      `${more}.${signature}`,
      (await replica('x'.repeat(32)).issue('a', access)).ticket,
      body,
      `${body}.`,
      `${body}.${signature.slice(1)}`,
      '',
      '.',
      'nonsense.nonsense',
    ];
    for (const bad of forged) expect(await tickets.redeem(bad, 'a')).toBeUndefined();
    expect(await tickets.redeem(ticket, 'a')).toBeDefined();
  });

  it('do not give their token away, not even as a digest to guess by', async () => {
    const [body = ''] = (await replica().issue('a', access)).ticket.split('.');
    const text = Buffer.from(body, 'base64url').toString();
    expect(text).not.toContain(access.token_id);
    expect(text).not.toContain('secret');
  });
});
