import type { Append, SessionState, TurnContext } from '@longrein/session';

/** A session as the parts of its actor see it. */
export interface SessionView {
  readonly sessionId: string;
  readonly state: SessionState;
  /** What the process knows now, for decisions. */
  context(): TurnContext;
  /** Appends what was decided; on a conflict the state holds what was missed, and everything is decided again. */
  append(append: Append): Promise<'stored' | 'conflict'>;
}
