import { isLogError } from '@longrein/log';
import {
  type Action,
  type Append,
  type OwedCall,
  type SessionState,
  type TurnContext,
  continued,
  decideCall,
  decideOutcome,
  decideReply,
} from '@longrein/session';
import { failure } from '@longrein/tools';
import type { ActorDeps } from './actor-deps.js';
import { type CallScope, CallTasks, type WrittenCall } from './call-tasks.js';
import { ModelTask } from './model-task.js';
import type { SessionView } from './session-view.js';
import type { TailChunk } from './tail-chunk.js';

/** What a step has under way in this process, its model request and its calls, and how they come back into the log. */
export class StepTasks {
  readonly #calls: CallTasks;
  readonly #written = new Map<number, WrittenCall>();
  /** Attempts whose `tool/started` is on its way: if it turns out to be stored although no answer came, they run. */
  readonly #starting = new Map<number, number>();
  #model: ModelTask | undefined;
  #usage: { readonly n: number; readonly usage: TurnContext['usage'] } | undefined;

  constructor(
    private readonly session: SessionView,
    private readonly deps: ActorDeps,
    private readonly changed: () => void,
  ) {
    this.#calls = new CallTasks(deps, changed);
  }

  /** `call_seq`s of the calls under way. */
  get running(): ReadonlySet<number> {
    return this.#calls.running;
  }

  /** Whether the model was asked and its answer is not in the log. */
  get awaitsModel(): boolean {
    return this.#model !== undefined;
  }

  /** What the provider reported for the state's open step, if this process asked it. */
  usageOf({ turn }: SessionState): TurnContext['usage'] {
    return this.#usage?.n === turn?.step?.n ? this.#usage?.usage : undefined;
  }

  /** Sends the request of a step whose claim is stored. */
  ask({ request, turn_id, n }: Extract<Action, { kind: 'claim' }>): void {
    const task = new ModelTask(turn_id, n);
    this.#model = task;
    const send = (chunk: string): Promise<void> => this.session.journal.chunk(chunk, task.signal);
    task.start(request, { ...this.deps, send }, this.changed);
  }

  /** Appends what was decided together with what follows from it, and asks the model where that claims a step. */
  async proceed(first: Append, tail?: TailChunk): Promise<'stored' | 'conflict'> {
    const { session } = this;
    const { append, claim } = continued(session.state, first, {
      preview: (state, events) => session.journal.preview(state, events),
      context: (state) => session.context(state),
      claims: session.mayClaim,
    });
    const outcome = await session.append(append, tail);
    if (outcome === 'stored' && claim) this.ask(claim);
    return outcome;
  }

  /** Brings one thing that came back into the log. False when nothing is back. Throws the model's failure. */
  async deliver(): Promise<boolean> {
    return (await this.#deliverReply()) || (await this.#deliverOutcome());
  }

  /** Decides owed calls, as many as may run together. False when no more may: wait for one to come back. */
  async decide(calls: readonly OwedCall[]): Promise<boolean> {
    const room = this.deps.max_parallel_calls - this.#calls.size;
    for (const call of calls.slice(0, Math.max(0, room))) {
      if (!(await this.#decide(call))) break;
    }
    return room > 0;
  }

  /** Aborts everything under way; nothing of it enters the log any more. */
  drop(): void {
    this.#model?.abort();
    this.#model = undefined;
    this.#calls.abort();
    this.#starting.clear();
  }

  /** The turn is over: nothing is carried into the next. */
  clear(): void {
    this.drop();
    this.#usage = undefined;
    this.#written.clear();
  }

  async #deliverReply(): Promise<boolean> {
    const task = this.#model;
    if (!task?.outcome) return false;
    const { outcome, n } = task;
    if ('error' in outcome) {
      this.#model = undefined;
      throw outcome.error;
    }
    const { parts, usage } = outcome.reply;
    // Known before the step's end is decided, which may go into the same append.
    this.#usage = { n, usage };
    const decision = decideReply(this.session.state, parts);
    if (decision.kind === 'append') {
      try {
        if ((await this.proceed(decision.append, outcome.tail)) === 'conflict') return true;
      } catch (error) {
        // What the log cannot keep is a failure of the step; after anything else the same reply is tried again.
        if (isLogError(error, 'invalid_event', 'too_large')) this.#model = undefined;
        throw error;
      }
      this.#remember(parts.filter((part) => part.type === 'tool_call'));
    }
    this.#model = undefined;
    return true;
  }

  /** Keeps the calls as the model wrote them: the log may hold them scrubbed, and executing that is another call. */
  #remember(written: readonly WrittenCall[]): void {
    if (written.length === 0) return;
    const calls = (this.session.state.turn?.calls ?? []).slice(-written.length);
    for (const [index, { call_seq }] of calls.entries()) {
      if (call_seq !== null) this.#written.set(call_seq, written[index]!);
    }
  }

  async #deliverOutcome(): Promise<boolean> {
    const delivered = this.#calls.delivered();
    if (!delivered) return false;
    const { call_seq, outcome } = delivered;
    const decision = decideOutcome(this.session.state, call_seq, outcome);
    if (decision.kind === 'append') {
      try {
        if ((await this.proceed(decision.append)) === 'conflict') return true;
      } catch (error) {
        const text = `The tool's result cannot be stored: ${error instanceof Error ? error.message : String(error)}`;
        if (!isLogError(error, 'invalid_event', 'too_large') || outcome.error === text) throw error;
        this.#calls.replace(call_seq, failure(text));
        return true;
      }
    }
    this.#calls.drop(call_seq);
    return true;
  }

  /** Decides one owed call. False: the log has moved, and everything is decided again. */
  async #decide(call: OwedCall): Promise<boolean> {
    const { session, deps } = this;
    const { turn } = session.state;
    if (turn === null) return false;
    const { turn_id, agent: agent_id } = turn;
    const scope: CallScope = { session_id: session.sessionId, turn_id, agent_id, epoch: deps.epoch };
    const written = this.#written.get(call.call_seq);
    const { started } = call;
    if (started && started.epoch === deps.epoch && this.#starting.get(call.call_seq) === started.attempt) {
      this.#start(scope, call, started.attempt, written);
      return true;
    }
    const veto = await this.#calls.veto(scope, call, written);
    if (veto !== undefined) {
      const decision = decideOutcome(session.state, call.call_seq, failure(veto));
      return decision.kind === 'append' && (await session.append(decision.append)) === 'stored';
    }
    const options = { altered: written === undefined && deps.wasScrubbed(call) };
    const decision = decideCall(session.state, call.call_seq, session.context(), options);
    if (decision.kind === 'refused' || decision.kind === 'parked') return false;
    if (decision.kind === 'start') this.#starting.set(call.call_seq, decision.attempt);
    if ((await session.append(decision.append)) === 'conflict') return false;
    if (decision.kind === 'start') this.#start(scope, call, decision.attempt, written);
    return true;
  }

  #start(scope: CallScope, call: OwedCall, attempt: number, written: WrittenCall | undefined): void {
    this.#starting.delete(call.call_seq);
    this.#calls.start(scope, call, attempt, written);
  }
}
