import { Lru } from './lru.js';

/** A result that was given for a key. */
export interface StoredResult {
  readonly content: unknown;
}

/**
 * Where results are kept by idempotency key. Bring one that several processes share (a table, a KV bucket) to have a
 * call answered from the first execution's result after a restart, too.
 */
export interface DedupeStore {
  get(key: string): Promise<StoredResult | undefined>;
  /** Keeps a result. The call is answered after this resolves. */
  put(key: string, result: StoredResult): Promise<void>;
}

/** Keeps the results of the latest keys in this process's memory. */
export class MemoryDedupeStore implements DedupeStore {
  readonly #results: Lru<string, StoredResult>;

  /** `capacity`: how many keys are remembered. */
  constructor(capacity = 10_000) {
    this.#results = new Lru(capacity);
  }

  get(key: string): Promise<StoredResult | undefined> {
    return Promise.resolve(this.#results.get(key));
  }

  put(key: string, result: StoredResult): Promise<void> {
    this.#results.set(key, result);
    return Promise.resolve();
  }
}
