/** The part of a process that shutdown touches; injected so that tests can play the signals. */
export interface ProcessLike {
  on(event: NodeJS.Signals, listener: () => void): unknown;
  off(event: NodeJS.Signals, listener: () => void): unknown;
  exit(code: number): void;
}

/** Something that can be stopped. */
export interface Stoppable {
  stop(): Promise<void>;
}

/** How a process ends. */
export interface ShutdownOptions {
  /** How long stopping may take before the process exits anyway. Default 30,000. */
  readonly deadline_ms?: number;
  readonly process?: ProcessLike;
  readonly onError?: (error: unknown) => void;
}

/**
 * Ends the process gracefully: SIGTERM or SIGINT stops `target` once and exits 0; a second signal exits at once with
 * 130; a stop that fails, or takes longer than the deadline, exits 1. Returns the same stop for other causes.
 */
export function stopOnSignals(target: Stoppable, options: ShutdownOptions = {}): (code?: number) => Promise<void> {
  const host: ProcessLike = options.process ?? process;
  let stopping: Promise<void> | undefined;

  const shutdown = async (code: number): Promise<void> => {
    const deadline = setTimeout(() => {
      options.onError?.(new Error(`stopping took longer than ${options.deadline_ms ?? 30_000} ms`));
      host.exit(1);
    }, options.deadline_ms ?? 30_000);
    try {
      await target.stop();
      host.exit(code);
    } catch (error) {
      options.onError?.(error);
      host.exit(1);
    } finally {
      clearTimeout(deadline);
    }
  };
  const onSignal = (): void => {
    if (stopping) host.exit(130);
    else stopping = shutdown(0);
  };
  host.on('SIGTERM', onSignal);
  host.on('SIGINT', onSignal);
  return (code = 0) => (stopping ??= shutdown(code));
}
