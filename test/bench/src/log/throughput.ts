import type { BenchOptions, Goal, Row } from '../kit/bench.js';
import { rate } from '../kit/format.js';
import { type Comparison, compare } from '../kit/rounds.js';
import type { LogDeployment } from './deployment.js';
import type { PlainStream } from './plain.js';
import { type Writer, append, fill, writer } from './writers.js';

/** A body as the log stored it, for the plain side to publish the same number of bytes. */
export async function storedBody(deployment: LogDeployment, target: Writer, batch: number): Promise<string> {
  await append(deployment.log, target, batch);
  const { events } = await deployment.log.read(target.id, { from_seq: target.last });
  return JSON.stringify(events[0]);
}

const CASES: readonly { key: string; sessions: number; batch: number; goal?: Goal }[] = [
  { key: 'append_ratio_64', sessions: 64, batch: 1, goal: { least: 0.35 } },
  { key: 'append_ratio_64_batch8', sessions: 64, batch: 8, goal: { least: 0.75 } },
  { key: 'append_ratio_1', sessions: 1, batch: 1 },
  { key: 'append_ratio_1_batch8', sessions: 1, batch: 8 },
];

/** Appends a second through the log service against plain publishes a second. */
export async function throughput(
  deployment: LogDeployment,
  plain: PlainStream,
  { quick, progress }: BenchOptions,
): Promise<{ rows: Row[]; json: Record<string, number>; comparisons: Comparison[]; bodyBytes: number }> {
  const [rounds, events] = quick ? [2, 4_000] : [5, 12_000];
  const { log } = deployment;
  const rows: Row[] = [];
  const json: Record<string, number> = {};
  const comparisons: Comparison[] = [];
  let bodyBytes = 0;
  for (const { key, sessions, batch, goal } of CASES) {
    progress(`appends: ${sessions} sessions, ${batch} events an append`);
    const targets: Writer[] = [];
    for (let i = 0; i < sessions; i++) targets.push(await writer(log, `t${sessions}x${batch}-${i}`));
    const body = await storedBody(deployment, targets[0]!, batch);
    if (batch === 1) bodyBytes = Buffer.byteLength(body);
    const ids = targets.map(({ id }) => id);
    const comparison = await compare(rounds, {
      baseline: () => plain.rate(ids, body, events),
      subject: async () => {
        const begin = performance.now();
        await fill(log, targets, events, batch);
        return (events * 1000) / (performance.now() - begin);
      },
    });
    comparisons.push(comparison);
    json[key] = comparison.ratio;
    rows.push({
      what: `events a second, ${sessions === 1 ? '1 session' : `${sessions} sessions`}, ${batch === 1 ? '1 event' : `${batch} events`} an append`,
      value: rate(comparison.subject),
      against: `${rate(comparison.baseline)} plain`,
      ratio: comparison.ratio,
      ...(goal && { goal }),
    });
  }
  return { rows, json, comparisons, bodyBytes };
}
