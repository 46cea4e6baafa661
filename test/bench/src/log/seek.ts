import type { BenchOptions, Row } from '../kit/bench.js';
import { count, milliseconds } from '../kit/format.js';
import { type Samples, inTurns, ratioOf, timed } from '../kit/rounds.js';
import { median } from '../kit/stats.js';
import type { LogDeployment } from './deployment.js';
import { type Writer, fill, writer } from './writers.js';

/** How far before the session's end reading begins. */
const BEFORE_END = 5;

/** Time to the first event near the end of a short and of a long session. */
export async function seek(
  { log }: LogDeployment,
  { quick, progress }: BenchOptions,
): Promise<{ rows: Row[]; json: Record<string, number> }> {
  const [rounds, long] = quick ? [20, 20_000] : [60, 200_000];
  const short = 1_000;
  progress(`seek: sessions of ${count(short)} and ${count(long)} events`);
  const sessions = [await writer(log, 'seek-short'), await writer(log, 'seek-long')] as const;
  await fill(log, [sessions[0]], short - 1 - sessions[0].last, 1);
  await fill(log, [sessions[1]], long - 1 - sessions[1].last, 64);

  const against = (first: (target: Writer) => Promise<void>): Promise<Samples<'short' | 'long'>> =>
    inTurns(rounds, {
      short: () => timed(() => first(sessions[0])),
      long: () => timed(() => first(sessions[1])),
    });
  const row = (what: string, samples: Samples<'short' | 'long'>): Row & { ratio: number } => ({
    what: `first event ${what} of ${count(long)} events`,
    value: milliseconds(median(samples.long)),
    against: `${milliseconds(median(samples.short))} of ${count(short)}`,
    ratio: ratioOf(samples.long, samples.short),
  });
  const followed = await against((target) => {
    const ending = new AbortController();
    return first(log.follow(target.id, { from_seq: target.last - BEFORE_END, signal: ending.signal }), target);
  });
  const read = await against((target) => first(log.readAll(target.id, { from_seq: target.last - BEFORE_END }), target));
  const byFollow = row(`by follow from last - ${BEFORE_END}`, followed);
  const byRead = row(`by read from last - ${BEFORE_END}`, read);
  return {
    rows: [{ ...byFollow, goal: { most: 2 } }, byRead],
    json: { seek_ratio: byFollow.ratio, seek_read_ratio: byRead.ratio },
  };
}

async function first(events: AsyncIterable<{ seq: number }>, target: Writer): Promise<void> {
  for await (const { seq } of events) {
    if (seq !== target.last - BEFORE_END) throw new Error(`${target.id}: began with seq ${seq}`);
    return;
  }
  throw new Error(`${target.id}: nothing came`);
}
