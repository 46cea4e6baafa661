import { hooks } from '../hooks.js';
import { ChildProcess, type ChildOptions } from './child-process.js';

/** Starts processes that are killed after each test, also when it failed. */
export interface Processes {
  start(options: ChildOptions): ChildProcess;
}

/** Registers the clean-up with the surrounding `describe` block (or file). */
export function withProcesses(): Processes {
  const running: ChildProcess[] = [];
  hooks().afterEach(async () => {
    await Promise.all(running.splice(0).map((child) => child.kill()));
  });
  return {
    start: (options) => {
      const child = ChildProcess.start(options);
      running.push(child);
      return child;
    },
  };
}
