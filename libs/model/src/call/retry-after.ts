/** Reads how long a provider asks to wait, in milliseconds: `retry-after-ms`, else `retry-after` in seconds or as a date. */
export function retryAfterMs(headers: Headers | undefined, now: () => number): number | undefined {
  const exact = positive(headers?.get('retry-after-ms'), 1);
  if (exact !== undefined) return exact;
  const value = headers?.get('retry-after');
  const seconds = positive(value, 1000);
  if (seconds !== undefined) return seconds;
  const at = value ? Date.parse(value) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now());
}

function positive(value: string | null | undefined, factor: number): number | undefined {
  if (!value?.trim()) return undefined;
  const number = Number(value);
  return Number.isFinite(number) && number >= 0 ? Math.ceil(number * factor) : undefined;
}
