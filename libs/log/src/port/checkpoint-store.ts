/** Keeps small JSON documents by name: a service's checkpoints and snapshots. A cache: losing one costs a replay. */
export interface DocumentStore {
  load(name: string): Promise<unknown>;
  save(name: string, document: unknown): Promise<void>;
  delete(name: string): Promise<void>;
}
