/** Source of an event's `at`. */
export type Timestamp = () => string;

/** How far the two clocks may drift apart before the wall clock is followed: small corrections must not turn time back. */
const DRIFT_MS = 500;

/**
 * Makes a source of times in UTC with microseconds, e.g. `2026-11-30T19:20:25.123456Z`. Microseconds come from the
 * monotonic clock, which knows nothing of corrections, and stands still while a machine sleeps: a process that lives
 * for weeks must not go on from the time of its start.
 *
 * @param wall milliseconds since 1970
 * @param monotonic milliseconds with a fraction
 */
export function timestamps(wall: () => number, monotonic: () => number): Timestamp {
  let offset = wall() - monotonic();
  let lastMillisecond = -1;
  let prefix = '';
  return () => {
    const elapsed = monotonic();
    const actual = wall();
    if (Math.abs(offset + elapsed - actual) > DRIFT_MS) offset = actual - elapsed;
    const now = offset + elapsed;
    const millisecond = Math.floor(now);
    if (millisecond !== lastMillisecond) {
      lastMillisecond = millisecond;
      prefix = new Date(millisecond).toISOString().slice(0, -1);
    }
    const microsecond = Math.floor((now - millisecond) * 1000);
    return `${prefix}${microsecond < 10 ? '00' : microsecond < 100 ? '0' : ''}${microsecond}Z`;
  };
}

/** Now, by this machine's clock. */
export const microsecondTimestamp: Timestamp = timestamps(Date.now, () => performance.now());
