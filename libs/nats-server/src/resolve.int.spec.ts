import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findAll } from './binaries.js';
import { NatsServerMissingError } from './errors.js';
import { availableNatsVersions, resolveTestNatsServer } from './for-tests.js';
import { cachedBinary, projectRoot } from './project.js';
import { type Installer, resolveNatsServer } from './resolve.js';
import { CURRENT_VERSION } from './version.js';

let directory: string;
let cache: string;
let bin: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'longrein-resolve-'));
  cache = join(directory, 'cache');
  bin = join(directory, 'bin');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A program that answers `--version` as a server does. */
function fakeServer(path: string, version: string, name = 'nats-server'): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\necho "${name}: v${version}"\n`);
  chmodSync(path, 0o755);
  return path;
}

const onPath = (version: string, name?: string) => fakeServer(join(bin, 'nats-server'), version, name);
const inCache = (version: string) => fakeServer(cachedBinary(version, cache), version);
const places = (more: NodeJS.ProcessEnv = {}) => ({ env: env(more), cache, systemDirectories: [] });
const env = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({ PATH: `${bin}:${directory}`, ...more });

/** Installers that record their calls; `works` puts a binary into the cache. */
function fakeInstallers(...outcomes: readonly ('fails' | 'throws' | 'broken' | 'works')[]) {
  const called: number[] = [];
  const installers = outcomes.map((outcome, index): Installer => ({
    name: index === 1 ? 'package manager' : `way ${index}`,
    install: async () => {
      called.push(index);
      if (outcome === 'throws') throw new Error('disk full');
      if (outcome === 'works') return { path: inCache(CURRENT_VERSION) };
      if (outcome === 'broken') {
        writeFileSync(join(directory, 'broken'), 'not a program');
        return { path: join(directory, 'broken') };
      }
      return { reason: `reason ${index}` };
    },
  }));
  return { installers, called };
}

describe('resolveNatsServer', () => {
  it('takes PATH before the cache, the cache before an installation', async () => {
    const { installers, called } = fakeInstallers('works');
    const path = onPath('2.10.27');
    const cached = inCache('2.15.0');
    const options = { env: env(), cache, installers };
    expect(await resolveNatsServer(options)).toEqual({ path, version: '2.10.27', source: 'path' });
    rmSync(path);
    expect(await resolveNatsServer(options)).toEqual({ path: cached, version: '2.15.0', source: 'cache' });
    expect(called).toEqual([]);
  });

  it('passes over what is too old, no server, or not a program', async () => {
    const cached = inCache('2.15.0');
    onPath('2.9.9');
    expect((await resolveNatsServer({ env: env(), cache, installers: [] })).path).toBe(cached);
    onPath('2.15.2', 'other-program');
    expect((await resolveNatsServer({ env: env(), cache, installers: [] })).path).toBe(cached);
    chmodSync(onPath('2.15.2'), 0o644);
    expect((await resolveNatsServer({ env: env(), cache, installers: [] })).path).toBe(cached);
  });

  it('tries the ways to install in order until one gives a server that runs', async () => {
    const { installers, called } = fakeInstallers('fails', 'throws', 'broken', 'works', 'works');
    const binary = await resolveNatsServer({ env: env(), cache, installers });
    expect(binary).toEqual({ path: cachedBinary(CURRENT_VERSION, cache), version: CURRENT_VERSION, source: 'cache' });
    expect(called).toEqual([0, 1, 2, 3]);
  });

  it('ends in one error that says what to install and what was tried', async () => {
    const { installers } = fakeInstallers('fails', 'throws', 'broken');
    const failed = resolveNatsServer({ env: env(), cache, installers });
    await expect(failed).rejects.toThrow(NatsServerMissingError);
    await expect(failed).rejects.toThrow(
      /Install nats-server 2\.9\.10 or newer[^]*NATS_URL[^]*reason 0[^]*disk full[^]*broken/,
    );
  });
});

describe('the server of tests', () => {
  it('is the newest at hand; PATH does not hide a newer one in the cache', async () => {
    onPath('2.9.10');
    const cached = inCache('2.15.2');
    expect(await resolveTestNatsServer(places())).toEqual({ name: 'current', version: '2.15.2', path: cached });
  });

  it('is chosen by LONGREIN_TEST_NATS', async () => {
    const path = onPath('2.9.10');
    inCache('2.15.2');
    const oldest = await resolveTestNatsServer(places({ LONGREIN_TEST_NATS: 'oldest' }));
    expect(oldest).toEqual({ name: 'oldest', version: '2.9.10', path });
    const given = await resolveTestNatsServer(places({ LONGREIN_TEST_NATS: path }));
    expect(given).toEqual({ name: 'given', version: '2.9.10', path });
    await expect(resolveTestNatsServer(places({ LONGREIN_TEST_NATS: 'newest' }))).rejects.toThrow(/newest/);
  });

  it('is installed where the one at hand is old, and is the old one where that fails', async () => {
    const path = onPath('2.9.10');
    const failing = fakeInstallers('fails', 'works');
    const options = places();
    expect((await resolveTestNatsServer({ ...options, installers: failing.installers })).path).toBe(path);
    // The package manager would only bring the old one again.
    expect(failing.called).toEqual([0]);
    const working = fakeInstallers('works');
    expect((await resolveTestNatsServer({ ...options, installers: working.installers })).version).toBe(CURRENT_VERSION);
  });

  it('lists current and oldest once each, for describe.each', () => {
    expect(availableNatsVersions(places())).toEqual([]);
    const path = onPath('2.9.10');
    expect(availableNatsVersions(places())).toEqual([{ name: 'current', version: '2.9.10', path }]);
    inCache('2.10.27');
    inCache('2.15.2');
    expect(availableNatsVersions(places()).map(({ name, version }) => `${name} ${version}`)).toEqual([
      'current 2.15.2',
      'oldest 2.9.10',
    ]);
    expect(findAll(places()).map(({ version }) => version)).toEqual(['2.15.2', '2.10.27', '2.9.10']);
  });
});

describe('projectRoot', () => {
  it('is the nearest directory above with nx.json, else the starting point', () => {
    const inner = join(directory, 'a', 'b');
    mkdirSync(inner, { recursive: true });
    expect(projectRoot(inner)).toBe(inner);
    writeFileSync(join(directory, 'nx.json'), '{}');
    expect(projectRoot(inner)).toBe(directory);
  });
});
