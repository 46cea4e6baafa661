import { isDeepStrictEqual } from 'node:util';
import type { EventEnvelope } from '@longrein/events';

/** The demo saw something that must not be. */
export class DemoFailed extends Error {
  override readonly name = 'DemoFailed';
}

/** Checks that two readings of a session are the same events, field by field. */
export function requireSame(seen: readonly EventEnvelope[], stored: readonly EventEnvelope[]): void {
  for (const [index, event] of stored.entries()) {
    if (!isDeepStrictEqual(seen[index], event)) {
      throw new DemoFailed(
        `the client saw ${JSON.stringify(seen[index])} where the log holds ${JSON.stringify(event)} (seq ${event.seq})`,
      );
    }
  }
  if (seen.length > stored.length) {
    throw new DemoFailed(`the client saw ${seen.length} events, the log holds ${stored.length}`);
  }
}

/**
 * Checks that the story is the demo's: two completed turns, one call of the tool with its result, and an answer that
 * went on after the connection was lost.
 *
 * @param held how many events the client held when the connection was killed
 */
export function requireWhole(seen: readonly EventEnvelope[], held: number): void {
  const ends = seen
    .filter(({ type }) => type === 'turn/end')
    .map(({ payload }) => (payload as { status: string }).status);
  require(ends.join() ===
    'completed,completed', `the turns should have completed twice, they ended: ${ends.join(', ')}`);
  const results = seen.filter(({ type }) => type === 'tool/result').map(({ payload }) => payload as { error: unknown });
  require(results.length === 1, `the tool should have been called once, its results are ${JSON.stringify(results)}`);
  require(results[0]?.error === null, `the tool should have answered, it failed: ${JSON.stringify(results[0])}`);
  const after = seen.slice(held).filter(({ type }) => type === 'assistant/chunk').length;
  require(after > 0, 'the answer should have gone on after the connection was killed');
}

function require(holds: boolean, otherwise: string): void {
  if (!holds) throw new DemoFailed(otherwise);
}
