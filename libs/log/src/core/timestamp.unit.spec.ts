import { expect, it } from '@jest/globals';
import { microsecondTimestamp } from './timestamp.js';

it('stamps UTC microseconds that never go back within a process (LOG-09)', () => {
  const stamps = Array.from({ length: 2000 }, () => microsecondTimestamp());
  for (const stamp of stamps) expect(stamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  expect([...stamps].sort()).toEqual(stamps);
  expect(Math.abs(Date.parse(stamps[0]!) - Date.now())).toBeLessThan(60_000);
});
