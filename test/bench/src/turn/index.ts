import type { ChildProcess } from '@longrein/testing';
import type { Bench, BenchOptions, BenchResult } from '../kit/bench.js';
import { milliseconds } from '../kit/format.js';
import { inTurns, ratioOf, withoutStackTraces } from '../kit/rounds.js';
import { median, rounded } from '../kit/stats.js';
import { Conversation } from './conversation.js';
import { LEASE_MS, PARTITIONS, TurnDeployment, sessionIn } from './deployment.js';
import { Floor } from './floor.js';
import { writePast } from './past.js';
import { takeover } from './takeover.js';

/** Earlier turns of the sessions that are compared. */
const [SHORT, LONG] = [10, 1_000];

const SESSIONS = 50;

/** Rounds of the floor hold so many times the turns, to last about as long as those of the loop. */
const FLOOR_SHARE = 4;

/** What a turn costs beside the bare storing of its events, and that it costs the same however long its session is. */
export const turnBench: Bench = {
  name: 'turn',
  description: 'turns of one tool call on a model without latency, against plain JetStream',
  run: (options) => withoutStackTraces(() => run(options)),
};

async function run({ quick, progress }: BenchOptions): Promise<BenchResult> {
  const [rounds, perRound, parallelTurns] = quick ? [3, 15, 2] : [9, 40, 6];
  const deployment = await TurnDeployment.start();
  try {
    progress(`sessions with a past of ${SHORT} and of ${LONG} turns`);
    const [short, long] = [sessionIn(0, 'short'), sessionIn(0, 'long')];
    await writePast(deployment, 0, [
      { id: short, turns: SHORT },
      { id: long, turns: LONG },
    ]);
    const owner = await deployment.loop();

    progress('one turn after another, and the floor');
    const one = await Conversation.open(deployment, sessionIn(0, 'one'));
    const floor = await Floor.record(deployment, one);
    for (let turn = 0; turn < perRound; turn++) await one.turn();
    // Each round goes on in a session of its own: what a turn costs in a long one is measured by itself.
    let sequential = one;
    const speed = await inTurns(rounds, {
      floor: () => perSecond(FLOOR_SHARE * perRound, () => floor.turn()),
      turns: async () => {
        const rate = await perSecond(perRound, () => sequential.turn());
        sequential = await Conversation.open(deployment, sessionIn(0, `one-${performance.now()}`.replace('.', '-')));
        await sequential.turn();
        return rate;
      },
    });

    progress(`${SESSIONS} sessions at once`);
    const many = await conversations(deployment, 'many', SESSIONS);
    const parallel: number[] = [];
    for (let round = 0; round <= Math.min(rounds, 5); round++) {
      const begin = performance.now();
      await Promise.all(many.map((each) => inOrder(parallelTurns, () => each.turn())));
      // The first round is for warming up.
      if (round > 0) parallel.push((SESSIONS * parallelTurns * 1000) / (performance.now() - begin));
    }

    progress('turns in a short and in a long session');
    const past = { short: await Conversation.open(deployment, short), long: await Conversation.open(deployment, long) };
    const growth = await inTurns(quick ? 10 : 40, { short: () => past.short.turn(), long: () => past.long.turn() });

    const takeovers: number[] = [];
    let running: ChildProcess = owner;
    for (let round = 0; round < (quick ? 1 : 5); round++) {
      progress(`takeover ${round + 1}`);
      const { seconds, next } = await takeover(deployment, running, one);
      takeovers.push(seconds);
      running = next;
    }

    const lease_s = LEASE_MS / 1000;
    const floorRatio = ratioOf(speed.turns, speed.floor);
    const growthRatio = ratioOf(growth.long, growth.short);
    const taken = median(takeovers);
    const turns = (value: number): string => `${value.toFixed(1)} turns/s`;
    return {
      conditions: [
        `nats-server ${deployment.nats.version}, one node, file storage, Node ${process.version}, ${PARTITIONS} partitions.`,
        'NATS, log, loop and model are processes of their own; the tool and the client are in the bench’s process. The',
        'model answers at once, over HTTP: 20 deltas of text and one call, then 20 deltas. A turn lasts from the client’s',
        'append until its turn/end has come to the client. Floor: the events of such a turn, published to plain JetStream',
        `one after another, each acknowledged (${floor.size} events). Rounds of both in turns, medians of the rounds’ ratios.`,
        `Takeover: from kill -9 of the owner until turn/resumed is stored, ${takeovers.length} times, with a lease of ${lease_s} s.`,
      ],
      rows: [
        {
          what: 'turns one after another',
          value: turns(median(speed.turns)),
          against: `${turns(median(speed.floor))} floor`,
          ratio: floorRatio,
          goal: { least: 0.35 },
        },
        { what: `turns in ${SESSIONS} sessions at once`, value: turns(median(parallel)) },
        {
          what: `a turn after ${LONG} others`,
          value: milliseconds(median(growth.long)),
          against: `${milliseconds(median(growth.short))} after ${SHORT}`,
          ratio: growthRatio,
          goal: { most: 1.25 },
        },
        {
          what: 'takeover',
          value: `${taken.toFixed(2)} s`,
          against: `${lease_s} s lease`,
          ratio: taken / lease_s,
          goal: { most: rounded((lease_s + 2) / lease_s, 2) },
        },
      ],
      json: {
        turns_per_s_seq: rounded(median(speed.turns)),
        turns_per_s_50: rounded(median(parallel)),
        floor_turns_per_s: rounded(median(speed.floor)),
        floor_ratio_seq: rounded(floorRatio),
        growth_ratio: rounded(growthRatio),
        takeover_s: rounded(taken),
        takeover_max_s: rounded(Math.max(...takeovers)),
        lease_s,
        nats_version: deployment.nats.version,
        quick: quick ? 1 : 0,
      },
    };
  } finally {
    await deployment.stop();
  }
}

/** So many conversations, spread over the partitions. */
function conversations(deployment: TurnDeployment, name: string, count: number): Promise<Conversation[]> {
  const ids = Array.from({ length: count }, (_, index) => sessionIn(index % PARTITIONS, `${name}-${index}`));
  return Promise.all(ids.map((id) => Conversation.open(deployment, id)));
}

/** How many a second, one after the other. */
async function perSecond(count: number, action: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await inOrder(count, action);
  return (count * 1000) / (performance.now() - begin);
}

async function inOrder(count: number, action: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < count; i++) await action();
}
