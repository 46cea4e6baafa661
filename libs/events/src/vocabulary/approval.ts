import { z } from 'zod';
import { json, reason, seq, token, toolName } from './common.js';
import { defineEvent } from './define.js';

export const approvalRequested = defineEvent('approval/requested', {
  family: 'approval',
  by: ['loop'],
  schema: z.strictObject({ call_seq: seq, call_id: token, name: toolName, args: json }),
  content: { name: 'text', args: 'deep' },
});

export const approvalResolved = defineEvent('approval/resolved', {
  family: 'approval',
  // The loop appends only the denials of a cancel.
  by: ['approvals', 'loop'],
  schema: z.strictObject({
    call_id: token,
    request_seq: seq,
    verdict: z.enum(['approved', 'denied']),
    reason: reason.optional(),
    by: token.optional(),
  }),
  content: { reason: 'text' },
});

export const approvalEvents = [approvalRequested, approvalResolved] as const;
