import type { Clock } from '@longrein/clock';
import type { DocumentStore, ScrubRule, Scrubber, SessionLog } from '@longrein/log';
import type { ModelPort } from '@longrein/model';
import type { Deployment } from '@longrein/session';
import type { ToolCatalog, ToolExecutor, ToolHooks } from '@longrein/tools';
import { scrubDetector } from '../core/scrub-detector.js';
import type { ClaimHooks } from '../hooks/claim-hooks.js';
import type { ActorDeps, LoopLogger } from '../session/actor-deps.js';
import { SessionLoader } from '../session/session-loader.js';
import { TurnContexts } from '../session/turn-context.js';

/** What the runners of one process share. */
export interface LoopSettings extends Omit<ActorDeps, 'epoch' | 'recovery' | 'warm'> {
  readonly documents: DocumentStore;
  /** Name of this process in `owner/changed`. */
  readonly owner: string;
  /** How long a stopping runner waits for its turns to reach a step boundary. */
  readonly drain_ms: number;
  /** How long after that it waits for their handover to be stored. */
  readonly abort_ms: number;
}

/** The outside world of a loop. */
export interface LoopPorts {
  readonly log: SessionLog;
  readonly documents: DocumentStore;
  readonly model: ModelPort;
  readonly catalog: ToolCatalog;
  readonly executor: ToolExecutor;
  /** The same rules as the log's own. */
  readonly scrubber: Scrubber;
  readonly clock: Clock;
  readonly logger: LoopLogger;
}

/** What a deployment can set. */
export interface LoopOptions {
  readonly owner: string;
  /** `provider/model` by role, where a session and its agent name none. */
  readonly models: NonNullable<Deployment['models']>;
  /** Policy floor of sessions whose agent names none; absent: every tool is allowed. */
  readonly policy?: readonly string[] | undefined;
  /** The rules that `scrubber` was made of. */
  readonly scrub_rules: readonly ScrubRule[];
  /** Agent name of turns in sessions without an agent. Default `default`. */
  readonly agent?: string;
  /** Default `on_takeover`. */
  readonly resume?: ActorDeps['resume'];
  /** Whether the approvals service is deployed. Default true. */
  readonly approvals?: boolean;
  readonly hooks?: ToolHooks;
  /** What every step passes before it is claimed. Default: nothing. */
  readonly claim_hooks?: ClaimHooks;
  /** Budget of every session whose agent names none. */
  readonly limits?: Deployment['limits'];
  /** Default 20,000. */
  readonly drain_ms?: number;
  /** Default 5,000. */
  readonly abort_ms?: number;
  /** Default 16. */
  readonly max_parallel_calls?: number;
  /** Default ten minutes. */
  readonly parked_ms?: number;
}

/** Settings of a loop, with the defaults filled in. */
export function loopSettings(ports: LoopPorts, options: LoopOptions): LoopSettings {
  const { log, documents, scrubber, catalog } = ports;
  const { models, policy, limits } = options;
  return {
    ...ports,
    owner: options.owner,
    loader: new SessionLoader(log, documents),
    contexts: new TurnContexts({
      catalog,
      scrubber,
      deployment: { models, ...(policy && { policy }), ...(limits && { limits }) },
      agent: options.agent ?? 'default',
      approvals: options.approvals ?? true,
    }),
    wasScrubbed: scrubDetector(options.scrub_rules),
    random: Math.random,
    hooks: options.hooks ?? {},
    claim_hooks: options.claim_hooks ?? { silence: 'wait' },
    resume: options.resume ?? 'on_takeover',
    drain_ms: options.drain_ms ?? 20_000,
    abort_ms: options.abort_ms ?? 5_000,
    max_parallel_calls: options.max_parallel_calls ?? 16,
    parked_ms: options.parked_ms ?? 600_000,
  };
}
