import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '@longrein/service';
import { mainJob } from './demo/main-job.js';
import { startWeatherTool } from './demo/weather-tool.js';
import { startSystem } from './system.js';
import { Teardown } from './teardown.js';

/** The demo's own time, without what it takes to get a NATS server. */
const LIMIT_MS = 90_000;

/** Variables that would make the demo depend on something outside of it. */
const OUTSIDE = /^(NATS_|LONGREIN_|OPENAI_|ANTHROPIC_|PORT$|HOST$)/;

const write = (text: string): void => void process.stdout.write(text);

/** Everything of its own: data, ports, model, tool. */
async function demo(): Promise<void> {
  const teardown = new Teardown();
  const stopEarly = (): void => {
    void teardown.run().finally(() => process.exit(130));
  };
  process.once('SIGINT', stopEarly);
  process.once('SIGTERM', stopEarly);
  try {
    const dataDir = await mkdtemp(join(tmpdir(), 'longrein-demo-'));
    teardown.add(() => rm(dataDir, { recursive: true, force: true, maxRetries: 3 }));
    const system = await startSystem({ dataDir, env: environment(), onProgress: (what) => write(`${what}\n`) });
    teardown.add(() => system.stop());
    const signal = AbortSignal.timeout(LIMIT_MS);
    write('starting a tool in its own process\n');
    const tool = await startWeatherTool(system.natsUrl, signal);
    teardown.add(() => tool.stop());
    const broken = system.closed.then((reason) => {
      throw reason ?? new Error('the system stopped');
    });
    await Promise.race([mainJob(system, write, signal), broken]);
  } finally {
    await teardown.run();
  }
}

function environment(): Environment {
  const inherited = Object.entries(process.env).filter(([name]) => !OUTSIDE.test(name));
  return { ...Object.fromEntries(inherited), PORT: '0', LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'warn' };
}

// Whatever hangs, the process ends: a demo that waits for ever shows nothing.
const watchdog = setTimeout(() => {
  process.stderr.write('the demo did not end in time\n');
  process.exit(1);
}, LIMIT_MS * 4);
try {
  await demo();
  write('The demo is over; everything it started has stopped.\n');
  process.exitCode = 0;
} catch (error) {
  process.stderr.write(`the demo failed: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
} finally {
  clearTimeout(watchdog);
}
