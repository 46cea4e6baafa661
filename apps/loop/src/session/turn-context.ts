import type { ToolDescription } from '@longrein/events';
import { type Deployment, type SessionState, type TurnContext, matchesAny, startableInput } from '@longrein/session';
import type { ToolCatalog } from '@longrein/tools';
import { createHash } from 'node:crypto';

/** What the loop adds to every decision, whatever the session. */
export interface ContextSettings {
  readonly catalog: ToolCatalog;
  readonly deployment: Deployment;
  /** Agent name of turns in sessions that no agent owns. */
  readonly agent: string;
  /** Whether somebody answers approval requests. */
  readonly approvals: boolean;
  readonly scrubber: { text(text: string): string; deep(value: unknown): unknown };
}

/** What differs from decision to decision. */
export interface Moment {
  readonly epoch: number;
  readonly running: ReadonlySet<number>;
  readonly usage: TurnContext['usage'];
  /** What hooks said. */
  readonly answers: Pick<TurnContext, 'pre_step' | 'parameters'>;
}

/** Builds the contexts that decisions ask for: what the process knows and the log does not. */
export class TurnContexts {
  /** Scrubbed descriptions by digest of the unscrubbed ones. */
  readonly #scrubbed = new Map<string, readonly ToolDescription[]>();

  constructor(private readonly settings: ContextSettings) {}

  /** The context of a decision about `state`. */
  of(sessionId: string, state: SessionState, { epoch, running, usage, answers }: Moment): TurnContext {
    const { deployment, agent, approvals, scrubber } = this.settings;
    return {
      epoch,
      agent,
      new_turn_id: newTurnId(sessionId, state),
      deployment,
      tools: this.#toolsFor(state),
      traits: this.traits,
      scrub: (text) => scrubber.text(text),
      running,
      approvals,
      ...answers,
      ...(usage && { usage }),
    };
  }

  /** How a tool behaves, by the name the model uses. */
  readonly traits: TurnContext['traits'] = (name) => this.settings.catalog.resolve(name);

  /** The tools that the session's agent is shown, as the log will store them. */
  #toolsFor(state: SessionState): readonly ToolDescription[] {
    const shown = state.configuration?.spec.tools;
    const { tools, digest } = this.settings.catalog.describe(shown && ((name) => matchesAny(shown, name)));
    let scrubbed = this.#scrubbed.get(digest);
    if (!scrubbed) {
      // Few sets are in use at a time; what is dropped is made anew.
      if (this.#scrubbed.size >= 64) this.#scrubbed.clear();
      scrubbed = tools.map((tool) => this.settings.scrubber.deep(tool) as ToolDescription);
      this.#scrubbed.set(digest, scrubbed);
    }
    return scrubbed;
  }
}

/** The same for every try to start a turn for the same input: a try whose answer got lost stays the same append. */
function newTurnId(sessionId: string, state: SessionState): string {
  const cause = startableInput(state)?.input_id ?? `at:${state.last_fact_seq}`;
  return `turn_${createHash('sha256').update(`${sessionId}\n${cause}`).digest('base64url').slice(0, 22)}`;
}
