import { describe, expect, it } from '@jest/globals';
import { Scrubber } from '@longrein/log';
import { type ModelDelta, ModelError, type ModelPort, type ModelRequest } from '@longrein/model';
import { VirtualClock } from '@longrein/testing';
import { Gate } from '../testing/gate.js';
import { CHUNK_MS, streamStep } from './step-stream.js';

const request: ModelRequest = { model: 'test/model', messages: [], tools: [] };
const done: ModelDelta = { type: 'done', parts: [], stop_reason: 'end' };
const text = (words: string): ModelDelta => ({ type: 'text', text: words });

/** A model that yields what the test pushes. */
function model(script: () => AsyncGenerator<ModelDelta>): ModelPort {
  return { stream: script };
}

describe('streaming a step', () => {
  it('sends text that has waited for 100 ms, and what comes after it later', async () => {
    const clock = new VirtualClock();
    const sent: string[] = [];
    const more = new Gate();
    const port = model(async function* () {
      yield text('Hel');
      yield text('lo');
      await more.opened;
      yield text(' world');
      yield done;
    });
    const send = async (chunk: string): Promise<void> => void sent.push(chunk);
    const step = streamStep(
      { model: port, scrubber: new Scrubber(), clock, send },
      request,
      new AbortController().signal,
    );
    await clock.whenPending();
    await clock.advance(CHUNK_MS - 1);
    expect(sent).toEqual([]);
    await clock.advance(1);
    expect(sent).toEqual(['Hello']);
    more.open();
    expect((await step).tail).toBe(' world');
    expect(sent).toEqual(['Hello']);
    expect(clock.pending).toBe(0);
  });

  it('never joins text across a tool call, and leaves the end to go with the answer', async () => {
    const sent: string[] = [];
    const port = model(async function* () {
      yield text('before');
      yield { type: 'tool_call', id: 'c', name: 'a' };
      yield text('after');
      yield done;
    });
    const send = async (chunk: string): Promise<void> => void sent.push(chunk);
    const clock = new VirtualClock();
    const { tail } = await streamStep(
      { model: port, scrubber: new Scrubber(), clock, send },
      request,
      new AbortController().signal,
    );
    expect({ sent, tail }).toEqual({ sent: ['before'], tail: 'after' });
    expect(clock.pending).toBe(0);
  });

  it('sends the text before a tool call although nothing follows, once it has waited for 100 ms', async () => {
    const sent: string[] = [];
    const more = new Gate();
    const port = model(async function* () {
      yield text('before');
      yield { type: 'tool_call', id: 'c', name: 'a' };
      await more.opened;
      yield done;
    });
    const clock = new VirtualClock();
    const send = async (chunk: string): Promise<void> => void sent.push(chunk);
    const step = streamStep(
      { model: port, scrubber: new Scrubber(), clock, send },
      request,
      new AbortController().signal,
    );
    await clock.whenPending();
    await clock.advance(CHUNK_MS);
    expect(sent).toEqual(['before']);
    more.open();
    expect((await step).tail).toBe('');
  });

  it('sends an end that is too long to go with the answer', async () => {
    const sent: string[] = [];
    const port = model(async function* () {
      yield text('first');
      yield text('x'.repeat(5_000));
      yield done;
    });
    const send = async (chunk: string): Promise<void> => {
      await Promise.resolve();
      sent.push(chunk);
    };
    const deps = { model: port, scrubber: new Scrubber(), clock: new VirtualClock(), send };
    const { tail } = await streamStep(deps, request, new AbortController().signal);
    expect(sent.join('') + tail).toBe(`first${'x'.repeat(5_000)}`);
    expect(tail.length).toBeLessThan(4_097);
  });

  it('has one chunk under way at a time; what arrives meanwhile goes into the next', async () => {
    const sent: string[] = [];
    const release = new Gate();
    const port = model(async function* () {
      for (let index = 0; index < 5; index++) yield text('x'.repeat(300));
      release.open();
      yield done;
    });
    const send = (chunk: string): Promise<void> => {
      sent.push(chunk);
      return release.opened;
    };
    await streamStep(
      { model: port, scrubber: new Scrubber(), clock: new VirtualClock(), send },
      request,
      new AbortController().signal,
    );
    expect(sent.map((chunk) => chunk.length)).toEqual([300, 1200]);
  });

  it('throws what the model throws, and a stream without an end is an error', async () => {
    const deps = { scrubber: new Scrubber(), clock: new VirtualClock(), send: async () => undefined };
    const failing = model(async function* () {
      yield text('half');
      throw new ModelError('bad_stream', 'nonsense', false);
    });
    const silent = model(async function* () {
      yield text('half');
    });
    const { signal } = new AbortController();
    await expect(streamStep({ ...deps, model: failing }, request, signal)).rejects.toThrow('nonsense');
    await expect(streamStep({ ...deps, model: silent }, request, signal)).rejects.toMatchObject({ code: 'stream_cut' });
    expect(deps.clock.pending).toBe(0);
  });

  it('throws what the log throws', async () => {
    const port = model(async function* () {
      yield text('x'.repeat(1000));
      yield done;
    });
    const send = () => Promise.reject(new Error('fenced'));
    const deps = { model: port, scrubber: new Scrubber(), clock: new VirtualClock(), send };
    await expect(streamStep(deps, request, new AbortController().signal)).rejects.toThrow('fenced');
  });
});
