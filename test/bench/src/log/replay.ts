import { sessionSubjects, streamName } from '@longrein/events';
import { DeliverPolicy } from '@nats-io/jetstream';
import type { BenchOptions, Row } from '../kit/bench.js';
import { count, rate } from '../kit/format.js';
import { inTurns, ratioOf, timed } from '../kit/rounds.js';
import { median } from '../kit/stats.js';
import { BUSY, type LogDeployment } from './deployment.js';
import { type Writer, fill, writer } from './writers.js';

/** Messages the plain consumer asks for ahead; more made it no faster. */
const PLAIN_AHEAD = 2_000;

/** Reading a whole session through the log against a plain ordered consumer that parses the same messages. */
export async function replay(
  deployment: LogDeployment,
  { quick, progress }: BenchOptions,
): Promise<{ rows: Row[]; json: Record<string, number> }> {
  const [rounds, events] = quick ? [2, 10_000] : [5, 50_000];
  progress(`replay: a session of ${count(events)} events`);
  const target = await writer(deployment.log, 'replay');
  await fill(deployment.log, [target], events, 64);
  const total = target.last + 1;
  const { log, plain } = await inTurns(rounds, {
    plain: async () => (total * 1000) / (await timed(() => consumePlainly(deployment, target))),
    log: async () => (total * 1000) / (await timed(() => replayThroughLog(deployment, target))),
  });
  const ratio = ratioOf(log, plain);
  return {
    rows: [
      {
        what: `replay of ${count(total)} events`,
        value: rate(median(log)),
        against: `${rate(median(plain))} ordered consumer`,
        ratio,
        goal: { least: 0.6 },
      },
    ],
    json: { replay_ratio: ratio },
  };
}

async function replayThroughLog({ log }: LogDeployment, target: Writer): Promise<void> {
  let next = 0;
  for await (const event of log.readAll(target.id, { from_seq: 0 })) {
    if (event.seq !== next++) throw new Error(`${target.id}: seq ${event.seq} came where ${next - 1} was due`);
  }
  if (next !== target.last + 1) throw new Error(`${target.id}: ${next} events of ${target.last + 1} came`);
}

async function consumePlainly({ js, jsm }: LogDeployment, target: Writer): Promise<void> {
  const stream = streamName('sessions', BUSY);
  const filter = sessionSubjects('sessions', BUSY, target.id);
  // Where the session begins, so that the consumer need not search for it.
  const first = await jsm.direct.getMessage(stream, { next_by_subj: filter, seq: 1 });
  const consumer = await js.consumers.get(stream, {
    filter_subjects: filter,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: first!.seq,
  });
  const messages = await consumer.consume({ max_messages: PLAIN_AHEAD });
  let next = 0;
  for await (const message of messages) {
    const { seq } = message.json<{ seq: number }>();
    if (seq !== next++) throw new Error(`${target.id}: seq ${seq} came where ${next - 1} was due`);
    if (next > target.last) break;
  }
  await consumer.delete();
}
