import { LogClient, deployedPartitions } from '@longrein/log/client';
import {
  ConfigError,
  type Environment,
  connectionOptions,
  defineConfig,
  serviceConfig,
  serviceVariables,
} from '@longrein/service';
import { type NatsConnection, connect } from '@nats-io/transport-node';
import { CliError, EXIT, causeOf } from '../errors.js';

/** Options of the commands that operate a deployment. */
export interface OperatorOptions {
  /** One or more NATS URLs, separated by commas. */
  readonly nats?: string;
  readonly json?: boolean;
}

/** A deployment, reached through its NATS servers: what operators work on when no gateway can help. */
export interface OperatedDeployment {
  readonly nats: NatsConnection;
  readonly partitions: number;
  readonly log: LogClient;
}

const connection = defineConfig(serviceVariables({ port: 0 }), serviceConfig);

/** Connects, lets `work` do its work, and closes. Fails rather than waiting for a server. */
export async function onDeployment<T>(
  { nats: servers }: OperatorOptions,
  env: Environment,
  work: (deployment: OperatedDeployment) => Promise<T>,
): Promise<T> {
  const nats = await open(servers === undefined ? env : { ...env, NATS_URL: servers });
  try {
    const partitions = await deployedPartitions(nats);
    if (partitions === undefined) {
      throw new CliError(`there is no deployment at ${nats.getServer()}; give --nats or NATS_URL`, EXIT.unreachable);
    }
    const log = new LogClient(nats, { service: 'operator', partitions });
    try {
      return await work({ nats, partitions, log });
    } finally {
      log.close();
    }
  } finally {
    await nats.close();
  }
}

async function open(env: Environment): Promise<NatsConnection> {
  try {
    const { nats } = connection.parse(env);
    const options = await connectionOptions(nats, { service: 'operator', instance: 'longrein' });
    return await connect({ ...options, waitOnFirstConnect: false, reconnect: false });
  } catch (error) {
    if (error instanceof ConfigError) throw new CliError(error.message, EXIT.usage, { cause: error });
    throw new CliError(`NATS is out of reach: ${causeOf(error)}`, EXIT.unreachable, { cause: error });
  }
}
