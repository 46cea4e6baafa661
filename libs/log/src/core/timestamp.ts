/** Source of an event's `at`. */
export type Timestamp = () => string;

let lastMillisecond = -1;
let prefix = '';

/** Now, in UTC with microseconds, e.g. `2026-11-30T19:20:25.123456Z`. */
export function microsecondTimestamp(): string {
  const now = performance.timeOrigin + performance.now();
  const millisecond = Math.floor(now);
  if (millisecond !== lastMillisecond) {
    lastMillisecond = millisecond;
    prefix = new Date(millisecond).toISOString().slice(0, -1);
  }
  const microsecond = Math.floor((now - millisecond) * 1000);
  return `${prefix}${microsecond < 10 ? '00' : microsecond < 100 ? '0' : ''}${microsecond}Z`;
}
