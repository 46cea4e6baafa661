import type { StepParameters } from '@longrein/events';

/** The step that a hook is asked about. */
export interface HookedStep {
  readonly session_id: string;
  /** Name of the agent whose turn it is. */
  readonly agent: string;
  readonly turn_id: string;
  /** Number of the step in its turn, from 1. */
  readonly n: number;
}

/** What a step is about to log. */
export interface HookedClaim extends HookedStep {
  /** As the log would store them; none where the step only answers its tools. */
  readonly inputs: readonly {
    readonly input_id: string;
    readonly kind: 'user/message' | 'context/injected';
    readonly text: string;
  }[];
}

/** What becomes of a claim. Nothing named: it goes on as it is. */
export interface ClaimAnswer {
  /** Other texts for some of the inputs. */
  readonly rewrite?: readonly { readonly input_id: string; readonly text: string }[];
  /** The step is refused, and with it the turn. Wins over a rewrite. */
  readonly reject?: { readonly reason: string };
}

/** What is about to be asked of a model. */
export interface HookedRequest extends HookedStep {
  /** `provider/model`. */
  readonly model: string;
}

/** Hooks of a deployment that every step passes before it is claimed. They reject with what kept them from answering. */
export interface ClaimHooks {
  readonly pre_step?: (claim: HookedClaim) => Promise<ClaimAnswer>;
  readonly request?: (request: HookedRequest) => Promise<StepParameters>;
  /** Where a hook does not answer, or answers nonsense: the step waits and asks again, or goes on without it. */
  readonly silence: 'wait' | 'continue';
}

/** A hook's answer that cannot be followed. Treated like no answer. */
export class HookAnswerError extends Error {
  override readonly name = 'HookAnswerError';
}
