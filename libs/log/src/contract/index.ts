import { describe } from '@jest/globals';
import { describeAgents } from './agents.js';
import { describeAppend } from './append.js';
import { describeBoundary } from './boundary.js';
import { describeConsume } from './consume.js';
import { describeCreate } from './create.js';
import { describeEpochs } from './epochs.js';
import { describeExpectations } from './expectations.js';
import { describeFollow } from './follow.js';
import { describeFork } from './fork.js';
import type { LogHarness } from './harness.js';
import { describeIdempotence } from './idempotence.js';
import { describeMissed } from './missed.js';
import { describeRead } from './read.js';
import { describeScrubbing } from './scrubbing.js';

/** Every topic of the suite. Each opens a log of its own. */
export const TOPICS = {
  create: describeCreate,
  append: describeAppend,
  expectations: describeExpectations,
  idempotence: describeIdempotence,
  epochs: describeEpochs,
  missed: describeMissed,
  boundary: describeBoundary,
  scrubbing: describeScrubbing,
  read: describeRead,
  fork: describeFork,
  follow: describeFollow,
  consume: describeConsume,
  agents: describeAgents,
} as const satisfies Record<string, (harness: LogHarness) => void>;

/** Registers the suite that every implementation of `EventLog` passes. */
export function describeEventLog(name: string, harness: LogHarness, topics = Object.values(TOPICS)): void {
  describe(name, () => {
    for (const register of topics) register(harness);
  });
}

export type { LogHarness, OpenLog, OpenOptions } from './harness.js';
