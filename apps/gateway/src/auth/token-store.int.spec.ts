import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TokenStore } from './token-store.js';
import { type TokenRule, tokenRules } from './token-rules.js';

let directory: string;
let file: string;
const stores: TokenStore[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'longrein-tokens-'));
  file = join(directory, 'tokens.json');
});

afterEach(async () => {
  for (const store of stores.splice(0)) store.stop();
  await rm(directory, { recursive: true });
});

const FIXED = tokenRules.parse([{ token: 'fixed-token' }]);
const tokens = (...names: string[]): string => JSON.stringify(names.map((token) => ({ token })));

/** A store, its complaints, and its next change as something to wait for. */
function store(fixed: readonly TokenRule[] = []) {
  const complaints: unknown[] = [];
  const waiting: (() => void)[] = [];
  const complained: (() => void)[] = [];
  const logger = {
    info: () => undefined,
    error: (what: unknown) => {
      complaints.push(what);
      for (const tell of complained.splice(0)) tell();
    },
  };
  const made = new TokenStore({ fixed, file }, logger as never);
  made.onChange(() => {
    for (const tell of waiting.splice(0)) tell();
  });
  stores.push(made);
  const has = (token: string): boolean => made.book.access(`Bearer ${token}`, 'any') !== undefined;
  return {
    store: made,
    complaints,
    has,
    changed: () => new Promise<void>((resolve) => waiting.push(resolve)),
    complained: () => new Promise<void>((resolve) => complained.push(resolve)),
  };
}

describe('TokenStore', () => {
  it('WSP-05 follows the file: an old token stops and a new one starts at once', async () => {
    await writeFile(file, tokens('token-of-today'));
    const { store: made, has, changed } = store(FIXED);
    await made.start();
    expect([has('token-of-today'), has('fixed-token')]).toEqual([true, true]);
    const change = changed();
    await writeFile(join(directory, 'next'), tokens('token-of-tomorrow'));
    await rename(join(directory, 'next'), file);
    await change;
    expect([has('token-of-today'), has('token-of-tomorrow'), has('fixed-token')]).toEqual([false, true, true]);
  });

  it('follows a file that is written in place', async () => {
    await writeFile(file, tokens('token-of-today'));
    const { store: made, has, changed } = store();
    await made.start();
    const change = changed();
    await writeFile(file, tokens('token-of-tomorrow'));
    await change;
    expect([has('token-of-today'), has('token-of-tomorrow')]).toEqual([false, true]);
  });

  it('follows a secret as Kubernetes mounts it: a link to a directory that is replaced', async () => {
    for (const version of ['one', 'two']) {
      await mkdir(join(directory, version));
      await writeFile(join(directory, version, 'tokens.json'), tokens(`token-number-${version}`));
    }
    await symlink('one', join(directory, '..data'));
    await symlink('..data/tokens.json', file);
    const { store: made, has, changed } = store();
    await made.start();
    const change = changed();
    await symlink('two', join(directory, '..next'));
    await rename(join(directory, '..next'), join(directory, '..data'));
    await change;
    expect([has('token-number-one'), has('token-number-two')]).toEqual([false, true]);
  });

  it.each([
    ['{"half', /is not JSON/],
    ['[]', /at least one token/],
    ['[{"token":"short"}]', /at least 8/],
  ])('keeps what was in force while the file says %j, and reports it', async (text, problem) => {
    await writeFile(file, tokens('token-of-today'));
    const { store: made, has, complaints } = store();
    await made.start();
    await writeFile(file, text);
    await made.reload();
    expect(has('token-of-today')).toBe(true);
    expect(String((complaints[0] as { err: unknown }).err)).toMatch(problem);
    await writeFile(file, tokens('token-of-tomorrow'));
    await made.reload();
    expect([has('token-of-today'), has('token-of-tomorrow')]).toEqual([false, true]);
  });

  it('keeps what was in force when the file is gone', async () => {
    await writeFile(file, tokens('token-of-today'));
    const { store: made, has, complained } = store();
    await made.start();
    const complaint = complained();
    await rm(file);
    await complaint;
    expect(has('token-of-today')).toBe(true);
  });

  it('refuses to start without a file that can be used, and says which', async () => {
    await expect(store().store.start()).rejects.toThrow(file);
    await writeFile(file, 'nonsense');
    await expect(store().store.start()).rejects.toThrow(/is not JSON/);
  });

  it('tells nobody when nothing changed', async () => {
    await writeFile(file, tokens('token-of-today'));
    const { store: made } = store();
    let changes = 0;
    await made.start();
    made.onChange(() => changes++);
    await Promise.all([made.reload(), made.reload(), made.reload()]);
    expect(changes).toBe(0);
  });
});
