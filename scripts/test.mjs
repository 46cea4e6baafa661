// Runs jest over the workspace. `--level unit|int|e2e` keeps the files of one level; other arguments go to jest.
// People read the report on stderr; the same run's totals go to .cache/jest/results.json for machines.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const results = join(root, '.cache', 'jest', 'results.json');
const levels = ['unit', 'int', 'e2e'];

const args = process.argv.slice(2);
const at = args.indexOf('--level');
const level = at >= 0 ? args.splice(at, 2)[1] : undefined;
if (at >= 0 && !levels.includes(level)) {
  console.error(`--level takes one of ${levels.join(', ')}, not ${level}`);
  process.exit(2);
}

// A machine without a current NATS server gets one before the tests start, not in the middle of several of them.
const provide = join(root, 'libs', 'nats-server', 'dist', 'main.js');
if (level !== 'unit' && existsSync(provide)) {
  const provided = spawnSync(process.execPath, [provide, '--for-tests'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (provided.status !== 0) process.exit(provided.status ?? 1);
  const versions = JSON.parse(provided.stdout.toString());
  console.error(`nats-server: ${versions.map(({ name, version }) => `${version} (${name})`).join(', ')}`);
}

mkdirSync(dirname(results), { recursive: true });
rmSync(results, { force: true });
const jest = join(dirname(createRequire(import.meta.url).resolve('jest/package.json')), 'bin/jest.js');
const child = spawn(
  process.execPath,
  [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    jest,
    '--json',
    `--outputFile=${results}`,
    ...args,
    // Last: the option would take the path patterns behind it for further globs.
    ...(level ? ['--testMatch', `**/*.${level}.spec.ts`] : []),
  ],
  { stdio: 'inherit', cwd: root },
);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
