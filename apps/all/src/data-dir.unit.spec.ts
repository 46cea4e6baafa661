import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DataDirInUse, takeDataDir } from './data-dir.js';

let path: string;

beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'longrein-data-'));
});

afterEach(async () => {
  await rm(path, { recursive: true, force: true });
});

describe('takeDataDir', () => {
  it('makes the directory, and a token that stays and that only its owner reads', async () => {
    const inside = join(path, 'new');
    const data = await takeDataDir(inside);
    const token = await data.token();
    expect(token).toMatch(/^[A-Za-z0-9_-]{32}$/);
    expect((await stat(join(inside, 'token'))).mode & 0o777).toBe(0o600);
    await data.release();
    expect(await (await takeDataDir(inside)).token()).toBe(token);
  });

  it('refuses a directory that a living process uses, and names it', async () => {
    await writeFile(join(path, 'pid'), `${process.ppid}\n`);
    const refused = takeDataDir(path);
    await expect(refused).rejects.toThrow(DataDirInUse);
    await expect(refused).rejects.toThrow(new RegExp(`process ${process.ppid}.*LONGREIN_DATA_DIR`));
  });

  it('leaves nothing of its lock behind', async () => {
    const data = await takeDataDir(path);
    expect(await readdir(path)).toEqual(['pid']);
    await data.release();
    expect(await readdir(path)).toEqual([]);
  });

  it('takes over from a process that is gone, and from half a lock', async () => {
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    for (const left of [`${pid}\n`, '', 'nonsense']) {
      await writeFile(join(path, 'pid'), left);
      const data = await takeDataDir(path);
      expect(await readFile(join(path, 'pid'), 'utf8')).toBe(`${process.pid}\n`);
      await data.release();
    }
  });
});
