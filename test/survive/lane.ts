import type { LoopReplica } from './loop-replica.js';
import { ScriptedTools, TurnScript } from './scripted-turn.js';
import { SurvivalRig } from './survival-rig.js';

/** One deployment in which one turn after another is killed. */
export class Lane {
  readonly #starting = new Set<Promise<LoopReplica>>();

  private constructor(
    readonly rig: SurvivalRig,
    readonly tools: ScriptedTools,
    readonly script: TurnScript,
  ) {}

  static async start(): Promise<Lane> {
    const rig = await SurvivalRig.start();
    const lane = new Lane(rig, await ScriptedTools.start(rig), new TurnScript());
    rig.model.script = lane.script.reply;
    return lane;
  }

  /** The owner, with another replica, or `standbys` of them, ready to take over. */
  async ready(standbys = 1, env: Record<string, string> = {}): Promise<LoopReplica> {
    await Promise.all(this.#starting);
    for (let missing = standbys + 1 - this.running; missing > 0; missing--) this.replace(env);
    await Promise.all(this.#starting);
    return this.rig.runningOwner();
  }

  get running(): number {
    return this.rig.replicas.filter((replica) => replica.running).length;
  }

  /** Begins to start another replica; `ready` waits for it. */
  replace(env: Record<string, string> = {}): void {
    const starting = this.rig.loop(env).finally(() => this.#starting.delete(starting));
    this.#starting.add(starting);
  }

  async stop(): Promise<void> {
    await Promise.allSettled(this.#starting);
    await this.tools.stop();
    await this.rig.stop();
  }
}

/** Lanes for tests that run at the same time: each takes one for itself and gives it back. */
export class Lanes {
  readonly #free: Lane[] = [];
  readonly #waiting: ((lane: Lane) => void)[] = [];
  readonly #all: Promise<Lane>[] = [];

  constructor(private readonly count: number) {}

  async use<T>(work: (lane: Lane) => Promise<T>): Promise<T> {
    const lane = await this.#take();
    try {
      return await work(lane);
    } finally {
      const next = this.#waiting.shift();
      if (next) next(lane);
      else this.#free.push(lane);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map(async (lane) => (await lane).stop()));
  }

  #take(): Promise<Lane> {
    const lane = this.#free.pop();
    if (lane) return Promise.resolve(lane);
    if (this.#all.length === this.count) return new Promise((resolve) => this.#waiting.push(resolve));
    const started = Lane.start();
    this.#all.push(started);
    return started;
  }
}
