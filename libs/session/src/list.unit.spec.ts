import { describe, expect, it } from '@jest/globals';
import type { List } from './list.js';
import { emptyList, push, toArray } from './list.js';

const upTo = (length: number) => Array.from({ length }, (_, index) => index);
const listOf = (length: number) => upTo(length).reduce<List<number>>((list, item) => push(list, item), emptyList());

describe('a persistent list', () => {
  it.each([0, 1, 31, 32, 33, 1023, 1024, 1025, 33_000])('holds %i items in order, through JSON too', (length) => {
    const list = listOf(length);
    expect(list.size).toBe(length);
    expect(toArray(list)).toEqual(upTo(length));
    expect(toArray(JSON.parse(JSON.stringify(list)) as List<number>)).toEqual(upTo(length));
  });

  it('keeps every older version as it was', () => {
    const versions = upTo(1100).map(listOf);
    const branch = push(versions[40] ?? emptyList(), -1);
    expect(toArray(branch)).toEqual([...upTo(40), -1]);
    versions.forEach((list, length) => expect(toArray(list)).toHaveLength(length));
    expect(toArray(versions[41] ?? emptyList())).toEqual(upTo(41));
  });

  it('shares what an append does not touch', () => {
    const before = listOf(1000);
    const after = push(before, 1000);
    expect(after.root.slice(0, -1).every((node, index) => node === before.root[index])).toBe(true);
  });

  it('holds arrays as items', () => {
    expect(toArray(push(push(emptyList<number[]>(), [1]), [2]))).toEqual([[1], [2]]);
  });
});
