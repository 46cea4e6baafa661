import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DEFAULT_PARTITIONS } from '@longrein/events';
import { provision } from '@longrein/log/jetstream';
import { type ChildProcess, withNats, withProcesses } from '@longrein/testing';

const processes = withProcesses();
const server = withNats();

let directory: string;

beforeAll(async () => provision(await server.connect(), { partitions: DEFAULT_PARTITIONS }));

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'longrein-gateway-'));
});

afterEach(() => rm(directory, { recursive: true }));

function gateway(env: Record<string, string | undefined>): ChildProcess {
  return processes.start({
    entry: 'apps/gateway/dist/main.js',
    env: { NATS_URL: server.url, PORT: '0', LOG_FORMAT: 'json', LONGREIN_TOKENS: undefined, ...env },
  });
}

describe('the gateway as a process of its own', () => {
  it('reads its tokens file again on SIGHUP, says so, and stops on SIGTERM', async () => {
    const file = join(directory, 'tokens.json');
    await writeFile(file, JSON.stringify([{ token: 'token-of-today' }]));
    const running = gateway({ LONGREIN_TOKENS_FILE: file });
    await running.line('"msg":"gateway is up"');
    const url = /"url":"(http:[^"]+)"/.exec(running.output)![1]!;
    // 501: let in, and there is no registry to ask.
    const status = async (token: string): Promise<number> =>
      (await fetch(`${url}/agents`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect(await status('token-of-today')).toBe(501);
    await writeFile(file, 'half a');
    running.signal('SIGHUP');
    await running.line('the tokens that were in force stay in force');
    expect(await status('token-of-today')).toBe(501);
    await writeFile(file, JSON.stringify([{ token: 'token-of-tomorrow' }, { token: 'another-token' }]));
    running.signal('SIGHUP');
    await running.line('"tokens":2');
    expect([await status('token-of-today'), await status('token-of-tomorrow')]).toEqual([401, 501]);
    expect(running.output).not.toContain('token-of-');
    await expect(running.stop()).resolves.toEqual({ code: 0, signal: null });
  }, 120_000);

  it('does not start without tokens, or with some that cannot be used, and shows none of them', async () => {
    const none = gateway({});
    await expect(none.exited).resolves.toEqual({ code: 78, signal: null });
    expect(none.output).toContain('LONGREIN_TOKENS and LONGREIN_TOKENS_FILE are missing');
    const wrong = gateway({ LONGREIN_TOKENS: '[{"token":"secretsecret","agents":[]}]' });
    await expect(wrong.exited).resolves.toEqual({ code: 78, signal: null });
    expect(wrong.output).toContain('0.agents');
    expect(wrong.output).not.toContain('secretsecret');
    const missing = gateway({ LONGREIN_TOKENS_FILE: join(directory, 'nowhere.json') });
    await expect(missing.exited).resolves.toEqual({ code: 1, signal: null });
    expect(missing.output).toContain('nowhere.json cannot be read');
  }, 120_000);
});
