import { resolve } from 'node:path';
import { PartitionCountMismatch } from '@longrein/log/jetstream';
import { NatsServerFailedError, NatsServerMissingError } from '@longrein/nats-server';
import { ConfigError, type Environment, NodeTooOld, PortTaken, requireNode, stopOnSignals } from '@longrein/service';
import { banner } from './banner.js';
import { DataDirInUse } from './data-dir.js';
import { startSystem, type SystemOptions } from './system.js';
import { Teardown } from './teardown.js';

/** Port on which NATS clients look first. */
const NATS_PORT = 4222;

/** Errors that say what to do: where in the code they came up does not help. */
const EXPECTED = [
  ConfigError,
  DataDirInUse,
  NatsServerFailedError,
  NatsServerMissingError,
  NodeTooOld,
  PartitionCountMismatch,
  PortTaken,
];

// In one process every service writes here: what goes well is said below, so only trouble is logged unless asked for.
const env: Environment = { LOG_LEVEL: 'warn', ...process.env };
const teardown = new Teardown();
let stopping = false;
const exit = stopOnSignals(
  {
    stop: async () => {
      stopping = true;
      process.stdout.write('\nstopping\n');
      await teardown.run();
    },
  },
  { onError: complain },
);

try {
  requireNode();
  const options: SystemOptions = {
    dataDir: resolve(env['LONGREIN_DATA_DIR'] || '.longrein'),
    env,
    natsPort: NATS_PORT,
    onProgress: (what) => process.stdout.write(`${what}\n`),
  };
  const system = await startSystem(options, teardown);
  process.stdout.write(banner(system));
  const reason = await system.closed;
  if (reason) {
    complain(reason);
    await exit(1);
  }
} catch (error) {
  // A start that is stopped half way fails too, and that is no error.
  if (!stopping) {
    complain(error);
    process.exit(1);
  }
}

function complain(error: unknown): void {
  const expected = EXPECTED.some((kind) => error instanceof kind);
  const text = error instanceof Error ? ((expected ? undefined : error.stack) ?? error.message) : String(error);
  process.stderr.write(`${text}\n`);
}
