import { ServiceError } from '@longrein/service';

/** The call has no standing request in the open turn: nothing was appended. */
export class StaleCall extends ServiceError {
  override readonly name = 'StaleCall';

  constructor(sessionId: string, callId: string, why: string) {
    super('stale_call', `call ${callId} of session ${sessionId} waits for no verdict: ${why}`, {
      session_id: sessionId,
      call_id: callId,
    });
  }
}
