import { describe, expect, it } from '@jest/globals';
import type { ServiceName } from '@longrein/events';
import type { ScrubRule } from '../core/index.js';
import type { NewEvent } from '../port/index.js';
import { type LogHarness, useLog } from './harness.js';
import { appendOf, call, identified, input, newSession, readAll, refusal, take } from './kit.js';

const SECRET = 'sk-abcdef012345';
const PASSWORD = 'correct.horse(battery)';
const RULES: readonly ScrubRule[] = [
  { pattern: 'sk-[a-z0-9]{8,}', replacement: '[key]' },
  { literal: PASSWORD, replacement: '$& ***' },
];

const CONTENT: readonly (readonly [string, ServiceName, NewEvent, unknown])[] = [
  [
    'a user message',
    'worker',
    { type: 'user/message', payload: { text: `use ${SECRET}, twice: ${SECRET}`, input_id: SECRET } },
    { text: 'use [key], twice: [key]', input_id: SECRET },
  ],
  [
    'a queued input',
    'gateway',
    { type: 'input/queued', payload: { input_id: 'i', text: `is ${PASSWORD} right?`, wake: true } },
    { input_id: 'i', text: 'is $& *** right?', wake: true },
  ],
  [
    'a steer',
    'loop',
    { type: 'context/injected', payload: { text: SECRET, input_id: 'i' } },
    { text: '[key]', input_id: 'i' },
  ],
  [
    'a summary',
    'compactor',
    { type: 'session/compacted', payload: { summary: `the key is ${SECRET}` } },
    { summary: 'the key is [key]', upto_seq: 0 },
  ],
  [
    'a message of the model',
    'worker',
    {
      type: 'assistant/message',
      payload: {
        parts: [
          { type: 'text', text: SECRET },
          { type: 'reasoning', text: `think ${SECRET}`, provider: { signature: SECRET } },
          { type: 'tool_call', id: SECRET, name: SECRET, args: { type: SECRET, id: [SECRET] } },
        ],
      },
    },
    {
      parts: [
        { type: 'text', text: '[key]' },
        { type: 'reasoning', text: 'think [key]', provider: { signature: SECRET } },
        { type: 'tool_call', id: SECRET, name: '[key]', args: { type: '[key]', id: ['[key]'] } },
      ],
    },
  ],
  [
    'names, keys and values of a call',
    'worker',
    call({ id: SECRET, name: { [SECRET]: [{ [`x-${SECRET}`]: PASSWORD }] }, n: 1 }, `tool-${SECRET}`, SECRET),
    { id: SECRET, name: 'tool-[key]', args: { id: '[key]', name: { '[key]': [{ 'x-[key]': '$& ***' }] }, n: 1 } },
  ],
  [
    'a result and its error',
    'worker',
    { type: 'tool/result', payload: { id: SECRET, call_seq: 1, content: [SECRET], error: `no: ${SECRET}` } },
    { id: SECRET, call_seq: 1, content: ['[key]'], error: 'no: [key]' },
  ],
  [
    'a verdict only in its reason',
    'approvals',
    {
      type: 'approval/resolved',
      payload: { call_id: SECRET, request_seq: 1, verdict: 'denied', reason: SECRET, by: SECRET },
    },
    { call_id: SECRET, request_seq: 1, verdict: 'denied', reason: '[key]', by: SECRET },
  ],
  [
    'no policy pattern',
    'policy',
    { type: 'policy/updated', payload: { patterns: [`${SECRET}*`] } },
    { patterns: [`${SECRET}*`] },
  ],
];

/** What the log rewrites before it stores. */
export function describeScrubbing(harness: LogHarness): void {
  describe('scrubbing', () => {
    const log = useLog(harness, { scrubbers: RULES });

    it.each(CONTENT)('rewrites %s (RED-02, RED-04)', async (_, service, event, stored) => {
      const id = await newSession(log());
      await log().as(service).append(id, appendOf(event));
      expect((await readAll(log().as(service), id))[1]?.payload).toStrictEqual(stored);
    });

    it('shows nobody the secret: not in missed, not to followers', async () => {
      const id = await newSession(log());
      const gateway = log().as('gateway');
      await gateway.append(id, appendOf(input(SECRET)));
      const { missed } = await gateway.append(id, appendOf(input()));
      const followed = await take(gateway.follow(id, { from_seq: 0 }), 2);
      expect(JSON.stringify([missed, followed])).not.toContain(SECRET);
      expect(JSON.stringify([missed, followed])).toContain('[key]');
    });

    it('keeps event ids, and a retry is still the same append', async () => {
      const id = await newSession(log());
      const request = appendOf(identified(input(SECRET), SECRET));
      const first = await log().as('gateway').append(id, request);
      expect(await log().as('gateway').append(id, request)).toEqual(first);
      expect((await readAll(log().as('gateway'), id))[1]?.id).toBe(SECRET);
    });

    it('refuses two keys that become the same', async () => {
      const id = await newSession(log());
      const args = { [SECRET]: 1, 'sk-zzzzzzzzzz': 2 };
      const error = await refusal(
        log()
          .as('worker')
          .append(id, appendOf(call(args))),
        'invalid_event',
      );
      expect(error.message).toContain('[key]');
      expect(error.message).not.toContain(SECRET);
      await refusal(
        log()
          .as('worker')
          .append(id, appendOf(call({ deep: [{ '[key]': 1, [SECRET]: 2 }] }))),
        'invalid_event',
      );
      expect(await readAll(log().as('worker'), id)).toHaveLength(1);
    });

    it('leaves other text alone', async () => {
      const id = await newSession(log());
      const args = { 'sk-short': 'sk-', nested: ['$&', '[key]'] };
      await log()
        .as('worker')
        .append(id, appendOf(call(args)));
      expect((await readAll(log().as('worker'), id))[1]?.payload).toMatchObject({ args });
    });
  });
}
