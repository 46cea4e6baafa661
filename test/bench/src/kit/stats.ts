/** The value below which the share `p` (0 to 1) of the values lies, by nearest rank. Throws when there are none. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)];
  if (value === undefined) throw new RangeError('no values to take a percentile of');
  return value;
}

/** The middle value; of an even number the mean of the two in the middle. Throws when there are none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  if (low === undefined || high === undefined) throw new RangeError('no values to take a median of');
  return (low + high) / 2;
}

/** Rounded to `digits` places behind the point. */
export function rounded(value: number, digits = 3): number {
  return Number(value.toFixed(digits));
}
