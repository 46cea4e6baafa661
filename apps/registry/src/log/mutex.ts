/** Runs jobs of one key one after another: replicas race, a replica does not race itself. */
export class Mutex {
  private readonly tails = new Map<string, Promise<unknown>>();

  /** Runs the job once every earlier job of the key is over, however it ended. */
  async run<Result>(key: string, job: () => Promise<Result>): Promise<Result> {
    const before = this.tails.get(key) ?? Promise.resolve();
    const result = before.then(job, job);
    const tail = result.then(
      () => undefined,
      () => undefined,
    );
    this.tails.set(key, tail);
    try {
      return await result;
    } finally {
      if (this.tails.get(key) === tail) this.tails.delete(key);
    }
  }
}
