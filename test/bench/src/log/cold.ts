import type { BenchOptions, Row } from '../kit/bench.js';
import { count, milliseconds } from '../kit/format.js';
import { timed } from '../kit/rounds.js';
import { median } from '../kit/stats.js';
import { BUSY, type LogDeployment, QUIET } from './deployment.js';
import { type Writer, append, fill, writer } from './writers.js';

/** Events of each session that is read. */
const EVENTS = 200;
const OTHER_SESSIONS = 500;
const FILL_BATCH = 64;

/**
 * The first read of a 200-event session by a log process that has not seen it: of sessions that have a partition for
 * themselves, and of sessions whose events lie evenly spread among a million others.
 */
export async function coldRead(
  deployment: LogDeployment,
  { quick, progress }: BenchOptions,
): Promise<{ rows: Row[]; json: Record<string, number> }> {
  const [restarts, others] = quick ? [2, 50_000] : [4, 1_000_000];
  const { log } = deployment;
  const alone: Writer[] = [];
  const among: Writer[] = [];
  for (const partition of QUIET) {
    alone.push(await writer(log, 'alone', partition));
    among.push(await writer(log, `among-${partition}`));
  }
  const known = await writer(log, 'known');
  await fill(log, [known], EVENTS - 1, 1);
  for (const target of alone) await fill(log, [target], EVENTS - 1, 1);
  await spread(log, among, others, progress);

  const [aloneMs, amongMs]: [number[], number[]] = [[], []];
  for (let restart = 0; restart < restarts; restart++) {
    progress(`cold read: log process ${restart + 1} of ${restarts}`);
    await deployment.restartLog();
    // The process itself is not to be cold, only the sessions.
    for (let i = 0; i < 20; i++) await readWhole(log, known);
    for (let i = 0; i < alone.length; i++) {
      const quietFirst = (i + restart) % 2 === 0;
      if (quietFirst) aloneMs.push(await timed(() => readWhole(log, alone[i]!)));
      amongMs.push(await timed(() => readWhole(log, among[i]!)));
      if (!quietFirst) aloneMs.push(await timed(() => readWhole(log, alone[i]!)));
    }
  }
  const ratio = median(amongMs) / median(aloneMs);
  return {
    rows: [
      {
        what: `cold read of ${EVENTS} events among ${count(others)} others`,
        value: milliseconds(median(amongMs)),
        against: `${milliseconds(median(aloneMs))} alone`,
        ratio,
        goal: { most: 2 },
      },
    ],
    json: { cold_ratio: ratio },
  };
}

/** Fills the busy partition; after each share of the others comes one event of every session to be read. */
async function spread(
  log: LogDeployment['log'],
  targets: readonly Writer[],
  others: number,
  progress: (what: string) => void,
): Promise<void> {
  const crowd: Writer[] = [];
  for (let i = 0; i < OTHER_SESSIONS; i++) crowd.push(await writer(log, `other-${i}`, BUSY));
  const share = Math.ceil(others / (EVENTS - 1));
  for (let i = 1; i < EVENTS; i++) {
    if (i % 50 === 1) progress(`cold read: ${count((i - 1) * share)} of ${count(others)} other events`);
    await fill(log, crowd, share, FILL_BATCH);
    for (const target of targets) await append(log, target, 1);
  }
}

async function readWhole(log: LogDeployment['log'], target: Writer): Promise<void> {
  let events = 0;
  for await (const _ of log.readAll(target.id, { from_seq: 0 })) events++;
  if (events !== EVENTS) throw new Error(`${target.id}: ${events} events came, not ${EVENTS}`);
}
