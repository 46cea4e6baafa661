import type { BenchOptions, Goal, Row } from '../kit/bench.js';
import { rate } from '../kit/format.js';
import { inTurns, ratioOf, withoutStackTraces } from '../kit/rounds.js';
import { median } from '../kit/stats.js';
import type { LogDeployment } from './deployment.js';
import type { PlainStream } from './plain.js';
import { type Writer, append, fill, writer } from './writers.js';

/** A body as the log stored it, for the plain side to publish the same number of bytes. */
export async function storedBody(deployment: LogDeployment, target: Writer, batch: number): Promise<string> {
  await append(deployment.log, target, batch);
  const { events } = await deployment.log.read(target.id, { from_seq: target.last });
  return JSON.stringify(events[0]);
}

const WARM_UP = 20_000;

const CASES: readonly { key: string; sessions: number; batch: number; goal?: Goal }[] = [
  { key: 'append_ratio_64', sessions: 64, batch: 1, goal: { least: 0.35 } },
  { key: 'append_ratio_64_batch8', sessions: 64, batch: 8, goal: { least: 0.75 } },
  { key: 'append_ratio_1', sessions: 1, batch: 1 },
  { key: 'append_ratio_1_batch8', sessions: 1, batch: 8 },
];

/** Lets both processes compile what they are about to run: a fresh one takes some ten thousand events for it. */
async function warmUp({ log }: LogDeployment, plain: PlainStream, progress: BenchOptions['progress']): Promise<void> {
  progress('warming up');
  const targets: Writer[] = [];
  for (let i = 0; i < 64; i++) targets.push(await writer(log, `warm-${i}`));
  const ids = targets.map(({ id }) => id);
  for (const batch of [1, 8]) {
    await fill(log, targets, WARM_UP, batch);
    await plain.rate(ids, '{}', WARM_UP);
    await plain.bareRate(ids, '{}', WARM_UP);
  }
}

/** Appends a second through the log service against plain publishes a second. */
export async function throughput(
  deployment: LogDeployment,
  plain: PlainStream,
  { quick, progress }: BenchOptions,
): Promise<{ rows: Row[]; json: Record<string, number>; bodyBytes: number }> {
  const [rounds, events] = quick ? [3, 4_000] : [7, 12_000];
  const { log } = deployment;
  await warmUp(deployment, plain, progress);
  const rows: Row[] = [];
  const json: Record<string, number> = {};
  let bodyBytes = 0;
  for (const { key, sessions, batch, goal } of CASES) {
    progress(`appends: ${sessions} sessions, ${batch} events an append`);
    const targets: Writer[] = [];
    for (let i = 0; i < sessions; i++) targets.push(await writer(log, `t${sessions}x${batch}-${i}`));
    const body = await storedBody(deployment, targets[0]!, batch);
    if (batch === 1) bodyBytes = Buffer.byteLength(body);
    const ids = targets.map(({ id }) => id);
    const samples = await inTurns(rounds, {
      plain: () => plain.rate(ids, body, events),
      lean: () => withoutStackTraces(() => plain.rate(ids, body, events)),
      bare: () => plain.bareRate(ids, body, events),
      log: async () => {
        const begin = performance.now();
        await fill(log, targets, events, batch);
        return (events * 1000) / (performance.now() - begin);
      },
    });
    const ratio = ratioOf(samples.log, samples.plain);
    json[key] = ratio;
    json[`lean_${key}`] = ratioOf(samples.log, samples.lean);
    json[`bare_${key}`] = ratioOf(samples.log, samples.bare);
    const what = `events a second, ${sessions} ${sessions === 1 ? 'session' : 'sessions'}, ${batch} an append`;
    rows.push({
      what,
      value: rate(median(samples.log)),
      against: `${rate(median(samples.plain))} plain`,
      ratio,
      ...(goal && { goal }),
    });
    for (const side of ['lean', 'bare'] as const) {
      const against = `${rate(median(samples[side]))} ${side}`;
      rows.push({ what: '', value: '', against, ratio: ratioOf(samples.log, samples[side]) });
    }
  }
  return { rows, json, bodyBytes };
}
