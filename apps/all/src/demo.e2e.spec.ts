import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { withProcesses } from '@longrein/testing';

const processes = withProcesses();

let temporary: string;

beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'longrein-demo-spec-'));
});

afterEach(async () => {
  await rm(temporary, { recursive: true, force: true });
});

describe('npm run demo', () => {
  it('shows the main job, sees exactly the log, exits 0 and leaves nothing behind', async () => {
    // Neither a server nor a provider of this machine takes part.
    const env = { TMPDIR: temporary, NATS_URL: 'nats://127.0.0.1:1', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' };
    const demo = processes.start({ entry: 'apps/all/dist/demo.js', env });
    await expect(demo.exited).resolves.toEqual({ code: 0, signal: null });
    expect(demo.output).toContain('killing the connection in the middle of the answer');
    expect(demo.output).toMatch(/what was seen is exactly the log: \d+ events, none missing, none twice/);
    expect(demo.output).toMatch(/tool\/result .*Berlin: sunny/);
    expect(await readdir(temporary)).toEqual([]);
  }, 240_000);
});
