import type { EventEnvelope } from '@longrein/events';
import {
  type OpenTurn,
  type ResumeCause,
  decideHandover,
  decideResume,
  resumeCause,
  stimulusAfterStall,
} from '@longrein/session';
import type { ActorDeps } from './actor-deps.js';
import type { SessionView } from './session-view.js';

/** What became of an open turn that this process did not run so far. */
export type TakeUp = 'resumed' | 'again' | 'parked' | 'stalled';

/** Takes up open turns whose owner died, stopped, or gave them back. */
export class Recovery {
  #stimulus: ResumeCause | undefined;
  #leaveGate: (() => void) | undefined;

  constructor(
    private readonly session: SessionView,
    private readonly deps: ActorDeps,
  ) {}

  /** Whether something arrived that is worth a try at once. */
  get stimulated(): boolean {
    return this.#stimulus !== undefined;
  }

  /** Remembers what a fact means for a turn that nobody runs. */
  note({ type, payload, copied }: EventEnvelope): void {
    if (copied) return;
    if (type === 'approval/resolved') this.#stimulus = 'verdict';
    if (type === 'session/quarantine_lifted') this.#stimulus = 'wake';
    if (type === 'input/queued' && (payload as { wake?: boolean }).wake) this.#stimulus = 'wake';
  }

  /** The turn runs here, or none is open: what arrived is seen to. */
  settled(): void {
    this.#stimulus = undefined;
  }

  async takeUp(turn: OpenTurn): Promise<TakeUp> {
    const cause = this.#cause(turn);
    if (!cause) return turn.stalled ? 'stalled' : 'parked';
    if (cause === 'death' && turn.resumes.death > 0 && !this.#leaveGate) {
      // One turn that kills its process must not take the others with it each time.
      this.#leaveGate = await this.deps.recovery.enter();
      return 'again';
    }
    const { epoch, contexts } = this.deps;
    const decision = decideResume(this.session.state, { epoch, cause, traits: contexts.traits });
    if (decision.kind === 'refused') return 'again';
    if (decision.kind === 'stay') return decision.reason;
    if ((await this.session.append(decision.append)) === 'conflict') return 'again';
    this.#stimulus = undefined;
    return decision.kind === 'stall' ? 'stalled' : 'resumed';
  }

  /** Gives the open turn to the next owner. */
  async handOver(reason: string): Promise<'handed_over' | 'parked' | 'again'> {
    const decision = decideHandover(this.session.state, { epoch: this.deps.epoch, reason });
    if (decision.kind === 'refused') return 'parked';
    return (await this.session.append(decision.append)) === 'conflict' ? 'again' : 'handed_over';
  }

  /** A step without a reply that nobody asked a model for: its append was cut short. It is given up, not repeated. */
  async giveUpStep(): Promise<'again'> {
    const decision = decideResume(this.session.state, { epoch: this.deps.epoch, cause: 'handover' });
    if ('append' in decision) await this.session.append(decision.append);
    return 'again';
  }

  /** Lets the next of the turns that died before be taken up. */
  leaveGate(): void {
    this.#leaveGate?.();
    this.#leaveGate = undefined;
  }

  #cause(turn: OpenTurn): ResumeCause | undefined {
    if (turn.stalled) return turn.cancel ? 'wake' : (stimulusAfterStall(this.session.state) ?? undefined);
    if (this.#stimulus) return this.#stimulus;
    if (turn.cancel || this.deps.resume === 'on_takeover' || turn.handed_over !== null) return resumeCause(turn);
    return this.session.state.inbox.some(({ wake }) => wake) ? 'wake' : undefined;
  }
}
