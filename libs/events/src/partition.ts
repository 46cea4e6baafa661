/** Partitions of a new deployment. Fixed once the streams exist. */
export const DEFAULT_PARTITIONS = 16;

/** The most partitions a deployment can have: each costs a stream and, per service, a consumer. */
export const MAX_PARTITIONS = 1024;

const utf8 = new TextEncoder();

/** FNV-1a, 32 bits, over bytes. */
export function fnv1a32(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/**
 * The partition of a session or agent: FNV-1a 32 of the id's UTF-8 bytes, modulo the partition count. Part of the
 * public contract: a client in any language computes the same number.
 */
export function partitionOf(id: string, partitions: number): number {
  return fnv1a32(utf8.encode(id)) % partitions;
}
