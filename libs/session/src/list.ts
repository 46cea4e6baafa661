const WIDTH = 32;

/**
 * An append-only list as plain JSON: a tree of arrays, 32 wide. An append copies one path (at most 32 entries a level,
 * log32 of the length levels) and shares the rest, so states stay immutable and an append costs the same at any length.
 * The shape depends on the length alone: equal contents are deeply equal.
 */
export interface List<T> {
  readonly size: number;
  readonly depth: number;
  readonly root: ListNode<T>;
}

/** A leaf of items, or a branch of nodes one level down. */
export type ListNode<T> = readonly T[] | readonly ListNode<T>[];

/** A list of nothing. */
export function emptyList<T>(): List<T> {
  return { size: 0, depth: 1, root: [] };
}

/** The list with one more item at its end. */
export function push<T>(list: List<T>, item: T): List<T> {
  const full = list.size === WIDTH ** list.depth;
  const depth = full ? list.depth + 1 : list.depth;
  const root: ListNode<T> = full ? [list.root] : list.root;
  return { size: list.size + 1, depth, root: insert(root, depth, list.size, item) };
}

/** The items in order. */
export function toArray<T>(list: List<T>): T[] {
  let level: readonly unknown[] = list.root;
  for (let depth = list.depth; depth > 1; depth--) level = level.flat();
  return [...level] as T[];
}

function insert<T>(node: ListNode<T>, level: number, index: number, item: T): ListNode<T> {
  if (level === 1) return [...(node as readonly T[]), item];
  const children = [...(node as readonly ListNode<T>[])];
  const slot = Math.floor(index / WIDTH ** (level - 1)) % WIDTH;
  children[slot] = insert(children[slot] ?? [], level - 1, index, item);
  return children;
}
