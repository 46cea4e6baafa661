import { z } from 'zod';

/** A whole number within bounds, written in decimal digits. */
export function integer(bounds: { min: number; max: number }): z.ZodType<number, string> {
  return z
    .string()
    .regex(/^-?\d{1,15}$/, 'must be a whole number')
    .transform(Number)
    .pipe(
      z.number().min(bounds.min, `must be at least ${bounds.min}`).max(bounds.max, `must be at most ${bounds.max}`),
    );
}

/** A TCP port; 0 takes any free one. */
export function port(): z.ZodType<number, string> {
  return integer({ min: 0, max: 65_535 });
}

/** A duration in milliseconds, at least 1, at most a day. */
export function milliseconds(): z.ZodType<number, string> {
  return integer({ min: 1, max: 86_400_000 });
}

/** `true`/`false`, also `1`/`0`, `yes`/`no`. */
export function flag(): z.ZodType<boolean, string> {
  return z
    .string()
    .toLowerCase()
    .pipe(z.enum(['true', 'false', '1', '0', 'yes', 'no']))
    .transform((value) => ['true', '1', 'yes'].includes(value));
}

/** A list separated by commas; blanks around its items do not count. */
export function list(): z.ZodType<string[], string> {
  return z.string().transform((value) =>
    value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  );
}
