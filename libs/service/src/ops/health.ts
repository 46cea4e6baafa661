/** What a check knows right now. */
export interface CheckResult {
  readonly ok: boolean;
  /** For people: why not, or how much. */
  readonly detail?: string;
}

/** Answers from memory at once: no I/O, so that a probe never waits for the thing it reports on. */
export type Check = () => CheckResult;

/** All checks together. */
export interface HealthReport {
  readonly ok: boolean;
  readonly checks: Readonly<Record<string, CheckResult>>;
}

/**
 * The facts behind `/healthz` and `/readyz`. Ready: may be sent work. Alive: restarting would not help. A service that
 * waits for its broker is alive and not ready.
 */
export class Health {
  private readonly readiness = new Map<string, Check>();
  private readonly liveness = new Map<string, Check>();
  private stopping = false;

  /** Adds or replaces a condition of readiness. */
  readyWhen(name: string, check: Check): void {
    this.readiness.set(name, check);
  }

  /** Adds or replaces a condition of liveness: only what a restart repairs. */
  aliveWhen(name: string, check: Check): void {
    this.liveness.set(name, check);
  }

  /** From now on not ready: the service is going away. */
  beginStop(): void {
    this.stopping = true;
  }

  ready(): HealthReport {
    const report = evaluate(this.readiness);
    if (!this.stopping) return report;
    return { ok: false, checks: { ...report.checks, stopping: { ok: false, detail: 'the service is stopping' } } };
  }

  alive(): HealthReport {
    return evaluate(this.liveness);
  }
}

function evaluate(checks: ReadonlyMap<string, Check>): HealthReport {
  const results: Record<string, CheckResult> = {};
  for (const [name, check] of checks) results[name] = guarded(check);
  return { ok: Object.values(results).every(({ ok }) => ok), checks: results };
}

function guarded(check: Check): CheckResult {
  try {
    return check();
  } catch (error) {
    return { ok: false, detail: `the check failed: ${(error as Error).message}` };
  }
}
