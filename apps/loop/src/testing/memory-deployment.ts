import type { ScrubRule } from '@longrein/log';
import { MemoryDocumentStore, MemoryLog, type MemoryLogOptions } from '@longrein/log/memory';
import { type FixtureOptions, LoopFixture } from './loop-fixture.js';

/** A deployment in memory, with one partition unless told otherwise. */
export class MemoryDeployment {
  readonly memory: MemoryLog;
  readonly documents = new MemoryDocumentStore();

  constructor(options: MemoryLogOptions = {}) {
    this.memory = new MemoryLog({ partitions: 1, ...options });
  }

  as(service: Parameters<MemoryLog['as']>[0]) {
    return this.memory.as(service);
  }
}

/** A loop on a log in memory that scrubs by the same rules. */
export function memoryFixture(
  options: Omit<FixtureOptions, 'deployment'> & { scrub?: readonly ScrubRule[]; log?: MemoryLogOptions },
): LoopFixture & { readonly deployment: MemoryDeployment } {
  const { log, scrub = [], ...rest } = options;
  const deployment = new MemoryDeployment({ scrubbers: scrub, ...log });
  return new LoopFixture({ ...rest, scrub, deployment }) as LoopFixture & { readonly deployment: MemoryDeployment };
}
