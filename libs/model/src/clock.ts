/** Time as model calls use it, so that tests can hold it. */
export interface Clock {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Calls `callback` once after so many milliseconds, unless the returned function is called first. */
  after(milliseconds: number, callback: () => void): () => void;
}

/** The process's own clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};
