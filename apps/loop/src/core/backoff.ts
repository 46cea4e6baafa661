/** Bounds of a growing delay, in milliseconds. */
export interface BackoffOptions {
  readonly base_ms: number;
  readonly cap_ms: number;
}

/** Exponential delay in whole milliseconds, half of it jittered: `attempt` from 0, `random` in [0, 1). */
export function backoff(attempt: number, { base_ms, cap_ms }: BackoffOptions, random: number): number {
  const ceiling = Math.min(cap_ms, base_ms * 2 ** Math.min(attempt, 30));
  return Math.round((ceiling / 2) * (1 + random));
}
