import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, BenchOptions, BenchResult } from '../kit/bench.js';
import { count, milliseconds, rate } from '../kit/format.js';
import { median, percentile, rounded } from '../kit/stats.js';
import { SocketDeployment } from './deployment.js';
import { Received, Tail } from './tails.js';
import { SessionWriter } from './writer.js';

const SOCKETS = 1_000;
const SESSIONS = 50;

/** Chunks that each session's writer sends in a second. */
const CHUNKS_PER_S = 4;

/** What the session with the slow reader streams: enough to fill what the kernel buffers for a socket in seconds. */
const [LOUD_BYTES, LOUD_PER_S] = [64 * 1024, 40];

/** Connections that are opened at a time. */
const OPENING = 20;

/** What a thousand tails cost the gateway, and that a slow reader does not slow another. */
export const socketsBench: Bench = {
  name: 'sockets',
  description: 'a thousand sockets that tail fifty streaming sessions, and a slow reader among fast ones',
  run,
};

async function run({ quick, progress }: BenchOptions): Promise<BenchResult> {
  const [warmUp, steady] = quick ? [5, 15] : [20, 40];
  const deployment = await SocketDeployment.start();
  const writers: SessionWriter[] = [];
  const tails: Tail[] = [];
  try {
    progress(`${SOCKETS} sockets on ${SESSIONS} sessions`);
    for (let i = 0; i < SESSIONS; i++) writers.push(await SessionWriter.create(deployment, `session-${i}`));
    const received = new Received();
    await inLanes(OPENING, SOCKETS, async (n) => {
      tails.push(await Tail.open(deployment.url, writers[n % SESSIONS]!.id, received, false));
    });
    for (const writer of writers) writer.stream(CHUNKS_PER_S, 200);
    await sleep(warmUp * 1000);

    progress(`memory over ${steady} s`);
    const events = received.events;
    const begin = performance.now();
    const memory = await sampled(steady, () => deployment.gatewayMemory());
    const delivered = ((received.events - events) * 1000) / (performance.now() - begin);
    const third = Math.floor(memory.length / 3);
    const [first, last] = [median(memory.slice(0, third)), median(memory.slice(-third))];

    progress('a fast reader alone');
    const loud = await SessionWriter.create(deployment, 'loud');
    const alone = new Received();
    const fast = await Tail.open(deployment.url, loud.id, alone, true);
    tails.push(fast);
    loud.stream(LOUD_PER_S, LOUD_BYTES);
    writers.push(loud);
    await sleep(Math.max(10_000, steady * 250));
    const delaysAlone = alone.delays.splice(0);

    progress('a fast reader beside a slow one');
    const slow = await Tail.open(deployment.url, loud.id, new Received(), false);
    tails.push(slow);
    await slow.stall();
    await sleep(Math.max(10_000, steady * 500));
    const delaysBeside = alone.delays.splice(0);
    // The connection is at its end by now: what was sent before it comes out, and the reason last.
    slow.resume();
    await Promise.race([slow.closed, sleep(30_000)]);
    if (slow.error !== 'lagged')
      throw new Error(`the slow reader was not dropped as lagged: ${slow.error ?? 'still there'}`);

    await Promise.all(writers.map((writer) => writer.stop()));
    const lost = tails.filter((tail) => tail !== slow && tail.isClosed).length;
    if (lost > 0) throw new Error(`${lost} of the other sockets were dropped`);
    const growth = last / first;
    const [p99, p99Slow] = [percentile(delaysAlone, 0.99), percentile(delaysBeside, 0.99)];
    const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
    return {
      conditions: [
        `nats-server ${deployment.nats.version}, Node ${process.version}. NATS, log and gateway are processes of their own; sockets and`,
        `writers are in the bench’s. Each of ${SESSIONS} sessions streams ${CHUNKS_PER_S} chunks of 200 bytes a second to ${SOCKETS / SESSIONS} sockets. Resident`,
        `memory of the gateway over ${steady} s after ${warmUp} s of the same: median of the last third against the first. Delay: from`,
        `before the append until received, of a session that streams ${LOUD_PER_S} chunks of ${LOUD_BYTES / 1024} KB a second beside the others,`,
        'without and with a second reader that reads nothing, until after it was dropped as lagged.',
      ],
      rows: [
        {
          what: `memory with ${count(SOCKETS)} sockets`,
          value: megabytes(last),
          against: `${megabytes(first)} before`,
          ratio: growth,
          goal: { most: 1.1 },
        },
        { what: 'events delivered', value: rate(delivered), against: `${rate(SOCKETS * CHUNKS_PER_S)} wanted` },
        {
          what: 'p99 delay beside a slow reader',
          value: milliseconds(p99Slow),
          against: `${milliseconds(p99)} without`,
          ratio: p99Slow / p99,
          goal: { most: 2 },
        },
      ],
      json: {
        rss_growth_ratio: rounded(growth),
        rss_mb: rounded(last / 1024 / 1024, 1),
        delivered_per_s: rounded(delivered),
        p99_ms: rounded(p99),
        p99_ms_with_slow_reader: rounded(p99Slow),
        sockets: SOCKETS,
        sessions: SESSIONS,
        nats_version: deployment.nats.version,
        quick: quick ? 1 : 0,
      },
    };
  } finally {
    await Promise.all(writers.map((writer) => writer.stop()));
    for (const tail of tails) tail.close();
    await deployment.stop();
  }
}

/** Samples twice a second for so many seconds. */
async function sampled(seconds: number, sample: () => Promise<number>): Promise<number[]> {
  const samples: number[] = [];
  const timer = setInterval(() => void sample().then((value) => samples.push(value)), 500);
  await sleep(seconds * 1000);
  clearInterval(timer);
  return samples;
}

async function inLanes(lanes: number, steps: number, step: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < steps) await step(next++);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
