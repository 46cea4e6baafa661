import { describe, expect, it } from '@jest/globals';
import { VirtualClock } from '@longrein/testing';
import { StreamFill } from './stream-fill.js';

/** A broker whose streams have these sizes and limits. */
class Broker {
  readonly asked: string[] = [];
  down = false;

  constructor(readonly streams: Record<string, { bytes: number; max_bytes?: number }>) {}

  request = <Answer>(subject: string): Promise<Answer> => {
    this.asked.push(subject);
    if (this.down) return Promise.reject(new Error('down'));
    const { bytes, max_bytes } = this.streams[subject.replace('STREAM.INFO.', '')]!;
    return Promise.resolve({ config: { max_bytes: max_bytes ?? -1 }, state: { bytes } } as Answer);
  };
}

async function watch(broker: Broker, names = Object.keys(broker.streams)) {
  const clock = new VirtualClock();
  const alarms: string[] = [];
  const problems: unknown[] = [];
  const fill = new StreamFill(broker, {
    streams: () => names,
    onAlarm: ({ stream, bytes, max_bytes }) => alarms.push(`${stream} ${bytes}/${max_bytes}`),
    onProblem: (problem) => problems.push(problem),
    clock,
  });
  await fill.start();
  return { clock, alarms, problems, fill };
}

describe('how full streams are', () => {
  it('is reported at 70 % of the limit, once, and again after it was below', async () => {
    const broker = new Broker({ A: { bytes: 69, max_bytes: 100 }, B: { bytes: 1_000 } });
    const { clock, alarms, fill } = await watch(broker);
    expect(alarms).toEqual([]);
    for (const bytes of [70, 99, 10, 71]) {
      broker.streams['A']!.bytes = bytes;
      await clock.advance(30_000);
    }
    expect(alarms).toEqual(['A 70/100', 'A 71/100']);
    expect(fill.levels).toEqual([
      { stream: 'A', bytes: 71, max_bytes: 100 },
      { stream: 'B', bytes: 1_000, max_bytes: undefined },
    ]);
    fill.stop();
  });

  it('is asked about once in 30 seconds, and no more once stopped', async () => {
    const broker = new Broker({ A: { bytes: 1 } });
    const { clock, fill } = await watch(broker);
    await clock.advance(29_999);
    expect(broker.asked).toHaveLength(1);
    await clock.advance(1);
    expect(broker.asked).toEqual(['STREAM.INFO.A', 'STREAM.INFO.A']);
    fill.stop();
    expect(clock.pending).toBe(0);
  });

  it('is asked about again after a failure, and forgotten of streams that are not ours any more', async () => {
    const broker = new Broker({ A: { bytes: 90, max_bytes: 100 } });
    broker.down = true;
    const names = ['A'];
    const { clock, alarms, problems, fill } = await watch(broker, names);
    expect([alarms, problems.length]).toEqual([[], 1]);
    broker.down = false;
    await clock.advance(30_000);
    expect(alarms).toEqual(['A 90/100']);
    names.pop();
    await clock.advance(30_000);
    expect(fill.levels).toEqual([]);
    fill.stop();
  });
});
