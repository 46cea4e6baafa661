import { median } from './stats.js';

/** Two ways of doing the same, measured in turns. */
export interface Comparison {
  /** Medians over the rounds. */
  readonly subject: number;
  readonly baseline: number;
  /**
   * Median of each round's `subject / baseline`: both halves of a round ran under the same load, while the load of a
   * shared machine differs between rounds.
   */
  readonly ratio: number;
}

/** What is compared; each call measures once. */
export interface Contenders {
  readonly subject: () => Promise<number>;
  readonly baseline: () => Promise<number>;
}

/** Measures both in turns, the order changing from round to round, after one unmeasured round. */
export async function compare(rounds: number, { subject, baseline }: Contenders): Promise<Comparison> {
  await baseline();
  await subject();
  const subjects: number[] = [];
  const baselines: number[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) baselines.push(await baseline());
    subjects.push(await subject());
    if (round % 2 === 1) baselines.push(await baseline());
  }
  return {
    subject: median(subjects),
    baseline: median(baselines),
    ratio: median(subjects.map((value, i) => value / baselines[i]!)),
  };
}

/** Milliseconds that `action` takes. */
export async function timed(action: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await action();
  return performance.now() - begin;
}
