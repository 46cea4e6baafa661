/** Pages fetched ahead at a time, and how long one is kept for whoever was expected to ask for it. */
const CAPACITY = 16;
const KEEP_MS = 1_000;

interface Ahead<Page> {
  readonly position: number;
  readonly page: Promise<Page | undefined>;
  readonly forget: NodeJS.Timeout;
}

/**
 * The next page of sessions that are being read page by page, one for each, fetched before it is asked for. What is
 * stored does not change, so a page that was fetched early is the page; one that failed is fetched again.
 */
export class ReadAhead<Page> {
  readonly #pages = new Map<string, Ahead<Page>>();

  /** The page of this session from this position on, if it was fetched: for one reader, once. */
  take(key: string, position: number): Promise<Page | undefined> | undefined {
    const ahead = this.#pages.get(key);
    if (ahead?.position !== position) return undefined;
    this.#drop(key, ahead);
    return ahead.page;
  }

  /** Fetches a page ahead, unless enough are. */
  put(key: string, position: number, fetch: () => Promise<Page>): void {
    const before = this.#pages.get(key);
    if (before) this.#drop(key, before);
    if (this.#pages.size >= CAPACITY) return;
    const page = fetch().catch(() => undefined);
    const forget = setTimeout(() => this.#pages.delete(key), KEEP_MS).unref();
    this.#pages.set(key, { position, page, forget });
  }

  #drop(key: string, { forget }: Ahead<Page>): void {
    clearTimeout(forget);
    this.#pages.delete(key);
  }
}
