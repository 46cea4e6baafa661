import type { ToolOutcome } from '../port/index.js';
import { failure } from '../core/index.js';

/** One call of a group has its outcome. */
export interface Completion<Call> {
  readonly call: Call;
  /** Position in the group. */
  readonly index: number;
  readonly outcome: ToolOutcome;
}

/** How a group runs. */
export interface GroupOptions {
  /** Most calls in flight at once. Default 8. `1` degrades a parallel group to one call after the other. */
  readonly limit?: number | undefined;
  /** Once aborted no further call starts; iteration throws the signal's reason when nothing is in flight any more. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a group's calls, started in order, and yields each outcome as soon as it is there: in completion order. A call
 * that throws gets an error outcome and leaves its siblings alone. A consumer that stops early starts no more calls.
 */
export async function* runGroup<Call>(
  group: readonly Call[],
  run: (call: Call) => Promise<ToolOutcome>,
  options: GroupOptions = {},
): AsyncGenerator<Completion<Call>, void, undefined> {
  const { signal } = options;
  const limit = Math.max(1, options.limit ?? 8);
  const inFlight = new Map<number, Promise<Completion<Call>>>();
  let next = 0;
  for (;;) {
    while (next < group.length && inFlight.size < limit && !signal?.aborted) {
      const index = next++;
      inFlight.set(index, settle(group[index] as Call, index, run));
    }
    if (inFlight.size === 0) break;
    const completion = await Promise.race(inFlight.values());
    inFlight.delete(completion.index);
    yield completion;
  }
  if (next < group.length) signal?.throwIfAborted();
}

async function settle<Call>(
  call: Call,
  index: number,
  run: (call: Call) => Promise<ToolOutcome>,
): Promise<Completion<Call>> {
  try {
    return { call, index, outcome: await run(call) };
  } catch (error) {
    return {
      call,
      index,
      outcome: failure(`The call failed: ${error instanceof Error ? error.message : String(error)}`),
    };
  }
}
