import { z } from 'zod';
import { agentName, epoch, json, reason, token } from './common.js';
import { defineEvent } from './define.js';
import { grant } from './input.js';

/** The five ways a turn closes. */
export const turnStatus = z.enum(['completed', 'cancelled', 'rejected', 'empty', 'failed']);

export type TurnStatus = z.infer<typeof turnStatus>;

export const turnStart = defineEvent('turn/start', {
  family: 'turn',
  by: ['loop', 'worker'],
  schema: z.strictObject({
    turn_id: token,
    agent: agentName,
    input_id: token.optional(),
    epoch,
    grant: grant.optional(),
  }),
  content: { grant: { overlay: 'deep' } },
});

export const turnResumed = defineEvent('turn/resumed', {
  family: 'turn',
  by: ['loop'],
  schema: z.strictObject({ turn_id: token, epoch, cause: z.enum(['death', 'handover', 'wake', 'verdict']) }),
});

export const turnHandedOver = defineEvent('turn/handed_over', {
  family: 'turn',
  by: ['loop'],
  schema: z.strictObject({ turn_id: token, epoch, reason: reason.optional() }),
  content: { reason: 'text' },
});

export const turnStalled = defineEvent('turn/stalled', {
  family: 'turn',
  by: ['loop'],
  schema: z.strictObject({ turn_id: token, epoch, reason }),
  content: { reason: 'text' },
});

export const turnEnd = defineEvent('turn/end', {
  family: 'turn',
  by: ['loop', 'worker'],
  schema: z.strictObject({
    turn_id: token,
    status: turnStatus,
    reason: reason.optional(),
    structured_output: json.optional(),
  }),
  content: { reason: 'text', structured_output: 'deep' },
});

export const turnEvents = [turnStart, turnResumed, turnHandedOver, turnStalled, turnEnd] as const;
