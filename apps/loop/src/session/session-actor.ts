import type { EventEnvelope } from '@longrein/events';
import { isLogError } from '@longrein/log';
import { type Action, type Append, type SessionState, type TurnContext, nextAction } from '@longrein/session';
import { Wakeup } from '../core/wakeup.js';
import { StepHooks } from '../hooks/step-hooks.js';
import { type ActorDeps, type ActorEnd, FUTILE_LIMIT, RESUME_BACKOFF } from './actor-deps.js';
import { type Step, AT_REST } from './actor-step.js';
import { Parking } from './parking.js';
import { Recovery } from './recovery.js';
import { openJournal } from './open-journal.js';
import type { SessionJournal } from './session-journal.js';
import type { SessionView } from './session-view.js';
import { setAside } from './set-aside.js';
import { StepTasks } from './step-tasks.js';
import type { TailChunk } from './tail-chunk.js';
import { Troubles } from './troubles.js';
import { failTurn, refuseDifference } from './turn-failure.js';

/**
 * Runs one session's turns, one at a time, while the session is in work. Everything it does is the same cycle: look at
 * the fold, ask for the next action, append it under the condition it was decided, fold, look again. A resumed turn
 * is a turn that this cycle meets in the middle.
 */
export class SessionActor implements SessionView {
  readonly done: Promise<ActorEnd>;
  /** Set in the same tick in which the actor decided to end: from then on a new fact needs a new actor. */
  finished = false;
  readonly #wakeup = new Wakeup();
  readonly #life = new AbortController();
  readonly #tasks: StepTasks;
  readonly #recovery: Recovery;
  readonly #hooks: StepHooks;
  readonly #troubles: Troubles;
  readonly #early: EventEnvelope[] = [];
  #journal: SessionJournal | undefined;
  #snapshotSeq = -1;
  /** The open turn that this process started or resumed. */
  #mine: string | undefined;
  /** The running fold was compared with the log, and no turn has run since; what was different, if anything. */
  #checked = true;
  #difference: string | undefined;
  /** Failures since something was last appended. */
  #futile = 0;
  #mode: 'run' | 'stopping' | 'aborting' | 'killed' = 'run';
  readonly #parking: Parking;

  /** `stimulus`: the fact that the actor was made for; absent when its partition was taken over. */
  constructor(
    readonly sessionId: string,
    private readonly deps: ActorDeps,
    stimulus?: EventEnvelope,
  ) {
    const raise = (): void => this.#wakeup.raise();
    this.#tasks = new StepTasks(this, deps, raise);
    this.#recovery = new Recovery(this, deps);
    this.#hooks = new StepHooks(this, deps, raise);
    this.#troubles = new Troubles(deps, raise);
    this.#parking = new Parking(deps, raise);
    if (stimulus) this.#recovery.note(stimulus);
    this.done = this.#run().finally(() => this.#release());
  }

  /** Takes a fact of the session from the partition's consumer, in stream order. */
  deliver(event: EventEnvelope): void {
    this.#recovery.note(event);
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

  get state(): SessionState {
    return this.journal.state;
  }

  context(state: SessionState = this.state): TurnContext {
    const { running } = this.#tasks;
    const moment = { epoch: this.deps.epoch, running, usage: this.#tasks.usageOf(state), answers: this.#hooks.answers };
    return this.deps.contexts.of(this.sessionId, state, moment);
  }

  /** A turn that opens by our append is ours. A step that ends by it lets the next recovery begin. */
  async append(append: Append, tail?: TailChunk): Promise<'stored' | 'conflict'> {
    const before = this.state.turn;
    try {
      const outcome = await this.journal.append(append, tail);
      this.#troubles.logAnswered();
      if (outcome === 'stored') this.#futile = 0;
      return outcome;
    } finally {
      const { turn } = this.state;
      if (before === null && turn?.epoch === this.deps.epoch) this.#mine = turn.turn_id;
      if (before?.step && turn?.step?.n !== before.step.n) this.#recovery.leaveGate();
    }
  }

  get mayClaim(): boolean {
    return this.#mode === 'run' && !this.#hooks.asked;
  }

  get journal(): SessionJournal {
    if (!this.#journal) throw new Error(`session ${this.sessionId} is not loaded yet`);
    return this.#journal;
  }

  async #run(): Promise<ActorEnd> {
    for (;;) {
      this.#wakeup.lower();
      let step: Step;
      try {
        step = this.#journal ? await this.#pass() : await this.#load();
      } catch (error) {
        step = await this.#survive(error);
      }
      if (this.#mode === 'killed') step = 'killed';
      if (step === 'wait') await this.#wakeup.wait();
      // What arrived since the look that led here has not been seen by it.
      else if (step !== 'again' && !(AT_REST.has(step) && this.#wakeup.raised)) return this.#finish(step);
    }
  }

  async #load(): Promise<Step> {
    const opened = await openJournal(this.sessionId, { ...this.deps, changed: () => this.#wakeup.raise() });
    this.#difference = opened.difference;
    this.#snapshotSeq = opened.snapshot_seq;
    this.#journal = opened.journal;
    for (const event of this.#early.splice(0)) opened.journal.absorb(event);
    return 'again';
  }

  /** One look at the session, one thing done about it. */
  async #pass(): Promise<Step> {
    const { turn, configuration, quarantine } = this.state;
    if (this.#mode === 'killed') return 'killed';
    if (quarantine) return 'quarantined';
    if (configuration?.spec.driver === 'claude-code') return 'idle';
    if (this.#mine !== undefined && turn?.turn_id !== this.#mine) this.#turnOver();
    if (this.#mode === 'aborting') return this.#handOver('the process stopped before the step was over');
    if (this.#troubles.waiting) {
      // A stimulus, a cancel or a stop is worth another look at once.
      if (!this.#recovery.stimulated && !turn?.cancel && this.#mode === 'run') return 'wait';
      this.#troubles.cutShort();
    }
    if (turn !== null && turn.turn_id !== this.#mine) return this.#takeUp(turn);
    this.#recovery.settled();
    if (turn?.cancel?.hard) this.#tasks.drop();
    return (await this.#tasks.deliver()) ? 'again' : this.#act(nextAction(this.state, this.context()));
  }

  async #act(action: Action): Promise<Step> {
    if (action.kind !== 'await_calls') this.#parking.end();
    switch (action.kind) {
      case 'rest':
        return 'idle';
      case 'claim':
        return this.#claim(action);
      case 'append':
        await this.#tasks.proceed(action.append);
        return 'again';
      case 'calls':
        return (await this.#tasks.decide(action.calls)) ? 'again' : 'wait';
      case 'await_model':
        return this.#tasks.awaitsModel ? 'wait' : this.#recovery.giveUpStep();
      case 'await_calls':
        return action.running.length > 0 ? 'wait' : this.#park();
      case 'stalled':
        return 'stalled';
    }
  }

  async #claim(action: Extract<Action, { kind: 'claim' }>): Promise<Step> {
    const fresh = this.state.turn === null;
    if (this.#mode === 'stopping') return fresh ? 'idle' : this.#handOver('the process is stopping');
    if (fresh && (!this.#checked || this.#difference !== undefined)) return this.#check();
    if (!this.#hooks.consult(action)) return 'wait';
    if ((await this.append(action.append)) === 'conflict') return 'again';
    this.#tasks.ask(action);
    return 'wait';
  }

  /** A new turn begins on a state that was compared with the log. A difference is a bug, and fails the turn. */
  async #check(): Promise<Step> {
    const difference = this.#difference ?? (await this.journal.verify());
    this.#difference = undefined;
    this.#checked = true;
    if (difference !== undefined) await refuseDifference(this, this.deps, difference);
    return 'again';
  }

  async #takeUp(turn: NonNullable<SessionState['turn']>): Promise<Step> {
    if (this.#mode !== 'run') return 'parked';
    const outcome = await this.#recovery.takeUp(turn);
    if (outcome !== 'resumed') return outcome;
    this.#mine = turn.turn_id;
    return 'again';
  }

  /** Nothing can be done before a human decides. The session stays in memory for a while, then leaves it. */
  #park(): Step {
    this.#recovery.leaveGate();
    return this.#mode === 'stopping' || this.#parking.expired() ? 'parked' : 'wait';
  }

  async #handOver(reason: string): Promise<Step> {
    this.#tasks.drop();
    if (this.#mine === undefined || this.state.turn?.turn_id !== this.#mine) return 'parked';
    return this.#recovery.handOver(reason);
  }

  /** Something failed. Decides between trying again, failing the turn, and giving up. */
  async #survive(error: unknown): Promise<Step> {
    if (this.#mode === 'killed') return 'killed';
    const { deps, sessionId: session_id } = this;
    const { logger } = deps;
    if (isLogError(error, 'fenced')) return 'fenced';
    if (isLogError(error, 'unknown_session')) return 'idle';
    if (isLogError(error, 'unavailable', 'moved', 'storage_full', 'conflict')) {
      logger.warn({ session_id, err: error }, 'the log did not take an append or a read; trying again');
      await this.#troubles.pauseForLog(error, this.#life.signal);
      // What was stored without an answer is in the log; while that cannot be read, the next try fails like this one.
      await this.#journal?.resync().catch(() => undefined);
      return 'again';
    }
    if (!this.#journal || ++this.#futile > FUTILE_LIMIT) {
      logger.error({ session_id, err: error }, 'the session cannot go on until its next stimulus');
      return 'failed';
    }
    logger.warn({ session_id, turn_id: this.state.turn?.turn_id, err: error }, 'a step failed');
    return this.#failTurn(error instanceof Error ? error.message : String(error));
  }

  async #failTurn(reason: string): Promise<Step> {
    this.#tasks.drop();
    try {
      const failed = await failTurn(this, this.deps, { reason, failed_tries: this.#troubles.failures });
      if (failed === 'closed') return 'again';
    } catch (error) {
      return this.#survive(error);
    }
    this.#mine = undefined;
    this.#recovery.leaveGate();
    this.#troubles.wait(RESUME_BACKOFF);
    return 'again';
  }

  /** No turn of ours is open any more: nothing of it is carried into the next. */
  #turnOver(): void {
    this.#mine = undefined;
    this.#checked = false;
    this.#tasks.clear();
    this.#hooks.drop();
    this.#parking.end();
    this.#troubles.clear();
    this.#recovery.leaveGate();
  }

  #finish(end: ActorEnd): ActorEnd {
    this.finished = true;
    if (end === 'idle' && this.#journal) setAside(this.#journal, this.#snapshotSeq, this.deps);
    return end;
  }

  #release(): void {
    this.finished = true;
    this.#life.abort();
    this.#tasks.drop();
    this.#hooks.drop();
    this.#troubles.clear();
    this.#parking.end();
    this.#recovery.leaveGate();
  }
}
