import type { Clock } from './clock.js';
import { sleepOn } from './sleep.js';

/** Longest delay `setTimeout` of the runtime can hold; a longer one fires at once there, so it is cut in pieces here. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The machine's own clock. Its timers keep the process alive until they fire or are cancelled. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout(run, ms) {
    let timer: ReturnType<typeof setTimeout>;
    const arm = (left: number): void => {
      timer = setTimeout(() => (left > MAX_DELAY_MS ? arm(left - MAX_DELAY_MS) : run()), Math.min(left, MAX_DELAY_MS));
    };
    arm(ms);
    return () => clearTimeout(timer);
  },
  sleep: (ms, signal) => sleepOn(systemClock, ms, signal),
};
