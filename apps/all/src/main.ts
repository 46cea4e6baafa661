import { resolve } from 'node:path';
import { ConfigError, type Environment, stopOnSignals } from '@longrein/service';
import { banner } from './banner.js';
import { DataDirInUse } from './data-dir.js';
import { startSystem, type System } from './system.js';

/** Port on which NATS clients look first. */
const NATS_PORT = 4222;

// In one process every service writes here: what goes well is said below, so only trouble is logged unless asked for.
const env: Environment = { LOG_LEVEL: 'warn', ...process.env };
let system: System | undefined;
const exit = stopOnSignals(
  {
    stop: async () => {
      process.stdout.write('\nstopping\n');
      await system?.stop();
    },
  },
  { onError: complain },
);

try {
  system = await startSystem({
    dataDir: resolve(env['LONGREIN_DATA_DIR'] ?? '.longrein'),
    env,
    natsPort: NATS_PORT,
    onProgress: (what) => process.stdout.write(`${what}\n`),
  });
  process.stdout.write(banner(system));
  const reason = await system.closed;
  if (reason) {
    complain(reason);
    await exit(1);
  }
} catch (error) {
  complain(error);
  process.exit(1);
}

function complain(error: unknown): void {
  const expected = error instanceof ConfigError || error instanceof DataDirInUse;
  const text = error instanceof Error ? ((expected ? undefined : error.stack) ?? error.message) : String(error);
  process.stderr.write(`${text}\n`);
}
