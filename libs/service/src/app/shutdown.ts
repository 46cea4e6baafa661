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
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/**
 * Two signals closer than this are one: under npm a Ctrl-C arrives twice, from the terminal and from npm, which passes
 * on what it gets itself.
 */
const SAME_SIGNAL_MS = 500;

/**
 * Ends the process gracefully: SIGTERM or SIGINT stops `target` once and exits 0; a second signal, half a second later or
 * more, exits at once with 130; a stop that fails, or takes longer than the deadline, exits 1. Returns the same stop for other causes.
 */
export function stopOnSignals(target: Stoppable, options: ShutdownOptions = {}): (code?: number) => Promise<void> {
  const host: ProcessLike = options.process ?? process;
  const now = options.now ?? (() => performance.now());
  let stopping: Promise<void> | undefined;
  let signalledAt = -Infinity;

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
    const at = now();
    if (!stopping) stopping = shutdown(0);
    else if (at - signalledAt >= SAME_SIGNAL_MS) host.exit(130);
    signalledAt = at;
  };
  host.on('SIGTERM', onSignal);
  host.on('SIGINT', onSignal);
  return (code = 0) => (stopping ??= shutdown(code));
}
