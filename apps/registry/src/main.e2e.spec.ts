import { describe, expect, it } from '@jest/globals';
import { requestJson } from '@longrein/service';
import {
  type ChildProcess,
  freePort,
  type NatsServer,
  startNatsServer,
  withNats,
  withProcesses,
} from '@longrein/testing';
import { z } from 'zod';

const processes = withProcesses();
const server = withNats();

const READY = '"msg":"registry is up"';

function app(name: 'log' | 'registry', env: Record<string, string | undefined>): ChildProcess {
  return processes.start({
    entry: `apps/${name}/dist/main.js`,
    env: { NATS_URL: server.url, PORT: '0', LOG_FORMAT: 'json', LONGREIN_PARTITIONS: '2', ...env },
  });
}

describe('the registry as a process of its own', () => {
  it('waits for the log service, serves, outlives a replica that is killed, and stops on SIGTERM', async () => {
    const replicas = [app('registry', {}), app('registry', {})];
    await replicas[0]!.line('waiting for the log service');
    app('log', {});
    await Promise.all(replicas.map((replica) => replica.line(READY)));
    const client = await server.connect();
    const ask = (command: string, body: object) =>
      requestJson(client, `registry.${command}`, body, z.looseObject({}), { timeout_ms: 15_000 });
    await expect(ask('spawn', { agent_id: 'a1' })).resolves.toMatchObject({ session_id: 'a1' });

    await replicas[0]!.kill();
    await expect(ask('spawn', { agent_id: 'a1' })).rejects.toMatchObject({ code: 'agent_exists' });
    await expect(ask('spawn', { agent_id: 'a2' })).resolves.toMatchObject({ session_id: 'a2' });
    await expect(replicas[1]!.stop()).resolves.toEqual({ code: 0, signal: null });
    await expect(ask('list', {})).rejects.toMatchObject({ code: 'unavailable' });
  }, 120_000);

  it('exits 78 and names every variable that is wrong', async () => {
    const wrong = app('registry', { LONGREIN_MAX_AGENTS: 'lots', PORT: '99999' });
    await expect(wrong.exited).resolves.toEqual({ code: 78, signal: null });
    expect(wrong.output).toContain('LONGREIN_MAX_AGENTS: "lots" is not accepted (must be a whole number)');
    expect(wrong.output).toContain('PORT: "99999" is not accepted (must be at most 65535)');
  });

  it('exits 1 when its credentials are refused for good, so that a supervisor starts it with fresh ones', async () => {
    const port = await freePort();
    const open = (token: string): Promise<NatsServer> =>
      startNatsServer({ port, config: `authorization { token: ${token} }` });
    const first = await open('old_token');
    let second: NatsServer | undefined;
    try {
      const env = { NATS_URL: first.url, NATS_TOKEN: 'old_token' };
      app('log', env);
      const registry = app('registry', env);
      await registry.line(READY);
      await first.stop();
      second = await open('new_token');
      await expect(registry.exited).resolves.toEqual({ code: 1, signal: null });
      expect(registry.output).not.toContain('old_token');
    } finally {
      await first.stop();
      await second?.stop();
    }
  }, 120_000);
});
