import { findAll } from '../binaries.js';
import type { Attempt } from './attempt.js';
import { type Host, lastLines } from './host.js';

/** A package manager that carries the server, and the commands that install it without a question. */
interface PackageManager {
  readonly command: string;
  readonly needsRoot: boolean;
  readonly steps: readonly (readonly string[])[];
  readonly env?: NodeJS.ProcessEnv;
}

const MANAGERS: readonly PackageManager[] = [
  {
    command: 'apt-get',
    needsRoot: true,
    steps: [
      ['-o', 'DPkg::Lock::Timeout=300', 'update'],
      ['-o', 'DPkg::Lock::Timeout=300', 'install', '-y', '--no-install-recommends', 'nats-server'],
    ],
    env: { DEBIAN_FRONTEND: 'noninteractive' },
  },
  { command: 'apk', needsRoot: true, steps: [['add', '--no-cache', 'nats-server']] },
  { command: 'brew', needsRoot: false, steps: [['install', '--quiet', 'nats-server']] },
];

/** Installs the server through the system's package manager, where there is one this process may use. */
export async function installWithPackageManager(
  host: Host,
  find: () => string | undefined = () => findAll({ cache: '' })[0]?.path,
): Promise<Attempt> {
  const reasons: string[] = [];
  for (const manager of MANAGERS) {
    if ((await host.run(manager.command, ['--version'])).code === 127) continue;
    if (manager.needsRoot && !host.isRoot) {
      reasons.push(`${manager.command} needs root`);
      continue;
    }
    host.say(`Installing nats-server with ${manager.command} ...`);
    // An update may fail in part (one mirror down) and the installation still succeed: only its own result counts.
    let result = { code: 0, output: '' };
    for (const step of manager.steps) result = await host.run(manager.command, step, manager.env);
    const path = result.code === 0 ? find() : undefined;
    if (path !== undefined) return { path };
    const why = result.code === 0 ? 'installed no usable nats-server' : lastLines(result.output);
    reasons.push(`${manager.command} ${manager.steps.at(-1)!.join(' ')} failed: ${why}`);
  }
  return { reason: reasons.length > 0 ? reasons.join('; ') : 'no known package manager (apt-get, apk, brew) on PATH' };
}
