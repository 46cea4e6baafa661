import { mkdtempSync, rmSync } from 'node:fs';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { connect } from '@nats-io/transport-node';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { NatsServerFailedError } from '../errors.js';
import { availableNatsVersions, resolveTestNatsServer } from '../for-tests.js';
import { type NatsServer, startNatsServer, type StartOptions } from './start.js';

const running: NatsServer[] = [];

async function start(options: StartOptions): Promise<NatsServer> {
  const server = await startNatsServer(options);
  running.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function addMessage(url: string, body: string): Promise<number> {
  const nc = await connect({ servers: url });
  try {
    await (await jetstreamManager(nc)).streams.add({ name: 'KEPT', subjects: ['kept'] });
    return (await jetstream(nc).publish('kept', body)).seq;
  } finally {
    await nc.close();
  }
}

async function messages(url: string): Promise<number> {
  const nc = await connect({ servers: url });
  try {
    return (await (await jetstreamManager(nc)).streams.info('KEPT')).state.messages;
  } finally {
    await nc.close();
  }
}

const atHand = availableNatsVersions();
const versions = atHand.length > 0 ? atHand : [await resolveTestNatsServer()];

describe.each(versions)('a server of version $version ($name)', ({ path, version }) => {
  it('accepts clients, has JetStream, and says which version it is', async () => {
    const server = await start({ binary: path });
    expect(server.version).toBe(version);
    expect(server.url).toBe(`nats://127.0.0.1:${server.port}`);
    expect(await addMessage(server.url, 'one')).toBe(1);
  });

  it('comes back on the same port with the same data after kill -9', async () => {
    const server = await start({ binary: path });
    await addMessage(server.url, 'one');
    const { pid, port } = server;
    await server.kill();
    expect(alive(pid)).toBe(false);
    await server.restart();
    expect(server.pid).not.toBe(pid);
    expect(server.port).toBe(port);
    expect(await messages(server.url)).toBe(1);
  });

  it('removes a temporary store and keeps a given one', async () => {
    const storeDir = mkdtempSync(join(tmpdir(), 'longrein-kept-'));
    try {
      const kept = await start({ binary: path, storeDir });
      const temporary = await start({ binary: path });
      await addMessage(kept.url, 'one');
      await Promise.all([kept.stop(), temporary.stop()]);
      expect(existsSync(temporary.storeDir)).toBe(false);
      const again = await start({ binary: path, storeDir });
      expect(await messages(again.url)).toBe(1);
    } finally {
      await Promise.all(running.splice(0).map((server) => server.stop()));
      rmSync(storeDir, { recursive: true, force: true });
    }
  });

  it('stops a server that was frozen by SIGSTOP', async () => {
    const server = await start({ binary: path });
    await server.kill('SIGSTOP');
    await server.stop();
    expect(alive(server.pid)).toBe(false);
    await server.stop();
  });

  it('takes a configuration and keeps its own address, port and store', async () => {
    const config = 'port: 4222\nhost: "0.0.0.0"\nserver_name: "configured"\nauthorization { token: "secret" }\n';
    const server = await start({ binary: path, config });
    await expect(connect({ servers: server.url, reconnect: false })).rejects.toThrow(/authorization/i);
    const nc = await connect({ servers: server.url, token: 'secret' });
    expect(nc.info?.server_name).toBe('configured');
    expect(nc.info?.port).toBe(server.port);
    await nc.close();
  });

  it('reports the log of a server that refuses its configuration', async () => {
    const refused = startNatsServer({ binary: path, config: 'no_such_setting: 1\n' });
    await expect(refused).rejects.toThrow(NatsServerFailedError);
    await expect(refused).rejects.toThrow(/no_such_setting/);
  });

  it('says so when the port is taken', async () => {
    const server = await start({ binary: path });
    await expect(startNatsServer({ binary: path, port: server.port })).rejects.toThrow(/address already in use/);
  });
});

describe('startNatsServer', () => {
  it('names a binary that cannot be started', async () => {
    await expect(startNatsServer({ binary: '/no/such/nats-server' })).rejects.toThrow(/\/no\/such\/nats-server/);
  });
});
