import { describe, expect, it } from '@jest/globals';
import { LogClient } from '@longrein/log/client';
import { requestJson } from '@longrein/service';
import { type ChildProcess, withNats, withProcesses } from '@longrein/testing';
import { z } from 'zod';

const processes = withProcesses();
const server = withNats();

function app(name: 'log' | 'approvals', env: Record<string, string | undefined> = {}): ChildProcess {
  return processes.start({
    entry: `apps/${name}/dist/main.js`,
    env: { NATS_URL: server.url, PORT: '0', LOG_FORMAT: 'json', LONGREIN_PARTITIONS: '2', ...env },
  });
}

describe('the approvals service as a process of its own', () => {
  it('answers for a replica that is killed, forgets nothing, and stops on SIGTERM', async () => {
    app('log');
    const replicas = [app('approvals'), app('approvals')];
    await Promise.all(replicas.map((replica) => replica.line('"msg":"approvals is up"')));
    const client = await server.connect();
    const log = (service: 'gateway' | 'loop'): LogClient => new LogClient(client, { service, partitions: 2 });
    await log('gateway').create('s');
    const append = async (type: string, payload: object): Promise<number> =>
      (await log('loop').append('s', { events: [{ type, payload }], since: -1 })).seq;
    await append('turn/start', { turn_id: 't1', agent: 's', epoch: 0 });
    const call_seq = await append('tool/call', { id: 'c1', name: 'deploy', args: {} });
    const request_seq = await append('approval/requested', { call_id: 'c1', call_seq, name: 'deploy', args: {} });

    const ask = (command: string, body: object) =>
      requestJson(client, `approvals.${command}`, { session_id: 's', ...body }, z.looseObject({}));
    await replicas[0]!.kill();
    await expect(ask('pending', {})).resolves.toMatchObject({ pending: [{ call_id: 'c1', request_seq }] });
    const verdict = { call_id: 'c1', verdict: 'approved' };
    await expect(ask('resolve', verdict)).resolves.toMatchObject({ request_seq, seq: request_seq + 1 });
    await expect(ask('resolve', verdict)).rejects.toMatchObject({ code: 'stale_call' });
    await expect(ask('resolve', { ...verdict, verdict: 'perhaps' })).rejects.toMatchObject({ code: 'bad_request' });
    await expect(ask('pending', { session_id: 'nobody' })).rejects.toMatchObject({ code: 'unknown_session' });
    await expect(replicas[1]!.stop()).resolves.toEqual({ code: 0, signal: null });
    await expect(ask('pending', {})).rejects.toMatchObject({ code: 'unavailable' });
  }, 120_000);
});
