import { stepParameters } from '@longrein/events';
import { type ServiceConfig, type ServiceContext, requestJson } from '@longrein/service';
import { z } from 'zod';
import type { LoopLogger } from '../session/actor-deps.js';
import type { ClaimHooks } from './claim-hooks.js';

/** Where a deployment mounted its hooks. */
export interface NatsHookOptions {
  /** Request subjects; absent: no such hook. */
  readonly pre_step?: string | undefined;
  readonly request?: string | undefined;
  /** How long an answer may take. */
  readonly timeout_ms: number;
  readonly silence: ClaimHooks['silence'];
}

const claimAnswer = z.looseObject({
  rewrite: z.array(z.strictObject({ input_id: z.string(), text: z.string() })).optional(),
  reject: z.strictObject({ reason: z.string() }).optional(),
});

const requestAnswer = z.looseObject(stepParameters.shape);

/**
 * The hooks that a deployment serves on request subjects, in plain JSON. What an answer holds besides its own fields is
 * ignored and reported: a `request` hook can never touch content.
 */
export function natsHooks(
  nats: ServiceContext<ServiceConfig>['nats'],
  { pre_step, request, timeout_ms, silence }: NatsHookOptions,
  { logger, failed }: { readonly logger: Pick<LoopLogger, 'warn'>; readonly failed?: (hook: string) => void },
): ClaimHooks {
  const ask = async <Schema extends z.ZodObject>(hook: string, subject: string, body: object, schema: Schema) => {
    const answer = await requestJson(nats, subject, body, schema, { timeout_ms }).catch((error: unknown) => {
      failed?.(hook);
      throw error;
    });
    const known = Object.keys(schema.shape);
    const ignored = Object.keys(answer).filter((field) => !known.includes(field));
    if (ignored.length > 0) logger.warn({ subject, ignored }, 'a hook answered more than it may say');
    return Object.fromEntries(Object.entries(answer).filter(([field]) => known.includes(field))) as typeof answer;
  };
  return {
    ...(pre_step !== undefined && { pre_step: (claim) => ask('pre_step', pre_step, claim, claimAnswer) as never }),
    ...(request !== undefined && { request: (asked) => ask('request', request, asked, requestAnswer) as never }),
    silence,
  };
}
