import { expect, it } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { LogError } from '../port/index.js';
import { SessionWalk } from './session-walk.js';
import type { StoredMessage, StreamApi } from './stream-api.js';

/** Fact `ordinal` of a session that is alone in its stream. */
function stored(ordinal: number): StoredMessage {
  const sixteenth = Math.floor((ordinal - 1) / 16) * 16;
  const headers: Record<string, string> = {
    'Lr-Seq': String(ordinal),
    'Lr-Ord': String(ordinal),
    ...(ordinal > 0 ? { 'Lr-Prev': String(ordinal), 'Lr-Prev-Fact': String(ordinal) } : {}),
    ...(ordinal > 0 ? { 'Lr-F16': String(sixteenth + 1) } : {}),
  };
  const header = (name: string): string | undefined => headers[name];
  return { sequence: ordinal + 1, subject: 'sessions.0.s.fact.input', header, data: Buffer.alloc(0) };
}

it('fails once, and nowhere else, when the stream stops answering in the middle of a walk', async () => {
  for (let failing = 0; failing < 100; failing += 7) {
    const api = {
      get: () => Promise.resolve(stored(99)),
      getStored: async (_: string, sequence: number): Promise<StoredMessage> => {
        await setImmediate();
        if (sequence <= failing) throw new LogError('unavailable', 'silent');
        return stored(sequence - 1);
      },
    } as unknown as StreamApi;
    const walk = await SessionWalk.begin(api, 'sessions', 0, 's');
    const outcome = await walk!.range(0, walk!.tip, false).catch((error: unknown) => error);
    if (failing === 0) expect(outcome).toHaveLength(100);
    else expect(outcome).toBeInstanceOf(LogError);
    // Rejections that nobody handles are told at the end of a turn, and fail this test.
    for (let turn = 0; turn < 40; turn++) await setImmediate();
  }
});
