import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { deaths, play } from './deaths.js';
import { type Differences, KilledTurn, killed } from './killed-turn.js';
import { Lanes } from './lane.js';

// A test also waits for its lane.
jest.setTimeout(120_000);

const lanes = new Lanes(3);
afterAll(() => lanes.stop());

describe('complaints 3 and 4: killed outside of an append', () => {
  it.concurrent('RES-13 killed as the input arrives: the next owner starts its turn', () =>
    deaths(lanes, (turn) => [{ down: turn.event('input/queued') }]),
  );

  it.concurrent(
    'RES-11 killed in the middle of the model’s answer: the step stays unclosed, and the turn takes another',
    () =>
      play(lanes, async (turn, lane, owner) => {
        turn.approveWhenAsked();
        lane.script.held.add(turn.id);
        await turn.begin();
        await lane.rig.model.reached(turn.id);
        await turn.session.until('assistant/chunk');
        owner.die();
        await killed(turn, owner);
        await turn.session.until('step/end');
        expect((await turn.session.payloads('step/start')).map(({ n }) => n).slice(0, 2)).toEqual([1, 2]);
        expect((await turn.session.payloads('step/end')).map(({ n }) => n)).not.toContain(1);
      }),
  );

  it.concurrent.each<[string, Differences]>([
    ['look', {}],
    ['find', {}],
    ['pay', { unknown: true }],
    ['risk', {}],
  ])('RES-09 killed before the request to the tool %s leaves', (name, differences) =>
    deaths(lanes, (turn) => [{ up: turn.call(name) }], differences),
  );

  it.concurrent.each<[string, Differences]>([
    ['look', {}],
    ['find', {}],
    ['pay', { unknown: true }],
    ['risk', {}],
  ])('RES-09 RES-18 killed while the tool %s runs', (name, differences) =>
    play(lanes, async (turn, lane, owner) => {
      turn.approveWhenAsked();
      turn.onRun(async (running, attempt) => {
        if (running !== name || attempt > 1) return;
        owner.die();
        await owner.child.exited;
      });
      await turn.begin();
      await owner.child.exited;
      await killed(turn, owner);
      await turn.session.until('turn/end');
      const runs = lane.tools.of(turn.id).filter((run) => run.name === name);
      if (differences.unknown) expect(runs).toMatchObject([{ attempt: 1 }]);
      else expect(runs.slice(0, 2)).toMatchObject([{ attempt: 1 }, { attempt: 2 }]);
      expect(new Set(runs.map(({ key }) => key)).size).toBe(1);
      return differences;
    }),
  );
});

describe('complaints 17 and 19: killed around an approval', () => {
  it.concurrent('APR-17 APR-18 killed while parked: nobody is asked again, and the verdict brings the turn on', () =>
    play(lanes, async (turn, lane, owner) => {
      await turn.begin();
      await turn.session.until('approval/requested');
      owner.die();
      await killed(turn, owner);
      const next = await lane.rig.runningOwner();
      // Once it has parked the turn again. A verdict that is there when it takes over is read as part of what the dead left.
      await next.child.json<{ msg?: string; session_id?: string; end?: string }>(
        ({ msg, session_id, end }) => msg === 'a session left work' && session_id === turn.id && end === 'parked',
      );
      await turn.approve();
      await turn.session.until('turn/end');
      expect((await turn.session.payloads('turn/resumed')).map(({ cause }) => cause)).toEqual(['verdict']);
    }),
  );

  it.concurrent('APR-16 killed while parked, and the verdict comes while nobody owns the session', () =>
    play(lanes, async (turn, _, owner) => {
      await turn.begin();
      await turn.session.until('approval/requested');
      owner.die();
      await turn.approve();
      await killed(turn, owner);
    }),
  );

  it.concurrent('APR-16 complaint 19: killed right after the verdict: it stands, and the call runs once', () =>
    play(lanes, async (turn, lane, owner) => {
      turn.approveWhenAsked();
      owner.arm({ down: turn.event('approval/resolved') });
      await turn.begin();
      await killed(turn, owner);
      await turn.session.until('turn/end');
      expect(lane.tools.of(turn.id).filter(({ name }) => name === 'risk')).toHaveLength(1);
    }),
  );

  it.concurrent(
    'complaint 19: killed right after the verdict, and again right after execution starts: nobody is asked again',
    () =>
      deaths(lanes, (turn) => [
        { down: turn.event('approval/resolved') },
        { after: turn.append('tool/started(risk)') },
      ]),
  );

  it.concurrent.each(['before', 'after'] as const)(
    'CAN-10 APR-20 APR-21 cancelled while parked, and killed %s the append that denies, answers and ends: nothing dangles',
    (when) =>
      lanes.use(async (lane) => {
        const owner = await lane.ready();
        const turn = await KilledTurn.in(lane);
        owner.arm({ [when]: turn.append('approval/resolved(risk)+tool/result(risk)+step/end+turn/end') });
        await turn.begin();
        await turn.session.until('approval/requested');
        await turn.session.cancel({ reason: 'enough' });
        await killed(turn, owner);
        await turn.over();
        await turn.checkCancelled('enough');
      }),
  );
});

describe('killed while handing over', () => {
  it.concurrent.each(['before', 'after'] as const)('killed %s the append of turn/handed_over', (when) =>
    play(lanes, async (turn, _, owner) => {
      turn.approveWhenAsked();
      owner.arm({ [when]: turn.append('turn/handed_over#1') });
      turn.onRun(async (name) => {
        if (name !== 'risk' || !owner.running) return;
        owner.child.signal('SIGTERM');
        // The tool answers a loop that knows that it is stopping: from here on it may claim no step.
        await owner.child.json<{ msg?: string; active?: number }>(
          ({ msg, active }) => msg === 'hands its turns over' && active !== 0,
        );
      });
      await turn.begin();
      await killed(turn, owner);
      await turn.session.until('turn/end');
      const causes = (await turn.session.payloads('turn/resumed')).map(({ cause }) => cause);
      expect(causes).toEqual([when === 'before' ? 'death' : 'handover']);
    }),
  );
});
