import type { Append, SessionState, TurnContext } from '@longrein/session';
import type { SessionJournal } from './session-journal.js';
import type { TailChunk } from './tail-chunk.js';

/** A session as the parts of its actor see it. */
export interface SessionView {
  readonly sessionId: string;
  readonly state: SessionState;
  /** What the process knows now, for decisions about the state, or about one to come. */
  context(state?: SessionState): TurnContext;
  readonly journal: Pick<SessionJournal, 'preview' | 'chunk'>;
  /** Whether a step may be claimed along with what comes before it: nobody is asked about it first. */
  readonly mayClaim: boolean;
  /** Appends what was decided, behind the end of a reply's text; on a conflict the state holds what was missed, and everything is decided again. */
  append(append: Append, tail?: TailChunk): Promise<'stored' | 'conflict'>;
}
