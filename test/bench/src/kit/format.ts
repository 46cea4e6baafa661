/** Events a second, e.g. `12,300/s`. */
export function rate(perSecond: number): string {
  return `${count(Math.round(perSecond))}/s`;
}

/** Milliseconds with as many places as matter. */
export function milliseconds(value: number): string {
  return `${value.toFixed(value < 10 ? 3 : 1)} ms`;
}

/** A whole number in groups of three digits. */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}
