import { agentSpec, isValidId } from '@longrein/events';
import { z } from 'zod';

/** An agent's or session's id as clients may choose it. */
export const registryId = z.custom<string>(isValidId, 'must be 1-128 characters of A-Z a-z 0-9 _ -');

/** What an agent is configured with. */
export const agentConfiguration = {
  spec: agentSpec.default({}),
  config_revision: z.string().min(1).max(256).optional(),
} as const;
