import type { BenchOptions, Row } from '../kit/bench.js';
import { milliseconds } from '../kit/format.js';
import { timed } from '../kit/rounds.js';
import { percentile } from '../kit/stats.js';
import type { LogDeployment } from './deployment.js';
import type { PlainStream } from './plain.js';
import { storedBody } from './throughput.js';
import { append, writer } from './writers.js';

/** A single append against a single plain publish: one at a time, in turns, on the same connection. */
export async function latency(
  deployment: LogDeployment,
  plain: PlainStream,
  { quick, progress }: BenchOptions,
): Promise<{ rows: Row[]; json: Record<string, number> }> {
  const [warmUp, pairs] = quick ? [200, 800] : [1_000, 4_000];
  progress(`latency: ${pairs} single appends and plain publishes in turns`);
  const target = await writer(deployment.log, 'latency');
  const body = await storedBody(deployment, target, 1);
  const subject = plain.subject(target.id);
  const [appends, publishes]: [number[], number[]] = [[], []];
  for (let i = -warmUp; i < pairs; i++) {
    const publish = await timed(() => plain.publish(subject, body));
    const appended = await timed(() => append(deployment.log, target, 1));
    if (i < 0) continue;
    publishes.push(publish);
    appends.push(appended);
  }
  const row = (what: string, p: number): Row => ({
    what: `single append, ${what}`,
    value: milliseconds(percentile(appends, p)),
    against: `${milliseconds(percentile(publishes, p))} plain`,
    ratio: percentile(appends, p) / percentile(publishes, p),
  });
  const [p50, p99] = [row('p50', 0.5), row('p99', 0.99)];
  return {
    rows: [{ ...p50, goal: { most: 4 } }, p99],
    json: {
      append_p50_ratio: p50.ratio!,
      append_p99_ratio: p99.ratio!,
      append_p50_ms: percentile(appends, 0.5),
      publish_p50_ms: percentile(publishes, 0.5),
    },
  };
}
