import { type SessionLog, SessionStates, isLogError } from '@longrein/log';
import { openTurn, pendingApprovals } from '@longrein/session';
import { decideVerdict } from './decide-verdict.js';
import type { Pending, ResolveRequest, Resolved } from './requests.js';

/** Longer than this no request is worked on, so that whoever asks hears it before giving up. */
const DEADLINE = { deadline_ms: 4_000 } as const;

/**
 * Verdicts on calls that wait for one. Keeps nothing but a cache: requests and verdicts are in the log, so that a restart
 * forgets none, and a call waits until someone decides, however long that takes.
 */
export class Approvals {
  readonly #states: SessionStates;

  constructor(private readonly log: Pick<SessionLog, 'read' | 'append'>) {
    this.#states = new SessionStates(log, DEADLINE);
  }

  /**
   * Appends the verdict, decided on the open turn as it stands when it lands: of two that race one is taken. The same
   * verdict on the same `request_seq` again is the same append. Rejects with `StaleCall` or `LogError`.
   */
  async resolve(verdict: ResolveRequest): Promise<Resolved> {
    const { session_id, call_id } = verdict;
    for (;;) {
      const decision = decideVerdict(await this.#states.current(session_id), verdict);
      if ('resolved' in decision) return decision.resolved;
      const { request, append } = decision;
      try {
        const { seq } = await this.log.append(session_id, append, DEADLINE);
        return { call_id, request_seq: request.request_seq, verdict: verdict.verdict, seq };
      } catch (error) {
        // Another verdict, a cancel or the turn's end came first: decide on what is there now.
        if (!isLogError(error, 'conflict')) throw error;
      }
    }
  }

  /** Requests of the open turn without a verdict, from the log. Rejects with `unknown_session`. */
  async pending(sessionId: string): Promise<Pending> {
    const state = await this.#states.current(sessionId);
    return {
      session_id: sessionId,
      turn_id: openTurn(state)?.turn_id ?? null,
      pending: pendingApprovals(state).map(({ request_seq, call_id, call_seq, name, args }) => ({
        request_seq,
        call_id,
        call_seq,
        name,
        args,
      })),
    };
  }
}
