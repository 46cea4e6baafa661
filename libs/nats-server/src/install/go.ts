import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BINARY_NAME, cachedBinary } from '../project.js';
import { CURRENT_VERSION } from '../version.js';
import type { Attempt } from './attempt.js';
import { type Host, lastLines } from './host.js';

/** Builds the pinned release with the Go toolchain into the cache. Go's checksum database vouches for the source. */
export async function installWithGo(host: Host, cache: string): Promise<Attempt> {
  const probe = await host.run('go', ['version']);
  if (probe.code !== 0) return { reason: 'there is no Go toolchain (go) on PATH' };
  const target = cachedBinary(CURRENT_VERSION, cache);
  mkdirSync(dirname(target), { recursive: true });
  // Two processes may install at once: each builds in a place of its own and the finished file appears in one move.
  const build = mkdtempSync(join(cache, 'build-'));
  try {
    host.say(`Building nats-server v${CURRENT_VERSION} with Go into ${dirname(target)} (once, about a minute) ...`);
    const module = `github.com/nats-io/nats-server/v2@v${CURRENT_VERSION}`;
    const result = await host.run('go', ['install', module], { GOBIN: build });
    if (result.code !== 0) return { reason: `go install ${module} failed: ${lastLines(result.output)}` };
    renameSync(join(build, BINARY_NAME), target);
    return { path: target };
  } finally {
    rmSync(build, { recursive: true, force: true });
  }
}
