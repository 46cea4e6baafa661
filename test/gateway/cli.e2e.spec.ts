import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ChildProcess, withProcesses } from '@longrein/testing';
import { GatewayRig, TOKENS } from './gateway-rig.js';

const processes = withProcesses();

let rig: GatewayRig;
let url: string;
let cwd: string;

beforeAll(async () => {
  rig = await GatewayRig.start();
  url = await rig.gateway();
  cwd = await mkdtemp(join(tmpdir(), 'longrein-cli-'));
  await mkdir(join(cwd, '.longrein'));
  await writeFile(join(cwd, '.longrein', 'token'), `${TOKENS.all}\n`);
});

afterAll(async () => {
  await rig?.stop();
  if (cwd) await rm(cwd, { recursive: true, force: true });
});

function longrein(...args: string[]): ChildProcess {
  const env = { LONGREIN_URL: url, LONGREIN_TOKEN: undefined };
  return processes.start({ entry: 'apps/cli/dist/main.js', args, cwd, env });
}

describe('the program longrein', () => {
  it('uses the token of the local installation, prints, and exits with its code', async () => {
    const inject = longrein('session', 'inject', 'hello', 'Hello there', '--json');
    await expect(inject.exited).resolves.toEqual({ code: 0, signal: null });
    expect(JSON.parse(inject.output)).toEqual({ input_id: expect.any(String) });
    const missing = longrein('session', 'show', 'nowhere');
    await expect(missing.exited).resolves.toEqual({ code: 5, signal: null });
    expect(missing.output).toMatch(/^longrein: .*nowhere/);
  });

  it('tails until it is told to stop', async () => {
    await rig.worker.create('watched');
    const tail = longrein('session', 'tail', 'watched', '--json');
    await tail.line('session/created');
    const end = await rig.chunks('watched', 3);
    await tail.line(`"seq":${end},`);
    tail.signal('SIGINT');
    await expect(tail.exited).resolves.toEqual({ code: 130, signal: null });
    expect(tail.lines.map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual([0, 1, 2, 3]);
  });
});
