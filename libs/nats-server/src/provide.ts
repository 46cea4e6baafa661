import { type NatsServer, startNatsServer, type StartOptions } from './process/start.js';

/** A NATS server to use: somebody else's (`server` is absent), or one that was started here. */
export interface ProvidedNats {
  readonly url: string;
  readonly server?: NatsServer;
}

/** The server of `NATS_URL` when that is set, untouched; else one is started. */
export async function provideNats(
  options: StartOptions = {},
  env: NodeJS.ProcessEnv = process.env,
): Promise<ProvidedNats> {
  const url = env['NATS_URL'];
  if (url !== undefined && url !== '') return { url };
  const server = await startNatsServer(options);
  return { url: server.url, server };
}
