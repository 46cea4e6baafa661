import { describe, expect, it } from '@jest/globals';
import type { ServiceName } from '@longrein/events';
import type { AppendRequest, NewEvent } from '../port/index.js';
import { type LogHarness, useLog } from './harness.js';
import { appendOf, call, input, newSession, readAll, refusal, select, turnStart } from './kit.js';

class Instance {
  readonly field = 'value';
}

function nested(levels: number): unknown {
  let value: unknown = 'bottom';
  for (let i = 0; i < levels; i++) value = { inner: value };
  return value;
}

function cyclic(): unknown {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  return value;
}

const UNSTORABLE: readonly (readonly [string, () => unknown])[] = [
  ['NaN', () => ({ n: Number.NaN })],
  ['Infinity', () => [Number.POSITIVE_INFINITY]],
  ['-Infinity', () => Number.NEGATIVE_INFINITY],
  ['a lone surrogate', () => 'broken \ud800 text'],
  ['a lone surrogate in a key', () => ({ 'broken \udc00 key': 1 })],
  ['a class instance', () => ({ value: new Instance() })],
  ['a Date', () => new Date(0)],
  ['a Map', () => new Map([['a', 1]])],
  ['a Buffer', () => Buffer.from('bytes')],
  ['a key that is no string', () => ({ [Symbol('key')]: 1, other: 2 })],
  ['a symbol', () => [Symbol('value')]],
  ['a function', () => ({ run: () => 1 })],
  ['a bigint', () => 10n],
  ['undefined inside an array', () => [1, undefined]],
  ['a key named __proto__', () => JSON.parse('{"__proto__": {"a": 1}}') as unknown],
  ['70 levels of nesting', () => nested(70)],
  ['itself', () => cyclic()],
];

const BAD_EVENTS: readonly (readonly [string, unknown])[] = [
  ['an unknown type', { type: 'input/unheard_of', payload: {} }],
  ["a type of the agents' streams", { type: 'agent/disposed', payload: { generation: 1 } }],
  ['no type', { payload: {} }],
  ['a type that is no text', { type: 7, payload: {} }],
  ['a missing field', { type: 'input/queued', payload: { input_id: 'i', wake: true } }],
  ['a field of the wrong kind', { type: 'input/queued', payload: { input_id: 'i', text: 'x', wake: 'yes' } }],
  ['a field too many', { type: 'input/queued', payload: { input_id: 'i', text: 'x', wake: true, extra: 1 } }],
  ['no payload', { type: 'input/queued' }],
  ['a payload that is a list', { type: 'input/queued', payload: [] }],
  ['an event that is null', null],
  ['an event that is text', 'input/queued'],
  ['an empty event id', { ...input(), event_id: '' }],
  ['an event id with a space', { ...input(), event_id: 'a b' }],
  ['an event id of 129 characters', { ...input(), event_id: 'x'.repeat(129) }],
  ['an event id that is no text', { ...input(), event_id: 1 }],
];

const BAD_REQUESTS: readonly (readonly [string, object])[] = [
  ['no since', { events: [input()] }],
  ['since below -1', { since: -2 }],
  ['since NaN', { since: Number.NaN }],
  ['since Infinity', { since: Number.POSITIVE_INFINITY }],
  ['a since that is no integer', { since: 0.5 }],
  ['a since that is text', { since: '0' }],
  ['a negative expect.seq', { expect: { seq: -2 } }],
  ['expect.seq NaN', { expect: { seq: Number.NaN } }],
  ['expect without seq', { expect: { none_of: [] } }],
  ['expect that is null', { expect: null }],
  ['none_of that is no list', { expect: { seq: 0, none_of: 'turn/end' } }],
  ['none_of with a number', { expect: { seq: 0, none_of: [1] } }],
  ['a negative epoch', { epoch: -1 }],
  ['an epoch that is no integer', { epoch: 1.5 }],
  ['events that are no list', { events: input() }],
  ['no events', { events: undefined }],
];

const NOT_PERMITTED: readonly (readonly [ServiceName, NewEvent])[] = [
  ['gateway', turnStart()],
  ['loop', input()],
  ['titler', select()],
  ['gateway', { type: 'session/titled', payload: { title: 'mine' } }],
  ['policy', { type: 'approval/resolved', payload: { call_id: 'c', request_seq: 1, verdict: 'approved' } }],
  ['gateway', { type: 'session/created', payload: {} }],
  ['worker', { type: 'owner/changed', payload: { scope: 'loop', owner: 'me', epochs: {} } }],
];

/** What never gets into the log. */
export function describeBoundary(harness: LogHarness): void {
  describe('boundary', () => {
    const log = useLog(harness);

    /** Refused, nothing stored, and the session goes on. */
    async function refused(service: ServiceName, id: string, request: AppendRequest): Promise<string> {
      const { message } = await refusal(log().as(service).append(id, request), 'invalid_event');
      expect((await log().as(service).read(id, { from_seq: 0 })).last_seq).toBe(0);
      expect(await log().as('gateway').append(id, appendOf(input()))).toMatchObject({ seq: 1 });
      return message;
    }

    it.each(UNSTORABLE)('refuses content with %s (LOG-11)', async (_, make) => {
      const id = await newSession(log());
      expect(await refused('worker', id, appendOf(call(make())))).toMatch(/args/);
    });

    it.each(BAD_EVENTS)('refuses %s (LOG-08)', async (_, event) => {
      await refused('gateway', await newSession(log()), appendOf(event as NewEvent));
    });

    it.each(BAD_REQUESTS)('refuses a request with %s', async (_, part) => {
      const id = await newSession(log());
      const request = 'since' in part || !('events' in part) ? { ...appendOf(input()), ...part } : part;
      await refused('gateway', id, request as AppendRequest);
    });

    it.each(NOT_PERMITTED)('does not let %s append %j', async (service, event) => {
      const message = await refused(service, await newSession(log()), appendOf(event));
      expect(message).toContain(event.type);
    });

    it('takes content of 60 levels', async () => {
      const id = await newSession(log());
      await log()
        .as('worker')
        .append(id, appendOf(call(nested(60))));
      expect((await readAll(log().as('worker'), id))[1]?.payload).toMatchObject({ args: nested(60) });
    });

    it.each([
      ['500,000 characters', 'x'.repeat(500_000)],
      ['160,000 characters of three bytes', '€'.repeat(160_000)],
      ['2 MiB', 'x'.repeat(2 * 1024 * 1024)],
    ])('refuses an event of %s as too large', async (_, text) => {
      const id = await newSession(log());
      await refusal(
        log()
          .as('gateway')
          .append(id, appendOf(input(text))),
        'too_large',
      );
      expect(await log().as('gateway').append(id, appendOf(input()))).toMatchObject({ seq: 1 });
    });

    it('takes an event of 400,000 bytes', async () => {
      const id = await newSession(log());
      const text = 'é'.repeat(200_000);
      await log()
        .as('gateway')
        .append(id, appendOf(input(text)));
      expect((await readAll(log().as('gateway'), id))[1]?.payload).toMatchObject({ text });
    });
  });
}
