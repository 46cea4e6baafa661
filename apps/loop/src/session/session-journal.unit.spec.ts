import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@longrein/clock';
import { type AppendRequest, type AppendResult, LogError, Scrubber, type SessionLog } from '@longrein/log';
import { initialState } from '@longrein/session';
import { MemoryDeployment } from '../testing/memory-deployment.js';
import { SessionJournal } from './session-journal.js';
import { SessionLoader } from './session-loader.js';
import { TailChunk } from './tail-chunk.js';

/** A journal on a log whose answers to appends the test gives. */
async function journalOn(answers: readonly (AppendResult | LogError)[]) {
  const deployment = new MemoryDeployment();
  await deployment.as('gateway').create('s');
  const real = deployment.as('loop');
  const requests: AppendRequest[] = [];
  const append = async (_: string, request: AppendRequest): Promise<AppendResult> => {
    const answer = answers[requests.push(request) - 1]!;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const log = { append, read: real.read.bind(real) } as unknown as SessionLog;
  const loader = new SessionLoader(log, deployment.documents);
  const deps = { log, loader, scrubber: new Scrubber(), clock: systemClock, epoch: 1, changed: () => undefined };
  const journal = new SessionJournal('s', deps, initialState(), initialState());
  await journal.resync();
  return { journal, requests };
}

const said = {
  events: [{ type: 'assistant/message', payload: { parts: [{ type: 'text', text: 'hello' }] } }],
  expect: { seq: 0, none_of: [] },
} as const;
const stored = (seq: number): AppendResult => ({ seq, at: '2026-01-01T00:00:00.000Z', missed: [] });

describe('the end of a reply’s text before the reply', () => {
  it('is tried again as the same event, from where the first try looked, after an append without an answer', async () => {
    const { journal, requests } = await journalOn([new LogError('unavailable', 'no answer'), stored(2)]);
    const tail = new TailChunk('lo');
    await expect(journal.append(said, tail)).rejects.toThrow('no answer');
    await journal.resync();
    expect(await journal.append(said, tail)).toBe('stored');
    expect(requests[0]?.events.map(({ type }) => type)).toEqual(['assistant/chunk', 'assistant/message']);
    expect(requests[1]).toEqual(requests[0]);
    expect(journal.state.last_seq).toBe(2);
    expect(tail.events).toEqual([]);
  });

  it('is left out of the next try when the append was stored in part', async () => {
    const torn = new LogError('conflict', 'stored in part', { stored: [1], missed: [] });
    const { journal, requests } = await journalOn([torn, stored(3)]);
    const tail = new TailChunk('lo');
    expect(await journal.append(said, tail)).toBe('conflict');
    expect(await journal.append(said, tail)).toBe('stored');
    expect(requests[1]?.events.map(({ type }) => type)).toEqual(['assistant/message']);
  });

  it('is part of the next try when nothing was stored', async () => {
    const { journal, requests } = await journalOn([new LogError('conflict', 'a cancel', { missed: [] }), stored(2)]);
    const tail = new TailChunk('lo');
    expect(await journal.append(said, tail)).toBe('conflict');
    expect(await journal.append(said, tail)).toBe('stored');
    expect(requests[1]).toEqual(requests[0]);
  });
});
