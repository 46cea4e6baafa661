/** The release that is installed where the machine brings none. */
export const CURRENT_VERSION = '2.15.2';

/** The oldest server the system runs on: the first with consumers over a single filtered subject that it relies on. */
export const OLDEST_VERSION = '2.9.10';

/** Reads the version out of `nats-server --version` ("nats-server: v2.15.2"), or `undefined` when there is none. */
export function parseVersion(output: string): string | undefined {
  return /\bv?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)/.exec(output)?.[1];
}

/** Orders two versions by semantic versioning: negative when `a` is older. A pre-release is older than its release. */
export function compareVersions(a: string, b: string): number {
  const [coreA = '', preA] = splitPreRelease(a);
  const [coreB = '', preB] = splitPreRelease(b);
  const x = coreA.split('.').map(Number);
  const y = coreB.split('.').map(Number);
  for (let i = 0; i < 3; i++) {
    const difference = (x[i] ?? 0) - (y[i] ?? 0);
    if (difference !== 0) return difference;
  }
  if (preA === preB) return 0;
  if (preA === undefined) return 1;
  if (preB === undefined) return -1;
  return preA < preB ? -1 : 1;
}

function splitPreRelease(version: string): [string, string | undefined] {
  const at = version.indexOf('-');
  return at < 0 ? [version, undefined] : [version.slice(0, at), version.slice(at + 1)];
}
