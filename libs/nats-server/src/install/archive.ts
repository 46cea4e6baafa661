import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BINARY_NAME, cachedBinary } from '../project.js';
import { ARCHIVE, type ArchivePin, platformName, RELEASES } from './archive-pins.js';
import type { Attempt } from './attempt.js';
import { type Host, lastLines } from './host.js';

/** What to download and from where. */
export interface ArchiveOptions {
  readonly pin?: ArchivePin;
  readonly releases?: string;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 120_000;

/** Downloads the official archive, verifies its pinned checksum before anything else touches it, and unpacks the binary. */
export async function installFromArchive(host: Host, cache: string, options: ArchiveOptions = {}): Promise<Attempt> {
  const { version, sha256 } = options.pin ?? ARCHIVE;
  const platform = platformName(host.platform, host.arch);
  const expected = sha256[platform];
  if (expected === undefined) return { reason: `no checksum is pinned for an archive of v${version} for ${platform}` };
  const stem = `nats-server-v${version}-${platform}`;
  const url = `${options.releases ?? RELEASES}/v${version}/${stem}.tar.gz`;
  host.say(`Downloading ${url} ...`);
  const archive = await download(url, options.timeoutMs ?? TIMEOUT_MS);
  if (typeof archive === 'string') return { reason: archive };
  const actual = createHash('sha256').update(archive).digest('hex');
  if (actual !== expected) {
    return { reason: `${url} has SHA-256 ${actual} instead of the pinned ${expected}: refused, nothing was unpacked` };
  }
  const target = cachedBinary(version, cache);
  mkdirSync(dirname(target), { recursive: true });
  const work = mkdtempSync(join(cache, 'archive-'));
  try {
    const file = join(work, 'archive.tar.gz');
    writeFileSync(file, archive);
    const unpacked = await host.run('tar', ['-xzf', file, '-C', work, `${stem}/${BINARY_NAME}`]);
    if (unpacked.code !== 0) return { reason: `tar could not unpack ${url}: ${lastLines(unpacked.output)}` };
    chmodSync(join(work, stem, BINARY_NAME), 0o755);
    renameSync(join(work, stem, BINARY_NAME), target);
    return { path: target };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The body at `url`, or why there is none. */
async function download(url: string, timeoutMs: number): Promise<Uint8Array | string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok) return `${url} answered ${response.status} ${response.statusText}`;
    return new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return `${url} could not be downloaded: ${cause instanceof Error ? cause.message : String(cause)}`;
  }
}
