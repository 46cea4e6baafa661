import { ConfigError, type ConfigDefinition, type Environment } from '../config/define-config.js';
import { NodeTooOld, requireNode } from './node-version.js';
import type { Stoppable } from './shutdown.js';
import { stopOnSignals } from './shutdown.js';

/** What a process's main needs of a running app. */
export interface MainService extends Stoppable {
  /** Resolves when the app cannot go on: with the reason, or nothing when it was stopped. */
  readonly closed?: Promise<Error | undefined>;
}

/** Exit code for a configuration that does not parse, or a Node that is too old (`EX_CONFIG` of sysexits.h). */
const EXIT_CONFIG = 78;

/**
 * The body of an app's `main.ts`: config from the environment, start, stop on SIGTERM and SIGINT, exit 1 when the app
 * cannot go on (its NATS connection was closed for good), so that a supervisor starts a fresh one.
 */
export async function bootstrap<Config>(
  definition: ConfigDefinition<Config>,
  start: (config: Config) => Promise<MainService>,
  env: Environment = process.env,
): Promise<void> {
  let config: Config;
  try {
    requireNode();
    config = definition.parse(env);
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof NodeTooOld)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(EXIT_CONFIG);
  }
  // Nothing runs yet, or only half: a signal during the start has nothing to wait for.
  let service: MainService | undefined;
  const exit = stopOnSignals({ stop: async () => service?.stop() }, { onError: complain });
  try {
    service = await start(config);
  } catch (error) {
    complain(error);
    process.exit(1);
  }
  const reason = await service.closed;
  if (!reason) return;
  complain(reason);
  await exit(1);
}

function complain(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
}
