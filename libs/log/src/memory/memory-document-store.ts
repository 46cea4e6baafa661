import type { DocumentStore } from '../port/index.js';

/** A `DocumentStore` of one process. Keeps documents as JSON text, so that what is loaded is never what was saved. */
export class MemoryDocumentStore implements DocumentStore {
  readonly #documents = new Map<string, string>();

  async load(name: string): Promise<unknown> {
    const text = this.#documents.get(name);
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  }

  async save(name: string, document: unknown): Promise<void> {
    const text: string | undefined = JSON.stringify(document);
    if (text === undefined) throw new TypeError(`document ${name} is ${typeof document}, which JSON cannot hold`);
    this.#documents.set(name, text);
  }

  async delete(name: string): Promise<void> {
    this.#documents.delete(name);
  }
}
