import type { EventEnvelope } from '@longrein/events';
import { isLogError } from '@longrein/log';
import {
  type Action,
  type Append,
  type FailureDecision,
  type OpenTurn,
  type OwedCall,
  type Refusal,
  type ResumeCause,
  type SessionState,
  type TurnContext,
  decideCall,
  decideFailure,
  decideHandover,
  decideOutcome,
  decideReply,
  decideResume,
  decideTurnRefused,
  nextAction,
  resumeCause,
  startableInput,
  stimulusAfterStall,
} from '@longrein/session';
import { failure } from '@longrein/tools';
import { Wakeup } from '../core/wakeup.js';
import { type ActorDeps, type ActorEnd, RESUME_BACKOFF, RESUME_TRIES } from './actor-deps.js';
import { CallTasks, type WrittenCall } from './call-tasks.js';
import { ModelTask } from './model-task.js';
import { SessionJournal } from './session-journal.js';
import { SNAPSHOT_EVERY } from './session-loader.js';
import { Troubles } from './troubles.js';

/** What a pass through the loop came to: go on at once, wait for something to happen, or end the actor. */
type Step = 'again' | 'wait' | ActorEnd;

/** Failures in a row, nothing appended between them, after which a session is left alone until its next stimulus. */
const FUTILE_LIMIT = 3;

/** Why an actor was made: its partition was taken over, or something arrived for the session. */
export type Spawned = 'takeover' | 'stimulus';

/**
 * Runs one session's turns, one at a time, while the session is in work. Everything it does is the same cycle: look at
 * the fold, ask for the next action, append it under the condition it was decided, fold, look again. A resumed turn
 * is a turn that this cycle meets in the middle.
 */
export class SessionActor {
  readonly done: Promise<ActorEnd>;
  /** Set in the same tick in which the actor decided to end: from then on a new fact needs a new actor. */
  finished = false;
  readonly #wakeup = new Wakeup();
  readonly #calls: CallTasks;
  readonly #troubles: Troubles;
  readonly #early: EventEnvelope[] = [];
  readonly #written = new Map<number, WrittenCall>();
  #journal!: SessionJournal;
  #model: ModelTask | undefined;
  #usage: { readonly n: number; readonly usage: NonNullable<TurnContext['usage']> } | undefined;
  /** The open turn that this process started or resumed. */
  #mine: string | undefined;
  /** The running fold was compared with the log, and no turn has run since. */
  #checked = true;
  #stimulus: ResumeCause | undefined;
  #leaveGate: (() => void) | undefined;
  #mode: 'run' | 'stopping' | 'aborting' | 'killed' = 'run';
  #parkedTimer: (() => void) | undefined;
  #parkedLongEnough = false;
  #difference: string | undefined;
  #snapshotSeq = -1;
  /** Failures since something was last appended. */
  #futile = 0;
  readonly #life = new AbortController();

  constructor(
    readonly sessionId: string,
    private readonly deps: ActorDeps,
    spawned: Spawned,
    stimulus?: EventEnvelope,
  ) {
    this.#calls = new CallTasks(deps, () => this.#wakeup.raise());
    this.#troubles = new Troubles(deps, () => this.#wakeup.raise());
    if (spawned === 'stimulus' && stimulus) this.#note(stimulus);
    this.done = this.#run().finally(() => this.#release());
  }

  /** Takes a fact of the session from the partition's consumer, in stream order. */
  deliver(event: EventEnvelope): void {
    this.#note(event);
    if (this.#journal) this.#journal.absorb(event);
    else this.#early.push(event);
    this.#wakeup.raise();
  }

  /** Ends at the next step boundary, leaving an open turn to the next owner. */
  stop(): void {
    if (this.#mode === 'run') this.#mode = 'stopping';
    this.#wakeup.raise();
  }

  /** Ends now: what runs is aborted, the turn handed over as it stands. */
  abort(): void {
    if (this.#mode !== 'killed') this.#mode = 'aborting';
    this.#wakeup.raise();
  }

  /** Ends now without another append: the partition is someone else's. */
  kill(): void {
    this.#mode = 'killed';
    this.#release();
    this.#wakeup.raise();
  }

  get #state(): SessionState {
    return this.#journal.state;
  }

  async #run(): Promise<ActorEnd> {
    for (;;) {
      let step: Step;
      try {
        step = this.#journal ? await this.#pass() : await this.#load();
      } catch (error) {
        step = await this.#survive(error);
      }
      if (this.#mode === 'killed') step = 'killed';
      if (step === 'wait') await this.#wakeup.wait();
      else if (step !== 'again') return this.#finish(step);
    }
  }

  async #load(): Promise<Step> {
    const { loader, log, scrubber, clock, epoch, warm } = this.deps;
    const kept = warm.take(this.sessionId);
    const { state, verified, snapshot_seq } = kept ?? (await loader.load(this.sessionId));
    const changed = (): void => this.#wakeup.raise();
    const deps = { log, loader, scrubber, clock, epoch, changed };
    const journal = new SessionJournal(this.sessionId, deps, state, verified);
    // A state that was set aside is as old as that: this brings it up to date and compares it.
    if (kept) this.#difference = await journal.verify();
    this.#snapshotSeq = snapshot_seq;
    this.#journal = journal;
    for (const event of this.#early.splice(0)) journal.absorb(event);
    return 'again';
  }

  /** One look at the session, one thing done about it. */
  async #pass(): Promise<Step> {
    if (this.#mode === 'killed') return 'killed';
    const { turn, configuration } = this.#state;
    if (configuration?.spec.driver === 'claude-code') return 'idle';
    if (turn?.turn_id !== this.#mine) this.#turnOver();
    if (this.#mode === 'aborting') return this.#handOver('the process stopped before the step was over');
    if (this.#troubles.waiting) {
      // A stimulus, a cancel or a stop is worth another try at once.
      if (!this.#stimulus && !turn?.cancel && this.#mode === 'run') return 'wait';
      this.#troubles.cutShort();
    }
    if (turn !== null && turn.turn_id !== this.#mine) return this.#takeUp(turn);
    this.#stimulus = undefined;
    if (turn?.cancel?.hard) this.#dropTasks();
    return (
      (await this.#deliverReply()) ??
      (await this.#deliverOutcome()) ??
      this.#act(nextAction(this.#state, this.#context()))
    );
  }

  async #act(action: Action): Promise<Step> {
    this.#parkedTimer?.();
    this.#parkedTimer = undefined;
    switch (action.kind) {
      case 'rest':
        return 'idle';
      case 'claim':
        return this.#claim(action);
      case 'append':
        return this.#append(action.append);
      case 'calls':
        return this.#decideCalls(action.calls);
      case 'await_model':
        return this.#model ? 'wait' : this.#orphanStep();
      case 'await_calls':
        return action.running.length > 0 ? 'wait' : this.#park();
      case 'stalled':
        return 'stalled';
    }
  }

  async #claim(action: Extract<Action, { kind: 'claim' }>): Promise<Step> {
    const fresh = this.#state.turn === null;
    if (this.#mode === 'stopping') return fresh ? 'idle' : this.#handOver('the process is stopping');
    if (fresh && (!this.#checked || this.#difference !== undefined)) return this.#check();
    const stored = await this.#journalAppend(action.append);
    if (stored === 'conflict') return 'again';
    const task = new ModelTask(action.turn_id, action.n);
    this.#model = task;
    const send = (chunk: string): Promise<void> => this.#journal.chunk(chunk, task.signal);
    task.start(action.request, { ...this.deps, send }, () => this.#wakeup.raise());
    return 'wait';
  }

  /** A new turn begins on a state that was compared with the log. A difference is a bug, and fails the turn. */
  async #check(): Promise<Step> {
    const difference = this.#difference ?? (await this.#journal.verify());
    this.#difference = undefined;
    this.#checked = true;
    if (difference === undefined) return 'again';
    const reason = `the running fold of the session differs from its log in: ${difference}`;
    this.deps.logger.error({ session_id: this.sessionId, difference }, reason);
    return this.#refuseTurn(reason);
  }

  /** Starts and fails the turn that the oldest startable input asks for, so that the log says why nothing came of it. */
  async #refuseTurn(reason: string): Promise<Step> {
    const input = startableInput(this.#state);
    if (!input) return 'again';
    const close = { input_id: input.input_id, status: 'failed' as const, reason: reason.slice(0, 4096) };
    const decision = decideTurnRefused(this.#state, this.#context(), close);
    return decision.kind === 'refused' ? 'again' : this.#append(decision.append);
  }

  /** The model is back: its message enters the log, or its failure ends the turn. */
  async #deliverReply(): Promise<Step | undefined> {
    const task = this.#model;
    if (!task?.outcome) return undefined;
    const { outcome, n } = task;
    if ('error' in outcome) {
      this.#model = undefined;
      throw outcome.error;
    }
    const { parts, usage } = outcome.reply;
    const decision = decideReply(this.#state, parts);
    if (decision.kind === 'refused') {
      this.#model = undefined;
      return 'again';
    }
    try {
      if ((await this.#journalAppend(decision.append)) === 'conflict') return 'again';
    } catch (error) {
      // What the log cannot keep is a failure of the step; anything else is tried again with the same reply.
      if (isLogError(error, 'invalid_event', 'too_large')) this.#model = undefined;
      throw error;
    }
    this.#model = undefined;
    this.#usage = usage && { n, usage };
    const written = parts.filter((part) => part.type === 'tool_call');
    const calls = (this.#state.turn?.calls ?? []).slice(-written.length);
    for (const [index, call] of calls.entries()) {
      if (call.call_seq !== null && written[index]) this.#written.set(call.call_seq, written[index]);
    }
    return 'again';
  }

  /** A call is back: its result enters the log, in call order. */
  async #deliverOutcome(): Promise<Step | undefined> {
    const delivered = this.#calls.delivered();
    if (!delivered) return undefined;
    const { call_seq, outcome } = delivered;
    const decision = decideOutcome(this.#state, call_seq, outcome);
    if (decision.kind === 'append') {
      try {
        if ((await this.#journalAppend(decision.append)) === 'conflict') return 'again';
      } catch (error) {
        if (!isLogError(error, 'invalid_event', 'too_large')) throw error;
        const text = `The tool's result cannot be stored: ${error.message}`;
        if (outcome.error === text) throw error;
        this.#calls.replace(call_seq, failure(text));
        return 'again';
      }
    }
    this.#calls.drop(call_seq);
    return 'again';
  }

  async #decideCalls(calls: readonly OwedCall[]): Promise<Step> {
    const room = this.deps.max_parallel_calls - this.#calls.size;
    if (room <= 0) return 'wait';
    for (const call of calls.slice(0, room)) {
      if (!(await this.#decideCall(call))) return 'again';
    }
    return 'again';
  }

  /** Decides one owed call. False: the log has moved, and everything is decided again. */
  async #decideCall(call: OwedCall): Promise<boolean> {
    const { turn } = this.#state;
    if (turn === null) return false;
    const written = this.#written.get(call.call_seq);
    const scope = {
      session_id: this.sessionId,
      turn_id: turn.turn_id,
      agent_id: turn.agent,
      epoch: this.deps.epoch,
    };
    const veto = await this.#calls.veto(scope, call, written);
    if (veto !== undefined) {
      const decision = decideOutcome(this.#state, call.call_seq, failure(veto));
      return decision.kind === 'append' && (await this.#journalAppend(decision.append)) === 'stored';
    }
    const options = { altered: written === undefined && this.deps.wasScrubbed(call) };
    const decision = decideCall(this.#state, call.call_seq, this.#context(), options);
    if (decision.kind === 'refused' || decision.kind === 'parked') return false;
    if ((await this.#journalAppend(decision.append)) === 'conflict') return false;
    if (decision.kind === 'start') this.#calls.start(scope, call, decision.attempt, written);
    return true;
  }

  /** Nothing can be done before a human decides. The session stays in memory for a while, then leaves it. */
  #park(): Step {
    if (this.#mode === 'stopping' || this.#parkedLongEnough) return 'parked';
    this.#leaveGate?.();
    this.#parkedTimer = this.deps.clock.setTimeout(() => {
      this.#parkedLongEnough = true;
      this.#wakeup.raise();
    }, this.deps.parked_ms);
    return 'wait';
  }

  /** Takes up an open turn that this process did not run so far. */
  async #takeUp(turn: OpenTurn): Promise<Step> {
    const cause = this.#resumeCause(turn);
    if (!cause || this.#mode !== 'run') return turn.stalled ? 'stalled' : 'parked';
    if (cause === 'death' && turn.resumes.death > 0 && !this.#leaveGate) {
      // One turn that kills its process must not take the others with it each time.
      this.#leaveGate = await this.deps.recovery.enter();
      return 'again';
    }
    const { epoch, contexts } = this.deps;
    const decision = decideResume(this.#state, { epoch, cause, traits: contexts.traits });
    if (decision.kind === 'refused') return 'again';
    if (decision.kind === 'stay') return decision.reason;
    if ((await this.#journalAppend(decision.append)) === 'conflict') return 'again';
    this.#stimulus = undefined;
    if (decision.kind === 'stall') return 'stalled';
    this.#mine = turn.turn_id;
    return 'again';
  }

  #resumeCause(turn: OpenTurn): ResumeCause | undefined {
    if (turn.stalled) return turn.cancel ? 'wake' : (stimulusAfterStall(this.#state) ?? undefined);
    if (this.#stimulus) return this.#stimulus;
    if (turn.cancel || this.deps.resume === 'on_takeover' || turn.handed_over !== null) return resumeCause(turn);
    return this.#state.inbox.some(({ wake }) => wake) ? 'wake' : undefined;
  }

  /** A step without a reply that nobody asked a model for: its append was cut short. It is given up, not repeated. */
  async #orphanStep(): Promise<Step> {
    const { epoch } = this.deps;
    const decision = decideResume(this.#state, { epoch, cause: 'handover' });
    return 'append' in decision ? this.#append(decision.append) : 'again';
  }

  async #handOver(reason: string): Promise<Step> {
    this.#dropTasks();
    const { turn } = this.#state;
    if (turn === null || turn.turn_id !== this.#mine) return 'idle';
    const decision = decideHandover(this.#state, { epoch: this.deps.epoch, reason });
    if (decision.kind === 'refused') return 'idle';
    return (await this.#journalAppend(decision.append)) === 'conflict' ? 'again' : 'handed_over';
  }

  /** Something failed. Decides between trying again, failing the turn, and giving up. */
  async #survive(error: unknown): Promise<Step> {
    if (this.#mode === 'killed') return 'killed';
    if (isLogError(error, 'fenced')) return 'fenced';
    if (isLogError(error, 'unknown_session')) return 'idle';
    const { logger } = this.deps;
    const { sessionId: session_id } = this;
    if (isLogError(error, 'unavailable', 'moved', 'storage_full', 'conflict')) {
      logger.warn({ session_id, err: error }, 'the log did not take an append or a read; trying again');
      await this.#troubles.pauseForLog(this.#life.signal);
      if (this.#journal) await this.#journal.resync().catch(() => undefined);
      return 'again';
    }
    const reason = error instanceof Error ? error.message : String(error);
    if (!this.#journal || ++this.#futile > FUTILE_LIMIT) {
      logger.error({ session_id, err: error }, 'the session cannot go on until its next stimulus');
      return 'failed';
    }
    logger.warn({ session_id, turn_id: this.#state.turn?.turn_id, err: error }, 'a step failed');
    try {
      return await this.#failTurn(reason);
    } catch (second) {
      if (isLogError(second) && !isLogError(second, 'invalid_event', 'too_large')) return this.#survive(second);
      logger.error({ session_id, err: second }, 'the session cannot go on: its failure cannot be logged either');
      return 'failed';
    }
  }

  /** Ends the turn `failed`; a resumed one stays open, and is tried again after a while and on the next stimulus. */
  async #failTurn(reason: string): Promise<Step> {
    this.#dropTasks();
    const { turn } = this.#state;
    if (turn === null) return this.#refuseTurn(reason);
    const resumed = Object.values(turn.resumes).some((count) => count > 0);
    if (resumed && turn.cancel === null && this.#troubles.failures < RESUME_TRIES) {
      const decision = decideHandover(this.#state, {
        epoch: this.deps.epoch,
        reason: `resume failed: ${reason}`.slice(0, 4096),
      });
      if (decision.kind === 'refused' || (await this.#journalAppend(decision.append)) === 'conflict') return 'again';
      this.#mine = undefined;
      this.#leaveGate?.();
      this.#troubles.wait(RESUME_BACKOFF);
      return 'again';
    }
    for (;;) {
      const decision: FailureDecision | Refusal = decideFailure(this.#state, { reason });
      if (decision.kind === 'refused') return 'again';
      if ((await this.#journalAppend(decision.append)) === 'stored' && decision.closes) return 'again';
    }
  }

  async #append(append: Append): Promise<Step> {
    await this.#journalAppend(append);
    return 'again';
  }

  /** Appends, and keeps track of whose turn is open: a turn that opens by our append is ours. */
  async #journalAppend(append: Append): Promise<'stored' | 'conflict'> {
    const before = this.#state.turn;
    try {
      const outcome = await this.#journal.append(append);
      this.#troubles.logAnswered();
      if (outcome === 'stored') this.#futile = 0;
      return outcome;
    } finally {
      const { turn } = this.#state;
      if (before === null && turn !== null && turn.epoch === this.deps.epoch) this.#mine = turn.turn_id;
      if (turn?.step === null) this.#leaveGateAfterStep(before);
    }
  }

  #leaveGateAfterStep(before: OpenTurn | null): void {
    if (before?.step) this.#leaveGate?.();
  }

  /** No turn of ours is open (any more): nothing of it is carried into the next. */
  #turnOver(): void {
    if (this.#mine === undefined) return;
    this.#dropTasks();
    this.#mine = undefined;
    this.#usage = undefined;
    this.#written.clear();
    this.#checked = false;
    this.#parkedLongEnough = false;
    this.#troubles.clear();
    this.#leaveGate?.();
    this.#leaveGate = undefined;
  }

  #context(): TurnContext {
    const usage = this.#usage?.n === this.#state.turn?.step?.n ? this.#usage?.usage : undefined;
    const moment = { epoch: this.deps.epoch, running: this.#calls.running, usage };
    return this.deps.contexts.of(this.sessionId, this.#state, moment);
  }

  #note({ type, payload, copied }: EventEnvelope): void {
    if (copied) return;
    if (type === 'approval/resolved') this.#stimulus = 'verdict';
    if (type === 'input/queued' && (payload as { wake?: boolean }).wake) this.#stimulus = 'wake';
  }

  #dropTasks(): void {
    this.#model?.abort();
    this.#model = undefined;
    this.#calls.abort();
  }

  #finish(end: ActorEnd): ActorEnd {
    this.finished = true;
    if (end === 'idle' && this.#journal) this.#setAside();
    return end;
  }

  /** Keeps the state for the next turn: in memory for a while, and in the store where reading it again costs much. */
  #setAside(): void {
    const { sessionId: session_id } = this;
    const { state, verified } = this.#journal;
    if (state.turn === null && state.last_fact_seq - this.#snapshotSeq >= SNAPSHOT_EVERY) {
      this.#snapshotSeq = state.last_fact_seq;
      this.deps.loader.save(session_id, state).catch((error: unknown) => {
        this.deps.logger.warn({ session_id, err: error }, 'a snapshot was not saved');
      });
    }
    this.deps.warm.keep(session_id, { state, verified, snapshot_seq: this.#snapshotSeq });
  }

  #release(): void {
    this.finished = true;
    this.#life.abort();
    this.#dropTasks();
    this.#troubles.clear();
    this.#parkedTimer?.();
    this.#leaveGate?.();
    this.#leaveGate = undefined;
  }
}
