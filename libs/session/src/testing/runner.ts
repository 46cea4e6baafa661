import type { Usage } from '@longrein/events';
import { continued } from '../decisions/continuation.js';
import { decideCall } from '../decisions/call.js';
import { decideFailure } from '../decisions/failure.js';
import { nextAction } from '../decisions/next-action.js';
import { decideOutcome } from '../decisions/outcome.js';
import { decideReply } from '../decisions/reply.js';
import { decideHandover, decideResume, stimulusAfterStall } from '../decisions/resume.js';
import type { Action, Append, Refusal, Reply, ResumeCause, TurnContext } from '../decisions/types.js';
import type { CallOutcome, SessionState } from '../folds/state.js';
import { Journal } from './journal.js';
import { TOOLS } from './traits.js';

/** What the world answers when the runner asks. */
export interface World {
  readonly reply: () => Reply | Error;
  readonly outcome: (name: string) => CallOutcome;
  readonly usage?: () => Usage | undefined;
  /** Whether a call that was started is still running when the runner looks. Default: it is back at once. */
  readonly slow?: (name: string) => boolean;
  /** Whether the loop puts what follows into the same append. */
  readonly joins?: boolean;
}

/** A world that answers these replies in turn, then the last one for ever, and whose tools all say `done`. */
export function scripted(replies: readonly (Reply | Error)[], some: Partial<World> = {}): World {
  let asked = 0;
  return {
    reply: () => replies[Math.min(asked++, replies.length - 1)] ?? [],
    outcome: (name) => ({ content: `${name} done`, error: null }),
    ...some,
  };
}

/** A reply of text alone. */
export function says(text: string): Reply {
  return [{ type: 'text', text }];
}

/** A reply that calls tools: `id:name`, args `{}`; or with args. */
export function calls(...wanted: readonly (string | { id: string; name: string; args: unknown })[]): Reply {
  return wanted.map((call) => {
    if (typeof call !== 'string') return { type: 'tool_call', ...call };
    const [id = '', name = ''] = call.split(':');
    return { type: 'tool_call', id, name, args: {} };
  });
}

/** A loop over a journal, one decision at a time: what a real loop does, without time or I/O. */
export class Runner {
  readonly running = new Set<number>();
  readonly executed: { readonly call_seq: number; readonly name: string; readonly attempt: number }[] = [];
  epoch = 1;
  #usage: Usage | undefined;
  #turns = 0;

  constructor(
    readonly world: World,
    readonly journal = new Journal(),
    readonly overrides: Partial<TurnContext> = {},
  ) {}

  get state(): SessionState {
    return this.journal.state;
  }

  /** The context of the next decision. */
  context(): TurnContext {
    return {
      epoch: this.epoch,
      agent: 'main',
      new_turn_id: `t${this.#turns}`,
      deployment: { models: { main: 'test/model' } },
      tools: [],
      traits: (name) => TOOLS[name],
      running: this.running,
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
      ...this.overrides,
    };
  }

  /** Carries out the next action. `torn` stores only a prefix of its append and kills this loop: take over next. */
  tick(torn?: number): Action {
    const action = nextAction(this.state, this.context());
    switch (action.kind) {
      case 'claim':
        this.#usage = undefined;
        this.#turns++;
        this.#append(action.append, torn);
        break;
      case 'append':
        this.#proceed(action.append, torn);
        break;
      case 'await_model':
        this.#answer(torn);
        break;
      case 'calls':
        for (const { call_seq } of action.calls) this.#call(call_seq);
        break;
      case 'await_calls':
        for (const callSeq of action.running) this.#finish(callSeq);
        break;
      default:
    }
    return action;
  }

  /** Ticks until nothing but a verdict, a stimulus or an input can go on; at most `limit` times. */
  run(limit = 1000): Action {
    for (let count = 0; count < limit; count++) {
      const action = this.tick();
      if (action.kind === 'rest' || action.kind === 'stalled') return action;
      if (action.kind === 'await_calls' && action.running.length === 0) return action;
    }
    throw new Error(`still at work after ${limit} decisions: ${this.journal.types().slice(-8).join(' ')}`);
  }

  /** The process dies. */
  die(): void {
    this.running.clear();
    this.#usage = undefined;
    this.epoch++;
  }

  /** Another process takes the open turn up, if there is one to take up. */
  takeOver(cause: ResumeCause = this.state.turn?.handed_over == null ? 'death' : 'handover'): string {
    const decision = decideResume(this.state, { epoch: this.epoch, cause, traits: (name) => TOOLS[name] });
    if ('append' in decision) this.#must(this.journal.append(decision.append));
    return decision.kind;
  }

  /** Takes a stalled turn up again if there is a stimulus. */
  wake(): void {
    const cause = stimulusAfterStall(this.state);
    if (cause !== null) this.takeOver(cause);
  }

  /** The turn is handed over in order. */
  handOver(): void {
    const decision = decideHandover(this.state, { epoch: this.epoch });
    if (decision.kind === 'append') this.#must(this.journal.append(decision.append));
    this.die();
  }

  /** An exception leaves the turn. */
  fail(reason: string): void {
    for (let closed = false; !closed;) {
      const decision = decideFailure(this.state, { reason });
      if (decision.kind === 'refused') return;
      this.#must(this.journal.append(decision.append));
      closed = decision.closes;
    }
    this.running.clear();
  }

  #append(append: Append, torn = append.events.length): void {
    this.#must(this.journal.append(append, Math.min(torn, append.events.length)));
  }

  /** With what follows from it, where this loop joins appends. */
  #proceed(first: Append, torn?: number): void {
    if (!this.world.joins) return this.#append(first, torn);
    const { append, claim } = continued(this.state, first, {
      preview: (state, events) => this.journal.preview(state, events),
      context: () => this.context(),
      claims: true,
    });
    this.#append(append, torn);
    if (claim) this.#usage = undefined;
  }

  #answer(torn: number | undefined): void {
    const reply = this.world.reply();
    if (reply instanceof Error) return this.fail(reply.message);
    this.#usage = this.world.usage?.();
    this.#proceed(accepted(decideReply(this.state, reply)).append, torn);
  }

  #call(callSeq: number): void {
    const decision = decideCall(this.state, callSeq, this.context());
    if (decision.kind === 'refused' || decision.kind === 'parked') return;
    this.#must(this.journal.append(decision.append));
    if (decision.kind !== 'start') return;
    const { name } = decision.call;
    this.executed.push({ call_seq: callSeq, name, attempt: decision.attempt });
    this.running.add(callSeq);
    if (!this.world.slow?.(name)) this.#finish(callSeq);
  }

  #finish(callSeq: number): void {
    const call = this.state.turn?.calls.find((candidate) => candidate.call_seq === callSeq);
    const decision = decideOutcome(this.state, callSeq, this.world.outcome(call?.name ?? ''));
    if (decision.kind === 'append') this.#proceed(decision.append);
    this.running.delete(callSeq);
  }

  #must(seqs: number[] | null): void {
    if (seqs === null) throw new Error('a decision on the newest state conflicted');
  }
}

/** A decision that is no refusal; throws the refusal's text otherwise. */
export function accepted<Decision extends { readonly kind: string }>(
  decision: Decision | Refusal,
): Exclude<Decision, Refusal> {
  if (decision.kind === 'refused') throw new Error((decision as Refusal).message);
  return decision as Exclude<Decision, Refusal>;
}
