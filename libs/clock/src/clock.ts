/** Stops a timer that has not fired; does nothing afterwards. */
export type Cancel = () => void;

/**
 * Time as a dependency. Code that waits takes a clock, so that tests decide when time passes
 * (`VirtualClock` in `@longrein/testing`) and production uses `systemClock`.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls `run` once, `ms` milliseconds from now (0 or less: as soon as possible, never synchronously). */
  setTimeout(run: () => void, ms: number): Cancel;
  /** Resolves after `ms` milliseconds; rejects with `signal.reason` when `signal` aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
