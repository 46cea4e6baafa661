import type { ServiceName } from '@longrein/events';
import { type AppendRequest, type LogErrorCode, LogError } from '../port/index.js';

/** An append on its way, as a fault's `match` sees it. */
export interface AppendAttempt {
  readonly service: ServiceName;
  readonly id: string;
  readonly request: AppendRequest;
}

/** What goes wrong with one append. */
export interface AppendFault {
  /**
   * `before`: nothing is stored. `after`: everything is, only the answer is lost. A number: that many of the events
   * that would be stored are, as when the log's owner dies in the middle of a batch.
   */
  readonly at: 'before' | 'after' | number;
  /** The error the caller gets. Default `unavailable`. */
  readonly code?: LogErrorCode;
  /** Which append it hits; absent: the next one. */
  readonly match?: (attempt: AppendAttempt) => boolean;
}

/** Faults waiting for their append. Each hits once. */
export class Faults {
  readonly #pending: AppendFault[] = [];

  /** Makes the next matching append fail. Faults are taken in the order they were given. */
  failNextAppend(fault: AppendFault): void {
    this.#pending.push(fault);
  }

  /** Faults that have not hit yet. */
  get pending(): number {
    return this.#pending.length;
  }

  /** Takes the fault of this append, if it has one. */
  take(attempt: AppendAttempt): AppendFault | undefined {
    const at = this.#pending.findIndex(({ match }) => !match || match(attempt));
    return at < 0 ? undefined : this.#pending.splice(at, 1)[0];
  }
}

/** What the caller of a failed append sees. */
export function faultError({ at, code = 'unavailable' }: AppendFault): LogError {
  const outcome =
    at === 'before' ? 'nothing was stored' : at === 'after' ? 'it was stored' : `${at} events were stored`;
  return new LogError(code, `injected fault: no answer to the append; ${outcome}`);
}
