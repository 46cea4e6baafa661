import type { EventEnvelope } from '@longrein/events';
import { type EventLog, isLogError, type NewEvent, type Expectation } from '@longrein/log';
import { fold, initialState } from '@longrein/session';
import type { SessionView } from '../core/decide-input.js';

/** Sessions whose folds are kept; the least recently used goes first. */
const KEPT = 512;

/** How far back an append looks for an earlier try of itself, in events. */
const RETRY_WINDOW = 512;

const NOTHING: SessionView = { state: initialState(), seq: -1 };

/** Folds of sessions, kept and brought up to date on every look. */
export class SessionViews {
  private readonly kept = new Map<string, SessionView>();

  constructor(private readonly log: EventLog<EventEnvelope>) {}

  /** Makes sure that the session exists. */
  async create(sessionId: string): Promise<void> {
    await this.log.create(sessionId);
  }

  /** The session as of now. Rejects with `unknown_session` where there is none. */
  async current(sessionId: string): Promise<SessionView> {
    let view = this.kept.get(sessionId) ?? NOTHING;
    for (let next: number | null = view.seq + 1; next !== null;) {
      const page = await this.log.read(sessionId, { from_seq: next, facts_only: true });
      view = { state: fold(page.events, view.state), seq: page.next_seq === null ? page.last_seq : view.seq };
      next = page.next_seq;
    }
    this.keep(sessionId, view);
    return view;
  }

  /**
   * Decides on the session as it is and appends what was decided, again and again while the session changes under the
   * decision. Resolves to the decision that holds, with the seq it is stored at, or to nothing when it was nothing.
   */
  async change<Decision extends { readonly event: NewEvent; readonly expect: Expectation }>(
    sessionId: string,
    decide: (view: SessionView) => Decision | undefined,
  ): Promise<(Decision & { readonly seq: number; readonly at: string }) | undefined> {
    for (;;) {
      const view = await this.current(sessionId);
      const decision = decide(view);
      if (!decision) return undefined;
      try {
        const since = Math.max(-1, decision.expect.seq - RETRY_WINDOW);
        const { seq, at } = await this.log.append(sessionId, {
          events: [decision.event],
          expect: decision.expect,
          since,
        });
        return { ...decision, seq, at };
      } catch (error) {
        if (!isLogError(error, 'conflict')) throw error;
      }
    }
  }

  private keep(sessionId: string, view: SessionView): void {
    const newer = this.kept.get(sessionId);
    this.kept.delete(sessionId);
    this.kept.set(sessionId, newer && newer.seq > view.seq ? newer : view);
    if (this.kept.size <= KEPT) return;
    const [oldest] = this.kept.keys();
    if (oldest !== undefined) this.kept.delete(oldest);
  }
}
