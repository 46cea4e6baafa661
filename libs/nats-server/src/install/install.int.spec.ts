import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { cachedBinary } from '../project.js';
import { CURRENT_VERSION } from '../version.js';
import { installFromArchive } from './archive.js';
import { ARCHIVE } from './archive-pins.js';
import { installWithGo } from './go.js';
import { type CommandResult, type Host, thisHost } from './host.js';
import { installWithPackageManager } from './package-manager.js';

let directory: string;
let cache: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'longrein-install-'));
  cache = join(directory, 'cache');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

type Answer = Partial<CommandResult> | (() => void);

/** A machine on which only the commands of `answers` exist (keys: the command line's beginning). */
function machine(answers: Record<string, Answer>, more: Partial<Host> = {}) {
  const commands: string[] = [];
  const environments: (NodeJS.ProcessEnv | undefined)[] = [];
  const host: Host = {
    platform: 'linux',
    arch: 'x64',
    isRoot: true,
    say: () => undefined,
    run: async (command, args, env) => {
      const line = [command, ...args].join(' ');
      commands.push(line);
      environments.push(env);
      const key = Object.keys(answers).find((beginning) => line.startsWith(beginning));
      const answer = key === undefined ? { code: 127, output: '' } : answers[key]!;
      if (typeof answer === 'function') {
        writtenTo = env?.['GOBIN'];
        answer();
        return { code: 0, output: '' };
      }
      return { code: 0, output: '', ...answer };
    },
    ...more,
  };
  return { host, commands, environments };
}
let writtenTo: string | undefined;

describe('installing with Go', () => {
  it('builds the pinned release and puts it into the cache in one move', async () => {
    const build = (): void => writeFileSync(join(writtenTo!, 'nats-server'), 'built');
    const { host, commands } = machine({ 'go version': {}, 'go install': build });
    expect(await installWithGo(host, cache)).toEqual({ path: cachedBinary(CURRENT_VERSION, cache) });
    expect(readFileSync(cachedBinary(CURRENT_VERSION, cache), 'utf8')).toBe('built');
    expect(commands[1]).toBe(`go install github.com/nats-io/nats-server/v2@v${CURRENT_VERSION}`);
    expect(writtenTo).not.toBe(join(cache, CURRENT_VERSION));
    expect(readdirSync(cache)).toEqual([CURRENT_VERSION]);
  });

  it('says why not: no Go, or a build that failed', async () => {
    expect(await installWithGo(machine({}).host, cache)).toEqual({
      reason: expect.stringContaining('no Go toolchain'),
    });
    const failing = machine({ 'go version': {}, 'go install': { code: 1, output: 'no route to proxy' } });
    expect(await installWithGo(failing.host, cache)).toEqual({ reason: expect.stringContaining('no route to proxy') });
    expect(readdirSync(cache)).toEqual([CURRENT_VERSION]);
  });
});

describe('installing with the package manager', () => {
  it('asks no question, and counts only the installation itself', async () => {
    const { host, commands, environments } = machine({
      'apt-get --version': {},
      'apt-get -o DPkg::Lock::Timeout=300 update': { code: 100, output: 'one mirror is down' },
      'apt-get -o DPkg::Lock::Timeout=300 install': {},
    });
    expect(await installWithPackageManager(host, () => '/usr/sbin/nats-server')).toEqual({
      path: '/usr/sbin/nats-server',
    });
    expect(commands.at(-1)).toMatch(/ install -y .*nats-server$/);
    expect(environments.at(-1)).toMatchObject({ DEBIAN_FRONTEND: 'noninteractive' });
  });

  it('says why not: not root, failure, nothing usable installed, no manager', async () => {
    const apt = { 'apt-get': {} };
    const reasonOf = async (host: Host, found?: string) => {
      const attempt = await installWithPackageManager(host, () => found);
      return 'reason' in attempt ? attempt.reason : undefined;
    };
    expect(await reasonOf(machine(apt, { isRoot: false }).host)).toContain('needs root');
    expect(
      await reasonOf(
        machine({ 'apt-get --version': {}, 'apt-get': { code: 100, output: 'E: Unable to locate' } }).host,
      ),
    ).toContain('Unable to locate');
    expect(await reasonOf(machine(apt).host)).toContain('installed no usable nats-server');
    expect(await reasonOf(machine({}).host)).toContain('no known package manager');
  });
});

describe('installing from the official archive', () => {
  let server: Server;
  let releases: string;
  let archive: Buffer;
  const requests: string[] = [];

  beforeEach(async () => {
    const stem = 'nats-server-v9.9.9-linux-amd64';
    mkdirSync(join(directory, stem));
    writeFileSync(join(directory, stem, 'nats-server'), '#!/bin/sh\necho "nats-server: v9.9.9"\n');
    chmodSync(join(directory, stem, 'nats-server'), 0o600);
    writeFileSync(join(directory, stem, 'README.md'), 'not wanted');
    execFileSync('tar', ['-czf', join(directory, 'a.tar.gz'), '-C', directory, stem]);
    archive = readFileSync(join(directory, 'a.tar.gz'));
    requests.length = 0;
    server = createServer((request, response) => {
      requests.push(request.url!);
      // The real place redirects to a store, too.
      if (request.url === `/v9.9.9/${stem}.tar.gz`) response.writeHead(302, { location: '/store' }).end();
      else if (request.url === '/store') response.end(archive);
      else response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    releases = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const host: Host = { ...thisHost, platform: 'linux', arch: 'x64', say: () => undefined };
  const pin = (sha256: string, version = '9.9.9') => ({ version, sha256: { 'linux-amd64': sha256 } });
  const digest = () => createHash('sha256').update(archive).digest('hex');

  it('downloads, verifies, unpacks the binary alone, and leaves it executable', async () => {
    const target = cachedBinary('9.9.9', cache);
    expect(await installFromArchive(host, cache, { pin: pin(digest()), releases })).toEqual({ path: target });
    expect(execFileSync(target, ['--version'], { encoding: 'utf8' })).toContain('9.9.9');
    expect(readdirSync(cache)).toEqual(['9.9.9']);
    expect(readdirSync(join(cache, '9.9.9'))).toEqual(['nats-server']);
  });

  it('unpacks nothing when the checksum is another one', async () => {
    const attempt = await installFromArchive(host, cache, { pin: pin('0'.repeat(64)), releases });
    expect(attempt).toEqual({ reason: expect.stringMatching(new RegExp(`${digest()}.*pinned 0{64}.*refused`)) });
    expect(existsSync(cache)).toBe(false);
  });

  it('says why not: no such release, no connection, a platform without a pinned checksum', async () => {
    expect(await installFromArchive(host, cache, { pin: pin(digest(), '8.8.8'), releases })).toEqual({
      reason: expect.stringContaining('answered 404'),
    });
    expect(await installFromArchive(host, cache, { pin: pin(digest()), releases: 'http://127.0.0.1:1' })).toEqual({
      reason: expect.stringContaining('could not be downloaded'),
    });
    requests.length = 0;
    expect(await installFromArchive({ ...host, arch: 'mips' }, cache, { pin: pin(digest()), releases })).toEqual({
      reason: expect.stringContaining('linux-mips'),
    });
    expect(requests).toEqual([]);
  });

  it('pins a whole SHA-256 for every platform it knows', () => {
    for (const sha256 of Object.values(ARCHIVE.sha256)) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(Object.values(ARCHIVE.sha256)).size).toBe(Object.keys(ARCHIVE.sha256).length);
  });
});
