import { describe, expect, it } from '@jest/globals';
import { fnv1a32, partitionOf } from './partition.js';

describe('partitionOf', () => {
  // Published test vectors of FNV-1a 32: any client's own implementation must agree with them.
  it.each([
    ['', 0x811c9dc5],
    ['a', 0xe40c292c],
    ['b', 0xe70c2de5],
    ['foobar', 0xbf9cf968],
  ])('hashes %j to the published value', (text, hash) => {
    expect(fnv1a32(new TextEncoder().encode(text))).toBe(hash);
  });

  it('never places an id outside the partitions', () => {
    for (let i = 0; i < 1000; i++) {
      const partition = partitionOf(`session-${i}`, 7);
      expect(partition).toBeGreaterThanOrEqual(0);
      expect(partition).toBeLessThan(7);
    }
  });

  it('keeps the placement that stored sessions rely on', () => {
    expect(['s1', 'demo', 'agent-42', 'A_b-9'].map((id) => partitionOf(id, 16))).toMatchInlineSnapshot(`
     [
       9,
       6,
       7,
       7,
     ]
    `);
  });
});
