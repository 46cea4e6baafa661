import { approvalsConfig, startApprovals } from '@longrein/approvals-app';
import { gatewayConfig, startGateway } from '@longrein/gateway-app';
import { logConfig, startLog } from '@longrein/log-app';
import { loopConfig, startLoop } from '@longrein/loop-app';
import { freePort, startNatsServer } from '@longrein/nats-server';
import { registryConfig, startRegistry } from '@longrein/registry-app';
import type { Environment, RunningService } from '@longrein/service';
import { type ChosenModel, chooseModel } from './choose-model.js';
import { type DataDir, takeDataDir } from './data-dir.js';
import { Teardown } from './teardown.js';

/** How a system is started. */
export interface SystemOptions {
  /** Where streams and the token are kept. Not touched when `NATS_URL` names a server, but for the token. */
  readonly dataDir: string;
  /** Variables of the services; `NATS_URL` means that a server is there already. */
  readonly env: Environment;
  /** Port of the NATS server that is started. Taken when free, else another. Absent: any free port. */
  readonly natsPort?: number;
  /** Told about each thing that takes a while. */
  readonly onProgress?: (what: string) => void;
}

/** Every service of the system, running in this process. */
export interface System {
  /** Of the gateway, e.g. `http://127.0.0.1:7423`. */
  readonly url: string;
  readonly natsUrl: string;
  readonly natsVersion: string;
  /** One that the gateway takes. */
  readonly token: string;
  readonly model: ChosenModel;
  readonly partitions: number;
  /** Resolves when the system cannot go on, with the reason; with nothing when it was stopped. */
  readonly closed: Promise<Error | undefined>;
  /** Stops services, model and server, in this order. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Starts a NATS server (unless there is one), the model and every service. What was started is stopped on failure; run
 * the teardown to stop it from outside, also in the middle of the start.
 */
export async function startSystem(options: SystemOptions, teardown = new Teardown()): Promise<System> {
  try {
    return await start(options, teardown);
  } catch (error) {
    await teardown.run();
    throw error;
  }
}

async function start({ dataDir, env, natsPort, onProgress }: SystemOptions, teardown: Teardown): Promise<System> {
  const data = await takeDataDir(dataDir);
  teardown.add(() => data.release());
  const ended: Promise<Error | undefined>[] = [];
  const natsUrl = env['NATS_URL']?.trim() || (await ownServer(data, natsPort, teardown, ended, onProgress));
  const model = await chooseModel(env);
  teardown.add(() => model.stop());
  const tokens = env['LONGREIN_TOKENS']?.trim() || JSON.stringify([{ token: await data.token() }]);
  const full: Environment = {
    ...env,
    ...model.env,
    LONGREIN_MODEL: model.spec,
    LONGREIN_TOKENS: tokens,
    NATS_URL: natsUrl,
  };
  const up = async (what: string, starting: Promise<RunningService>): Promise<RunningService> => {
    onProgress?.(`starting ${what}`);
    const service = await starting;
    teardown.add(() => service.stop());
    ended.push(service.closed);
    return service;
  };
  // Several services share this process, and one of them, the gateway, has a port.
  const log = logConfig.parse(full);
  const gatewayOf = gatewayConfig.parse(full);
  await up('log', startLog(withoutHttp(log)));
  await up('registry', startRegistry(withoutHttp(registryConfig.parse(full))));
  await up('approvals', startApprovals(withoutHttp(approvalsConfig.parse(full))));
  await up('loop', startLoop(withoutHttp(loopConfig.parse(full))));
  const gateway = await up('gateway', startGateway(gatewayOf));

  return {
    url: gateway.url ?? '',
    natsUrl,
    natsVersion: gateway.nats.info?.version ?? 'unknown',
    token: gatewayOf.tokens[0]?.token ?? '',
    model,
    partitions: log.partitions,
    closed: Promise.race(ended),
    stop: () => teardown.run(),
  };
}

/** Starts a server on the data directory; its unexpected end is the system's. */
async function ownServer(
  data: DataDir,
  wanted: number | undefined,
  teardown: Teardown,
  ended: Promise<Error | undefined>[],
  onProgress: SystemOptions['onProgress'],
): Promise<string> {
  onProgress?.('starting a NATS server (the first time it may have to be fetched)');
  const options = { storeDir: data.natsDir, readyTimeoutMs: 120_000 };
  const server = await startNatsServer({ ...options, port: wanted ?? (await freePort()) }).catch((error: unknown) => {
    if (wanted === undefined) throw error;
    onProgress?.(`port ${wanted} is taken, so the NATS server takes another`);
    return startNatsServer(options);
  });
  let stopping = false;
  teardown.add(() => {
    stopping = true;
    return server.stop();
  });
  ended.push(
    server.exited.then(({ code, signal }) =>
      stopping ? undefined : new Error(`the NATS server ended (${signal ?? `code ${code}`}):\n${server.log}`),
    ),
  );
  return server.url;
}

function withoutHttp<Config extends { readonly http?: unknown }>({ http: _, ...config }: Config): Omit<Config, 'http'> {
  return config;
}
