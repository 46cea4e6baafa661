import { agentSpec, idSchema } from '@longrein/events';
import { z } from 'zod';

/** `registry.spawn`: makes an agent live. */
export const spawnRequest = z.strictObject({
  agent_id: idSchema,
  /** Default: the agent's id. */
  session_id: idSchema.optional(),
  spec: agentSpec.default({}),
  config_revision: z.string().min(1).max(256).optional(),
  /** Makes a repetition the same request: answered as the first time. */
  request_id: z
    .string()
    .regex(/^[!-~]{1,100}$/, 'must be 1-100 printable ASCII characters')
    .optional(),
});

/** `registry.dispose`: retires an idle agent. */
export const disposeRequest = z.strictObject({
  agent_id: idSchema,
  /** Dispose only this generation. */
  generation: z.int().nonnegative().optional(),
  reason: z.string().max(4096).optional(),
});

/** `registry.get`. */
export const getRequest = z.strictObject({ agent_id: idSchema });

/** `registry.for_session`. */
export const forSessionRequest = z.strictObject({ session_id: idSchema });

/** `registry.list`. */
export const listRequest = z.strictObject({});

/** `registry.inject`: a waking input for a session that has an agent. */
export const injectRequest = z.strictObject({
  session_id: idSchema,
  input_id: z.string().min(1).max(256),
  text: z.string(),
  origin: z.string().min(1).max(256).optional(),
  correlation_id: z.string().min(1).max(256).optional(),
});

export type SpawnRequest = z.infer<typeof spawnRequest>;
export type DisposeRequest = z.infer<typeof disposeRequest>;
export type InjectRequest = z.infer<typeof injectRequest>;
