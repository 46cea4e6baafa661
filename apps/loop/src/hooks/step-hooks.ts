import type { StepParameters } from '@longrein/events';
import type { Action, ClaimedMessage, PreStep, RequestParameters } from '@longrein/session';
import type { LoopLogger } from '../session/actor-deps.js';
import type { SessionView } from '../session/session-view.js';
import { type ClaimAnswer, type ClaimHooks, type HookedStep, HookAnswerError } from './claim-hooks.js';
import { Question, type QuestionDeps } from './question.js';

type Claim = Extract<Action, { kind: 'claim' }>;

/** What becomes of exactly these messages. */
type ClaimOutcome = readonly ClaimedMessage[] | { readonly reject: string };

/** What was said about a claim, and the inputs it was said about. */
interface Considered {
  readonly input_ids: readonly string[];
  readonly outcome: ClaimOutcome;
}

/** What consulting a deployment's hooks needs. */
export interface StepHookDeps extends QuestionDeps {
  readonly claim_hooks: ClaimHooks;
  readonly scrubber: { text(text: string): string };
  readonly logger: Pick<LoopLogger, 'warn'>;
}

/** Longest reason that an event takes, in characters. */
const MAX_REASON = 4096;

/**
 * Takes the steps of one session past its deployment's hooks. A claim that a hook has not seen is held back; the answers
 * enter the next decision, which makes of them what the log then says.
 */
export class StepHooks {
  readonly #claim: Question<Considered>;
  readonly #request: Question<StepParameters>;

  constructor(
    private readonly session: SessionView,
    private readonly deps: StepHookDeps,
    changed: () => void,
  ) {
    this.#claim = new Question(deps, changed);
    this.#request = new Question(deps, changed);
  }

  /** The answers that are there, for decisions. An input that came after the question rides the next step. */
  get answers(): { readonly pre_step: PreStep; readonly parameters: RequestParameters } {
    return {
      pre_step: (messages, step) => {
        const considered = this.#claim.answerTo(stepKey(step));
        const covers = considered?.input_ids.every((id) => messages.some(({ input_id }) => input_id === id));
        return considered && covers ? considered.outcome : messages;
      },
      parameters: (step) => this.#request.answerTo(requestKey(step)),
    };
  }

  /** Whether any hook is asked about steps at all. */
  get asked(): boolean {
    const { pre_step, request } = this.deps.claim_hooks;
    return pre_step !== undefined || request !== undefined;
  }

  /** Whether the claim has every answer it needs. If not, they are asked for: decide again when told of a change. */
  consult(claim: Claim): boolean {
    const { pre_step, request } = this.deps.claim_hooks;
    return (!pre_step || this.#passedClaim(claim, pre_step)) && (!request || this.#passedRequest(claim, request));
  }

  drop(): void {
    this.#claim.drop();
    this.#request.drop();
  }

  #passedClaim(claim: Claim, hook: NonNullable<ClaimHooks['pre_step']>): boolean {
    const { messages } = claim;
    const input_ids = messages.map(({ input_id }) => input_id);
    const considered = this.#claim.answerTo(stepKey(claim));
    if (considered && sameMembers(considered.input_ids, input_ids)) return true;
    const inputs = messages.map(({ input_id, type: kind, text }) => ({ input_id, kind, text }));
    this.#claim.ask(
      stepKey(claim),
      async () => {
        const answer = await hook({ ...this.#step(claim), inputs });
        return { input_ids, outcome: this.#outcome(messages, answer) };
      },
      (error) => this.#silent('pre_step', claim, error, { input_ids, outcome: messages }),
    );
    return false;
  }

  #passedRequest(claim: Claim, hook: NonNullable<ClaimHooks['request']>): boolean {
    const asked = { ...this.#step(claim), model: claim.request.model };
    if (this.#request.answerTo(requestKey(asked))) return true;
    this.#request.ask(
      requestKey(asked),
      () => hook(asked),
      (error) => this.#silent('request', claim, error, {}),
    );
    return false;
  }

  #step({ turn_id, n }: Claim): HookedStep {
    const { sessionId: session_id, state } = this.session;
    const agent = state.turn?.agent ?? state.configuration?.agent_id ?? this.session.context().agent;
    return { session_id, agent, turn_id, n };
  }

  /** What is sent must be what is stored, so what a hook writes is scrubbed like everything else. */
  #outcome(messages: readonly ClaimedMessage[], { rewrite = [], reject }: ClaimAnswer): ClaimOutcome {
    if (reject) return { reject: reject.reason.slice(0, MAX_REASON).toWellFormed() };
    const texts = new Map<string, string>();
    for (const { input_id, text } of rewrite) {
      if (texts.has(input_id)) throw new HookAnswerError(`input ${input_id} is rewritten twice`);
      if (!messages.some((message) => message.input_id === input_id)) {
        throw new HookAnswerError(`input ${input_id} is rewritten, which is not among those asked about`);
      }
      texts.set(input_id, this.deps.scrubber.text(text.toWellFormed()));
    }
    return messages.map((message) => ({ ...message, text: texts.get(message.input_id) ?? message.text }));
  }

  #silent<Answer>(hook: string, { turn_id, n }: Claim, err: unknown, unchanged: Answer): Answer | undefined {
    const { claim_hooks, logger } = this.deps;
    const fields = { session_id: this.session.sessionId, turn_id, n, hook, err };
    const goesOn = claim_hooks.silence === 'continue';
    logger.warn(fields, `a hook gave no answer: the step ${goesOn ? 'goes on without it' : 'waits and asks again'}`);
    return goesOn ? unchanged : undefined;
  }
}

function stepKey({ turn_id, n }: { readonly turn_id: string; readonly n: number }): string {
  return `${turn_id}/${n}`;
}

function requestKey(step: { readonly turn_id: string; readonly n: number; readonly model: string }): string {
  return `${stepKey(step)}/${step.model}`;
}

function sameMembers(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((member) => others.includes(member));
}
