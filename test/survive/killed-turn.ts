import { expect } from '@jest/globals';
import type { EventEnvelope } from '@longrein/events';
import { violations } from '../../apps/loop/src/testing/invariants.js';
import type { SessionProbe } from '../../apps/loop/src/testing/session-probe.js';
import type { NatsFrame } from '@longrein/testing';
import type { SeenAppend } from './append-label.js';
import type { Lane } from './lane.js';
import type { LoopReplica } from './loop-replica.js';
import { CALLS, historyOf, wrongRuns } from './scripted-turn.js';

/** What the turn's history may have besides, or instead of, what an undisturbed one has. */
export interface Differences {
  /** The call that may not be repeated has the result "outcome unknown". */
  readonly unknown?: true;
  /** A turn that died after its final message was asked once more. */
  readonly extra?: true;
}

/** Resolves when the replica that runs a turn has sprung its trap and is gone; another one is started in its place. */
export async function killed(turn: KilledTurn, victim: LoopReplica): Promise<void> {
  await Promise.race([victim.sprung, turn.missed()]);
  await victim.child.exited;
  turn.lane.replace();
}

let sessions = 0;

/** A turn on its way through one or more deaths. */
export class KilledTurn {
  readonly #verdicts: Promise<void>[] = [];
  /** Resolves when the second call of the parallel two is over. */
  readonly #found: Promise<unknown>;

  private constructor(
    readonly lane: Lane,
    readonly session: SessionProbe,
  ) {
    this.#found = session.until('tool/finished');
    // The first of two parallel calls comes back last: the other is kept as finished meanwhile.
    this.onRun(() => undefined);
  }

  static async in(lane: Lane): Promise<KilledTurn> {
    return new KilledTurn(lane, await lane.rig.session(`killed-${++sessions}`));
  }

  get id(): string {
    return this.session.id;
  }

  /** Calls back when a tool begins to run. */
  onRun(began: (name: string, attempt: number) => Promise<void> | void): void {
    this.lane.tools.began.set(this.id, async ({ name, attempt }) => {
      await began(name, attempt);
      if (name === 'look') await this.#found;
    });
  }

  /** Starts the turn. */
  async begin(): Promise<void> {
    await this.session.inject(this.id);
  }

  /** Approves the call that is asked about, once it is. */
  async approve(): Promise<void> {
    const { seq: request_seq } = await this.session.until('approval/requested');
    await this.session.append('approvals', 'approval/resolved', { call_id: 'risk', request_seq, verdict: 'approved' });
  }

  /** Approves in the background. */
  approveWhenAsked(): void {
    this.#verdicts.push(this.approve());
  }

  /** Traps spring at what concerns this session only. */
  append(label: string): (append: SeenAppend) => boolean {
    return (append) => append.session_id === this.id && append.label === label;
  }

  /** The request to a tool, when the call is this session's. */
  call(name: string): (frame: NatsFrame) => boolean {
    return ({ subject, payload }) => subject === `tools.default.${name}.call` && payload!.includes(this.id);
  }

  /** An event of this session, as the consumer of its partition gets it. */
  event(type: string): (frame: NatsFrame) => boolean {
    return ({ payload }) =>
      (payload?.includes(`"type":"${type}"`) && payload.includes(`"session_id":"${this.id}"`)) ?? false;
  }

  /** Rejects when the turn has ended, all appends were answered, and the process that ended it runs on. */
  async missed(): Promise<never> {
    await this.session.until('turn/end');
    const owner = this.lane.rig.owner();
    await owner.whenSettled();
    if (!owner.running) return new Promise<never>(() => undefined);
    const labels = owner.appends.filter(({ session_id }) => session_id === this.id).map(({ label }) => label);
    throw new Error(`the turn ended and no trap had sprung; it appended: ${labels.join(', ')}`);
  }

  /** Resolves when the turn is over, and another one after it. */
  async over(): Promise<void> {
    await this.session.until('turn/end');
    await Promise.all(this.#verdicts);
    await this.session.inject('again');
    await this.session.until('turn/end', 2);
  }

  /** Holds the session against an undisturbed one. */
  async check({ unknown, extra }: Differences = {}, events?: readonly EventEnvelope[]): Promise<void> {
    const stored = events ?? (await this.session.events());
    const { model } = this.lane.rig;
    const runs = this.lane.tools.of(this.id);
    const answer = (text: string) => ({ role: 'assistant', parts: [{ type: 'text', text }] });
    const user = (text: string) => ({ role: 'user', text, source: 'user' });
    const result = (id: string) =>
      unknown && id === 'pay'
        ? { role: 'tool', id, content: null, error: expect.stringContaining('outcome unknown') }
        : { role: 'tool', id, content: `${id} is done`, error: null };
    const calls = CALLS.map((id) => ({ type: 'tool_call', id, name: id, args: { of: id } }));
    expect(historyOf(stored)).toEqual([
      user(this.id),
      { role: 'assistant', parts: [{ type: 'text', text: 'Let me see.' }, ...calls] },
      ...CALLS.map(result),
      answer('All done.'),
      ...(extra ? [answer('Nothing to add.')] : []),
      user('again'),
      answer('Nothing to add.'),
    ]);
    expect(violations(stored, { settled: true })).toEqual([]);
    expect(wrongRuns(stored, runs)).toEqual([]);
    expect(runs.filter(({ name }) => name === 'pay').length).toBeLessThanOrEqual(1);
    const count = (type: string): number => stored.filter((event) => event.type === type).length;
    expect([count('turn/start'), count('turn/end'), count('approval/requested')]).toEqual([2, 2, 1]);
    expect(model.rejections).toEqual([]);
  }

  /** Holds a session whose first turn was cancelled while it was parked against what it must be. */
  async checkCancelled(reason: string): Promise<void> {
    const stored = await this.session.events();
    const of = (type: string) => stored.filter((event) => event.type === type).map(({ payload }) => payload);
    expect(of('turn/end')).toMatchObject([{ status: 'cancelled', reason }, { status: 'completed' }]);
    expect(of('approval/resolved')).toMatchObject([{ call_id: 'risk', verdict: 'denied' }]);
    expect(of('tool/result')).toMatchObject(CALLS.map((id) => ({ id })));
    expect(this.lane.tools.of(this.id).filter(({ name }) => name === 'risk')).toEqual([]);
    expect(violations(stored, { settled: true })).toEqual([]);
    expect(this.lane.rig.model.rejections).toEqual([]);
  }
}
