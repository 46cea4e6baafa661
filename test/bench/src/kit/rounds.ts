import { median } from './stats.js';

/** Ways of doing the same, by name; each call measures once. */
export type Contenders<Name extends string> = Readonly<Record<Name, () => Promise<number>>>;

/** What each contender measured, round by round. */
export type Samples<Name extends string> = Readonly<Record<Name, readonly number[]>>;

/** Measures all of them in turns, the order turning from round to round, after one round that does not count. */
export async function inTurns<Name extends string>(
  rounds: number,
  contenders: Contenders<Name>,
): Promise<Samples<Name>> {
  const names = Object.keys(contenders) as Name[];
  const samples = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (const name of names) await contenders[name]();
  for (let round = 0; round < rounds; round++) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      samples[name].push(await contenders[name]());
    }
  }
  return samples;
}

/**
 * Median of each round's ratio: the parts of a round ran under the same load, while the load of a shared machine
 * differs between rounds.
 */
export function ratioOf(values: readonly number[], baseline: readonly number[]): number {
  return median(values.map((value, i) => value / baseline[i]!));
}

/** Milliseconds that `action` takes. */
export async function timed(action: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await action();
  return performance.now() - begin;
}

/** Runs `action` without stack traces in errors: what makes an error per call in advance pays only for the object. */
export async function withoutStackTraces<T>(action: () => Promise<T>): Promise<T> {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return await action();
  } finally {
    Error.stackTraceLimit = limit;
  }
}
