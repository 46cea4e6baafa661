import { describe, expect, it } from '@jest/globals';
import { VirtualClock } from '@longrein/testing';
import { saying, type Scripted } from '@longrein/testing/model-server';
import { failure, FORMATS, KEY, requestTo, withModel } from '../spec-kit/calls.js';
import { ModelError } from './errors.js';

const QUICK = { retry: { max_attempts: 3, base_ms: 100, max_delay_ms: 10_000, max_total_ms: 60_000 }, stall_ms: 5000 };

describe.each(FORMATS)('a failing %s server', (format) => {
  it.each<[status: number, code: string]>([
    [429, 'rate_limited'],
    [408, 'overloaded'],
    [409, 'overloaded'],
    [500, 'overloaded'],
    [503, 'overloaded'],
    [529, 'overloaded'],
  ])(
    'TRN-17: is asked again after %d, with growing jittered delay up to the cap, then the error is raised',
    (status, code) => {
      const clock = new VirtualClock();
      const fail: Scripted = { fail: { status, message: 'not now' } };
      return withModel(
        format,
        [fail, fail, fail],
        async ({ server, ask }) => {
          const asked = failure(ask());
          const delays: (number | undefined)[] = [];
          for (const attempt of [1, 2]) {
            await server.request(attempt - 1);
            await retryTimer(clock, asked);
            delays.push(clock.untilNext);
            await clock.next();
          }
          expect(await asked).toMatchObject({ code, status, retryable: true, attempts: 3 });
          expect((await asked).message).toContain('not now');
          expect(delays).toEqual([75, 150]);
          expect(server.requests).toHaveLength(3);
        },
        { config: QUICK, deps: { clock, random: () => 0.5 } },
      );
    },
  );

  it('waits as long as the provider asks', () => {
    const clock = new VirtualClock();
    const replies: Scripted[] = [{ fail: { status: 429, retry_after: 7 } }, saying('now')];
    return withModel(
      format,
      replies,
      async ({ ask }) => {
        const asked = ask();
        await retryTimer(clock, asked);
        expect(clock.untilNext).toBe(7000);
        await clock.next();
        expect((await asked).reply.parts).toEqual([{ type: 'text', text: 'now' }]);
      },
      { config: QUICK, deps: { clock } },
    );
  });

  it('is not waited for beyond the total time', () =>
    withModel(
      format,
      [{ fail: { status: 429, retry_after: 61 } }],
      async ({ ask }) =>
        expect(await failure(ask())).toMatchObject({ code: 'rate_limited', attempts: 1, retryAfterMs: 61_000 }),
      { config: QUICK },
    ));

  it.each<[status: number, code: string]>([
    [400, 'invalid_request'],
    [401, 'unauthorized'],
    [403, 'unauthorized'],
    [404, 'invalid_request'],
    [413, 'context_exceeded'],
    [422, 'invalid_request'],
  ])('TRN-17: is not asked again after %d', (status, code) =>
    withModel(format, [{ fail: { status, message: 'no' } }], async ({ server, ask }) => {
      expect(await failure(ask())).toMatchObject({ code, status, retryable: false, attempts: 1 });
      expect(server.requests).toHaveLength(1);
    }),
  );

  it('TRN-17: is not asked again once it has begun to answer, however it breaks off', async () => {
    const breaks: [Scripted, Partial<ModelError>][] = [
      [{ steps: [{ text: 'The' }, { wait: 'g' }, { cut: true }] }, { code: 'stream_cut' }],
      [{ steps: [{ text: 'The' }, { wait: 'g' }, { end: true }] }, { code: 'stream_cut' }],
      [
        { steps: [{ text: 'The' }, { wait: 'g' }, { error: { status: 529, message: 'Overloaded' } }] },
        { code: 'overloaded', status: 529 },
      ],
      [
        { steps: [{ text: 'The' }, { wait: 'g' }, { raw: 'event: content_block_delta\ndata: {"a":\n\n' }] },
        { code: 'bad_stream' },
      ],
      [{ steps: [{ text: 'The' }, { wait: 'g' }, { raw: chunk(7) }] }, { code: 'bad_stream' }],
    ];
    for (const [reply, expected] of breaks) {
      await withModel(format, [reply, saying('again')], async ({ server, models }) => {
        const stream = models.stream(requestTo(format), { signal: new AbortController().signal });
        expect(await stream.next()).toMatchObject({ value: { type: 'text', text: 'The' } });
        server.release('g');
        const error = await failure(stream.next());
        expect(error).toBeInstanceOf(ModelError);
        expect(error).toMatchObject({ ...expected, attempts: 1 });
        expect(server.requests).toHaveLength(1);
      });
    }
  });

  it.each<[string, Scripted]>([
    ['breaks the connection without an answer', { disconnect: true }],
    ['breaks off before it has said anything', { steps: [{ cut: true }] }],
    ['ends its answer before it has said anything', { steps: [{ end: true }] }],
    ['reports an error instead of saying anything', { steps: [{ error: { status: 529, message: 'Overloaded' } }] }],
  ])('is asked again when it %s', (_what, reply) => {
    const clock = new VirtualClock();
    return withModel(
      format,
      [reply, saying('again')],
      async ({ ask }) => {
        const asked = ask();
        await retryTimer(clock, asked);
        await clock.next();
        expect((await asked).reply.parts).toEqual([{ type: 'text', text: 'again' }]);
      },
      { config: QUICK, deps: { clock } },
    );
  });

  it('is unreachable: a connection error, with every attempt made', async () => {
    const retry = { max_attempts: 2, base_ms: 1, max_delay_ms: 1, max_total_ms: 1000 };
    await withModel(
      format,
      [],
      async ({ server, ask }) => {
        await server.stop();
        const error = await failure(ask());
        expect(error).toMatchObject({ code: 'connection', retryable: true, attempts: 2 });
        expect(error.message).toContain('ECONNREFUSED');
      },
      { config: { ...QUICK, retry } },
    );
  });

  it.each<[string, Scripted]>([
    ['before it answers', { silent: true }],
    ['in the middle of its answer', { steps: [{ text: 'The' }, { hang: true }] }],
  ])('is stalled when it falls silent %s; the connection is closed', (_when, reply) => {
    const clock = new VirtualClock();
    const retry = { ...QUICK.retry, max_attempts: 1 };
    return withModel(
      format,
      [reply],
      async ({ server, models }) => {
        const stream = models.stream(requestTo(format), { signal: new AbortController().signal });
        if ('steps' in reply) await stream.next();
        const failed = failure(stream.next());
        const { outcome } = await server.request(0);
        await clock.advance(5000);
        expect(await failed).toMatchObject({ code: 'stalled', retryable: true });
        expect(await outcome).toBe('disconnected');
        expect(clock.pending).toBe(0);
      },
      { config: { ...QUICK, retry }, deps: { clock } },
    );
  });

  it('is not stalled while it sends keep-alives, nor while the caller takes its time', () => {
    const clock = new VirtualClock();
    const steps = [{ text: 'a' }, { wait: 'g' }, { raw: ': keep-alive\n\n' }, { wait: 'h' }, { text: 'b' }];
    return withModel(
      format,
      [{ steps }],
      async ({ server, models }) => {
        const stream = models.stream(requestTo(format), { signal: new AbortController().signal });
        await stream.next();
        await clock.advance(60_000);
        const next = stream.next();
        await clock.whenPending();
        await clock.advance(4000);
        server.release('g');
        await server.reached('h');
        await restarted(clock, 1000);
        await clock.advance(4000);
        server.release('h');
        expect(await next).toMatchObject({ value: { type: 'text', text: 'b' } });
      },
      { config: QUICK, deps: { clock } },
    );
  });

  it.each<[string, Scripted]>([
    ['before it answers', { silent: true }],
    ['in the middle of its answer', { steps: [{ text: 'The' }, { hang: true }] }],
  ])('is left by an abort %s: the error is typed and the connection closed', (_when, reply) =>
    withModel(format, [reply], async ({ server, models }) => {
      const abort = new AbortController();
      const stream = models.stream(requestTo(format), { signal: abort.signal });
      if ('steps' in reply) await stream.next();
      const failed = failure(stream.next());
      const { outcome } = await server.request(0);
      abort.abort();
      expect(await failed).toMatchObject({ code: 'aborted', retryable: false });
      expect(await outcome).toBe('disconnected');
    }),
  );

  it('is left by an abort during the wait for another attempt', () => {
    const clock = new VirtualClock();
    return withModel(
      format,
      [{ fail: { status: 500 } }],
      async ({ server, ask }) => {
        const abort = new AbortController();
        const failed = failure(ask({}, abort.signal));
        await retryTimer(clock, failed);
        abort.abort();
        expect(await failed).toMatchObject({ code: 'aborted' });
        expect(server.requests).toHaveLength(1);
        expect(clock.pending).toBe(0);
      },
      { config: QUICK, deps: { clock } },
    );
  });

  it('is not asked at all when the signal has fired before', () =>
    withModel(format, [], async ({ server, ask }) => {
      expect(await failure(ask({}, AbortSignal.abort()))).toMatchObject({ code: 'aborted' });
      expect(server.requests).toHaveLength(0);
    }));

  it('sees the connection closed when the caller leaves the loop', () =>
    withModel(format, [{ steps: [{ text: 'The' }, { hang: true }] }], async ({ server, models }) => {
      for await (const delta of models.stream(requestTo(format), { signal: new AbortController().signal })) {
        expect(delta).toEqual({ type: 'text', text: 'The' });
        break;
      }
      expect(await server.requests[0]?.outcome).toBe('disconnected');
    }));

  it('is known by its status when its error is no document of its format', () =>
    withModel(format, [{ fail: { status: 413, body: '<html>too large</html>' } }], async ({ ask }) => {
      expect(await failure(ask())).toMatchObject({ code: 'context_exceeded', status: 413, attempts: 1 });
    }));

  it('never gets its key into a message', () =>
    withModel(
      format,
      [{ fail: { status: 401, message: `Incorrect API key provided: ${KEY}` } }],
      async ({ server, ask }) => {
        const error = await failure(ask());
        expect(JSON.stringify(server.requests[0]?.headers)).toContain(KEY);
        expect(error.message).toContain('Incorrect API key provided: ***');
        expect(JSON.stringify({ ...error, message: error.message, cause: String(error.cause) })).not.toContain(KEY);
      },
    ));
});

/** A chunk that is valid JSON and nothing of either format. */
function chunk(value: unknown): string {
  return `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":${JSON.stringify(value)},"choices":[{"delta":${JSON.stringify(value)}}]}\n\n`;
}

/** Settles when the wait for another attempt is the only timer left: the watchdog of the failed one is gone. */
async function retryTimer(clock: VirtualClock, asked: Promise<unknown>): Promise<void> {
  let settled = false;
  asked.then(
    () => (settled = true),
    () => (settled = true),
  );
  while (clock.untilNext === undefined || clock.untilNext === QUICK.stall_ms) {
    if (settled) throw new Error('the call ended without another attempt');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Settles when the watchdog has started over. */
async function restarted(clock: VirtualClock, before: number | undefined): Promise<void> {
  for (let turns = 0; clock.untilNext === before; turns++) {
    if (turns > 100_000) throw new Error('the watchdog did not start over');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
