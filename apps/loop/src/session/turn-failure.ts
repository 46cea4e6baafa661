import {
  type FailureDecision,
  type Refusal,
  decideFailure,
  decideHandover,
  decideTurnRefused,
  startableInput,
} from '@longrein/session';
import { type ActorDeps, RESUME_TRIES } from './actor-deps.js';
import type { SessionView } from './session-view.js';

/** Longest reason that an event takes, in characters. */
const MAX_REASON = 4096;

/** How a failure left the turn: closed (or never opened), or given back to be tried again. */
export type Failed = 'closed' | 'given_back';

/**
 * Logs that the turn failed. A turn that was resumed is not closed, because it owes what an outage must not strand: it
 * is given back, to be tried again after a delay, and stalls when that has failed too often.
 */
export async function failTurn(
  session: SessionView,
  { epoch }: Pick<ActorDeps, 'epoch'>,
  failure: { readonly reason: string; readonly failed_tries: number },
): Promise<Failed> {
  const reason = failure.reason.slice(0, MAX_REASON).toWellFormed();
  for (;;) {
    const { turn } = session.state;
    if (turn === null) {
      await refuseTurn(session, reason);
      return 'closed';
    }
    const resumed = Object.values(turn.resumes).some((count) => count > 0);
    if (resumed && turn.cancel === null && failure.failed_tries < RESUME_TRIES) {
      const given = { epoch, reason: `the resume failed: ${reason}`.slice(0, MAX_REASON) };
      const decision = decideHandover(session.state, given);
      if (decision.kind === 'append' && (await session.append(decision.append)) === 'stored') return 'given_back';
      continue;
    }
    const decision: FailureDecision | Refusal = decideFailure(session.state, { reason });
    if (decision.kind === 'refused') return 'closed';
    if ((await session.append(decision.append)) === 'stored' && decision.closes) return 'closed';
  }
}

/** A new turn does not begin on a fold that differs from the log: it fails, and says in what. */
export async function refuseDifference(
  session: SessionView,
  { logger }: Pick<ActorDeps, 'logger'>,
  difference: string,
): Promise<void> {
  const reason = `the running fold of the session differs from its log in: ${difference}`;
  logger.error({ session_id: session.sessionId, difference }, reason);
  await refuseTurn(session, reason);
}

/** Starts and fails the turn that the oldest startable input asks for, so that the log says why nothing came of it. */
export async function refuseTurn(session: SessionView, reason: string): Promise<void> {
  const input = startableInput(session.state);
  if (!input) return;
  const close = { input_id: input.input_id, status: 'failed' as const, reason: reason.slice(0, MAX_REASON) };
  const decision = decideTurnRefused(session.state, session.context(), close);
  if (decision.kind === 'append') await session.append(decision.append);
}
