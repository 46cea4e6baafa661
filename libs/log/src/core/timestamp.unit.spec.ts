import { expect, it } from '@jest/globals';
import { microsecondTimestamp, timestamps } from './timestamp.js';

it('stamps UTC microseconds that never go back within a process (LOG-09)', () => {
  const stamps = Array.from({ length: 2000 }, () => microsecondTimestamp());
  for (const stamp of stamps) expect(stamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  expect([...stamps].sort()).toEqual(stamps);
  expect(Math.abs(Date.parse(stamps[0]!) - Date.now())).toBeLessThan(60_000);
});

it('follows the wall clock when it was set, or when the machine slept, and no smaller correction', () => {
  const clocks = { wall: Date.UTC(2026, 0, 1), monotonic: 1_000.25 };
  const stamp = timestamps(
    () => clocks.wall,
    () => clocks.monotonic,
  );
  const pass = (wall: number, monotonic = wall): string => {
    clocks.wall += wall;
    clocks.monotonic += monotonic;
    return stamp();
  };
  expect(stamp()).toBe('2026-01-01T00:00:00.000000Z');
  expect(pass(0, 0.125)).toBe('2026-01-01T00:00:00.000125Z');
  expect(pass(-100, 0)).toBe('2026-01-01T00:00:00.000125Z');
  expect(pass(1_000)).toBe('2026-01-01T00:00:01.000125Z');
  expect(pass(8 * 3_600_000, 0)).toBe('2026-01-01T08:00:00.900000Z');
  expect(pass(-3_600_000, 0)).toBe('2026-01-01T07:00:00.900000Z');
  expect(pass(5)).toBe('2026-01-01T07:00:00.905000Z');
});
