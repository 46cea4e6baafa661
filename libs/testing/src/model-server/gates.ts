/** Named places at which replies stop until they are let on. */
export class Gates {
  readonly #permits = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #watchers = new Map<string, (() => void)[]>();

  /** Waits for a release, or until `abandoned` settles. A release that came before lets one waiter through at once. */
  async wait(name: string, abandoned: Promise<void>): Promise<void> {
    const permits = this.#permits.get(name) ?? 0;
    if (permits > 0) {
      this.#permits.set(name, permits - 1);
      return;
    }
    const released = new Promise<void>((resolve) => push(this.#waiting, name, resolve));
    for (const watcher of take(this.#watchers, name)) watcher();
    await Promise.race([released, abandoned]);
  }

  /** Lets the replies at the gate go on; with none there, the next one that comes. */
  release(name: string): void {
    const waiting = take(this.#waiting, name);
    if (waiting.length === 0) this.#permits.set(name, (this.#permits.get(name) ?? 0) + 1);
    for (const resolve of waiting) resolve();
  }

  /** Settles when a reply stands at the gate. */
  reached(name: string): Promise<void> {
    if ((this.#waiting.get(name)?.length ?? 0) > 0) return Promise.resolve();
    return new Promise((resolve) => push(this.#watchers, name, resolve));
  }
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  map.set(key, [...(map.get(key) ?? []), value]);
}

function take<T>(map: Map<string, T[]>, key: string): T[] {
  const values = map.get(key) ?? [];
  map.delete(key);
  return values;
}
