import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DEFAULT_URL, settingsFrom } from './settings.js';

let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'longrein-cli-'));
});

afterEach(() => rm(cwd, { recursive: true, force: true }));

describe('settings', () => {
  it('are the local installation’s when nothing is said', async () => {
    expect(await settingsFrom({}, { env: {}, cwd })).toEqual({ url: DEFAULT_URL });
    await mkdir(join(cwd, '.longrein'));
    await writeFile(join(cwd, '.longrein', 'token'), 'kept-token\n');
    expect(await settingsFrom({}, { env: { LONGREIN_URL: ' ' }, cwd })).toEqual({
      url: DEFAULT_URL,
      token: 'kept-token',
    });
  });

  it('prefer options to the environment, and the environment to the file', async () => {
    await mkdir(join(cwd, '.longrein'));
    await writeFile(join(cwd, '.longrein', 'token'), 'kept-token');
    const env = { LONGREIN_URL: 'http://env:1', LONGREIN_TOKEN: 'env-token' };
    expect(await settingsFrom({}, { env, cwd })).toEqual({ url: 'http://env:1', token: 'env-token' });
    const options = { url: 'https://option:2/', token: 'option-token' };
    expect(await settingsFrom(options, { env, cwd })).toEqual({ url: 'https://option:2', token: 'option-token' });
  });

  it.each(['nonsense', 'ftp://x', 'ws://127.0.0.1:7423'])('refuse %s as a gateway', async (url) => {
    await expect(settingsFrom({ url }, { env: {}, cwd })).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('--url or LONGREIN_URL'),
    });
  });
});
