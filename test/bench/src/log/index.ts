import type { Bench, BenchOptions, BenchResult } from '../kit/bench.js';
import { rounded } from '../kit/stats.js';
import { coldRead } from './cold.js';
import { LogDeployment } from './deployment.js';
import { latency } from './latency.js';
import { PlainStream } from './plain.js';
import { replay } from './replay.js';
import { seek } from './seek.js';
import { throughput } from './throughput.js';
import { WINDOW } from './writers.js';

/** What the log service costs beside plain JetStream, and that reads cost what they return. */
export const logBench: Bench = {
  name: 'log',
  description: 'the log service in its own process against plain JetStream',
  run,
};

async function run(options: BenchOptions): Promise<BenchResult> {
  const deployment = await LogDeployment.start();
  try {
    const plain = await PlainStream.create(deployment);
    const appends = await throughput(deployment, plain, options);
    const parts = [
      appends,
      await latency(deployment, plain, options),
      await replay(deployment, options),
      await seek(deployment, options),
      await coldRead(deployment, options),
    ];
    const figures = parts.flatMap(({ json }) => Object.entries(json)).map(([key, value]) => [key, rounded(value)]);
    const { version } = deployment.nats;
    return {
      conditions: [
        `nats-server ${version}, one node, file storage, Node ${process.version}. Bodies of ${appends.bodyBytes} bytes, ${WINDOW} events in flight.`,
        'Appends go through LogClient to the log service in a process of its own; plain publishes are JetStreamClient.publish',
        'of the same bodies under subjects of the same layout, on the same connection, into a stream configured as the log’s.',
        'That call makes an error object each time; lean: the same with stack traces off in the process; bare: the publishes',
        'without that call, acknowledgements counted on one inbox. The goals are about the call as the library ships it. Sides',
        'in turns; medians of the rounds’ ratios. Replay and the ordered consumer parse every body. Cold: the log process has',
        'just started and has not seen the session.',
      ],
      rows: parts.flatMap(({ rows }) => rows),
      json: { ...Object.fromEntries(figures), nats_version: version, quick: options.quick ? 1 : 0 },
    };
  } finally {
    await deployment.stop();
  }
}
