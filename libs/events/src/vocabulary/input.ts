import { z } from 'zod';
import { json, reason, token } from './common.js';
import { defineEvent } from './define.js';

/** Leave of a registry to start one turn. */
export const grant = z.strictObject({
  agent_turn_id: token,
  generation: z.int().nonnegative(),
  /** Elevation for this one turn. */
  overlay: json.optional(),
  /** What the turn may spend, in US dollars. */
  allowance: z.number().nonnegative().optional(),
  /** The queued input whose text this one carries; its `user/message` consumes both. */
  promotes: token.optional(),
});

export type Grant = z.infer<typeof grant>;

export const inputQueued = defineEvent('input/queued', {
  family: 'input',
  by: ['gateway', 'registry'],
  schema: z.strictObject({
    input_id: token,
    text: z.string(),
    wake: z.boolean(),
    origin: token.optional(),
    correlation_id: token.optional(),
    grant: grant.optional(),
  }),
  content: { text: 'text', grant: { overlay: 'deep' } },
});

export const turnCancelRequested = defineEvent('turn/cancel_requested', {
  family: 'input',
  by: ['gateway', 'registry'],
  schema: z.strictObject({ turn_id: token, reason: reason.optional(), hard: z.boolean().optional() }),
  content: { reason: 'text' },
});

export const inputEvents = [inputQueued, turnCancelRequested] as const;
