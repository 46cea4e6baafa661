import { createHash, randomUUID } from 'node:crypto';
import type { ModelRole } from '@longrein/events';
import { LOOKBACK, LogError, type SessionLog, type SessionStates, isLogError } from '@longrein/log';
import { isConfigured, openTurn } from '@longrein/session';
import { FrameError } from '../protocol/server-frames.js';
import type { PolicyService } from '../services/policies.js';
import type { RegistryService } from '../services/registry.js';
import type { ClientVerdict, VerdictService } from '../services/verdicts.js';

/** The services behind what clients do. */
export interface Services {
  readonly registry: RegistryService;
  readonly verdicts: VerdictService;
  readonly policies: PolicyService;
}

/** What clients do to sessions, whichever way they come. Rejects with `FrameError` or `LogError`. */
export class SessionCommands {
  constructor(
    private readonly log: SessionLog,
    private readonly states: SessionStates,
    private readonly services: Services,
  ) {}

  /** Opens the session, creating it on first use. */
  open(sessionId: string): Promise<{ created: boolean; last_seq: number }> {
    return this.log.create(sessionId);
  }

  /** Seq of the session's last event. Rejects with `unknown_session`. */
  async lastSeq(sessionId: string): Promise<number> {
    return (await this.log.read(sessionId, { from_seq: 0, limit: 1 })).last_seq;
  }

  /**
   * Queues an input. It is durable when this resolves. The same `input_id` again is the same input, for as far back
   * as the log looks (4,096 events).
   *
   * @param knownSeq the session's end as the caller last saw it
   */
  async inject(
    sessionId: string,
    input: { text: string; wake: boolean; input_id?: string | undefined },
    knownSeq: number,
  ): Promise<{ input_id: string }> {
    const { text, wake, input_id = randomUUID() } = input;
    if (wake && isConfigured(await this.states.current(sessionId))) {
      await this.services.registry.inject({ session_id: sessionId, input_id, text });
      return { input_id };
    }
    const payload = { input_id, text, wake, origin: 'client' };
    await this.log.append(sessionId, {
      events: [{ type: 'input/queued', payload, event_id: `input:${digest(input_id)}` }],
      // Only an id that the client made can be a repetition, from any of its connections.
      since: input.input_id === undefined ? knownSeq : Math.max(-1, knownSeq - LOOKBACK),
    });
    return { input_id };
  }

  /** Asks the open turn to stop at its next step boundary. Rejects with `not_running` when none is open. */
  async cancel(sessionId: string, reason: string | undefined): Promise<void> {
    for (;;) {
      const state = await this.states.current(sessionId);
      const turn = openTurn(state);
      if (!turn) throw new FrameError('not_running', 'no turn is open');
      const payload = { turn_id: turn.turn_id, ...(reason === undefined ? {} : { reason }) };
      try {
        await this.log.append(sessionId, {
          events: [{ type: 'turn/cancel_requested', payload }],
          expect: { seq: state.last_seq, none_of: ['turn/end'] },
          since: state.last_seq,
        });
        return;
      } catch (error) {
        // The turn ended meanwhile; perhaps another one began.
        if (!isLogError(error, 'conflict')) throw error;
      }
    }
  }

  /** Decides about a call that waits for it. Rejects with `stale_call` when it waits no more. */
  resolve(verdict: ClientVerdict): Promise<object> {
    return this.services.verdicts.resolve(verdict);
  }

  /** Replaces the session's policy. */
  setPolicy(sessionId: string, patterns: readonly string[], by: string | undefined): Promise<void> {
    return this.services.policies.set(sessionId, patterns, by);
  }

  /** Points one of the session's model roles at another model, from the next step on. */
  async setModel(sessionId: string, role: ModelRole, model: string, knownSeq: number): Promise<void> {
    await this.log.append(sessionId, {
      events: [{ type: 'session/model_selected', payload: { role, model } }],
      since: knownSeq,
    });
  }
}

/** What a client may be told about a failure of the log. */
export function asFrameError(error: unknown): FrameError {
  if (error instanceof FrameError) return error;
  if (error instanceof LogError) {
    if (error.code === 'invalid_event' || error.code === 'too_large') return new FrameError('bad_frame', error.message);
    if (error.code === 'unavailable' || error.code === 'moved' || error.code === 'storage_full') {
      return new FrameError('unavailable', error.message);
    }
  }
  return new FrameError('internal', 'unexpected fault while serving this connection');
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 32);
}
