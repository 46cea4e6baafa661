import { z } from 'zod';
import { epoch, token } from './common.js';
import { defineEvent } from './define.js';

/** Services that own partitions and fence their appends by epoch. */
export const ownerScope = z.enum(['loop', 'registry']);

export type OwnerScope = z.infer<typeof ownerScope>;

export const partitionOpened = defineEvent('partition/opened', {
  family: 'control',
  by: ['log'],
  schema: z.strictObject({ incarnation: token }),
});

export const ownerChanged = defineEvent('owner/changed', {
  family: 'owner',
  by: ['log'],
  schema: z.strictObject({
    scope: ownerScope,
    owner: token,
    /** Epochs of the other scopes at this point, so that the newest event of the family tells them all. */
    epochs: z.partialRecord(ownerScope, epoch),
  }),
});

export const partitionEvents = [partitionOpened, ownerChanged] as const;
