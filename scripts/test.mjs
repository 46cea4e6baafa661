// Runs jest over the workspace. `--level unit|int|e2e` keeps the files of one level; other arguments go to jest.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const args = process.argv.slice(2);
const at = args.indexOf('--level');
const level = at >= 0 ? args.splice(at, 2)[1] : undefined;
const jest = join(dirname(createRequire(import.meta.url).resolve('jest/package.json')), 'bin/jest.js');
const child = spawn(
  process.execPath,
  [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    jest,
    ...(level ? ['--testMatch', `**/*.${level}.spec.ts`] : []),
    ...args,
  ],
  { stdio: 'inherit' },
);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
