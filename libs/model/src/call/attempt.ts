import type { Clock } from '@longrein/clock';
import { ModelError } from '../errors.js';
import type { ModelDelta, ModelRequest } from '../port.js';
import type { Provider } from './provider.js';
import { Watchdog } from './watchdog.js';

/** What one attempt needs besides its provider. */
export interface AttemptOptions {
  readonly request: ModelRequest;
  /** The model's name at the provider. */
  readonly model: string;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Milliseconds without anything from the provider after which the attempt is `stalled`. */
  readonly stallMs: number;
}

/**
 * One attempt: exactly one `done` at the end or a `ModelError`, and never a connection left open. Time the caller takes
 * between deltas does not count as the provider's silence.
 */
export async function* attempt(provider: Provider, options: AttemptOptions): AsyncGenerator<ModelDelta> {
  const { request, model, signal, clock, stallMs } = options;
  if (signal.aborted) throw aborted();
  const connection = new AbortController();
  const onAbort = (): void => connection.abort();
  let stalled = false;
  const watchdog = new Watchdog(clock, stallMs, () => {
    stalled = true;
    connection.abort();
  });
  signal.addEventListener('abort', onAbort, { once: true });
  let done = false;
  try {
    watchdog.watch();
    const activity = (): void => watchdog.touch();
    for await (const delta of provider.attempt({ request, model, signal: connection.signal, activity })) {
      watchdog.rest();
      done = delta.type === 'done';
      yield delta;
      if (signal.aborted || done) break;
      watchdog.watch();
    }
  } catch (error) {
    if (!signal.aborted && !stalled) throw provider.explain(error);
  } finally {
    watchdog.rest();
    signal.removeEventListener('abort', onAbort);
    connection.abort();
  }
  if (done) return;
  if (signal.aborted) throw aborted();
  if (stalled) throw new ModelError('stalled', `${provider.name} sent nothing for ${stallMs} ms`, true);
  throw new ModelError('stream_cut', `${provider.name} ended its answer before it was complete`, true);
}

/** The error of a call whose caller gave up. */
export function aborted(): ModelError {
  return new ModelError('aborted', 'the model call was aborted', false);
}
