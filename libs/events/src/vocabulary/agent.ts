import { z } from 'zod';
import { agentName, id, reason, token } from './common.js';
import { defineEvent } from './define.js';
import { agentSpec } from './session.js';

/** System id of the stream that admits agents, so that the cap is exact under concurrent spawns. */
export const FLEET_ID = '$fleet';

/** Seq 0 of every agent's stream, and of the fleet's: the log writes it when the stream is created. */
export const agentCreated = defineEvent('agent/created', {
  family: 'machine',
  by: ['log'],
  schema: z.strictObject({}),
});

export const agentStarted = defineEvent('agent/started', {
  family: 'machine',
  by: ['registry'],
  schema: z.strictObject({
    spec: agentSpec,
    session_id: id,
    generation: z.int().nonnegative(),
    config_revision: token.optional(),
  }),
  content: { spec: { system_prompt: 'text', directive_schema: 'deep', rails: 'deep' } },
});

export const agentDisposed = defineEvent('agent/disposed', {
  family: 'machine',
  by: ['registry'],
  schema: z.strictObject({ generation: z.int().nonnegative(), reason: reason.optional() }),
  content: { reason: 'text' },
});

export const agentAdmitted = defineEvent('agent/admitted', {
  family: 'machine',
  by: ['registry'],
  schema: z.strictObject({
    agent_id: agentName,
    session_id: id,
    generation: z.int().nonnegative(),
    /** What was asked for: with it any registry can complete a spawn whose registry died half way. */
    spec: agentSpec.optional(),
    config_revision: token.optional(),
  }),
  content: { spec: { system_prompt: 'text', directive_schema: 'deep', rails: 'deep' } },
});

export const agentReleased = defineEvent('agent/released', {
  family: 'machine',
  by: ['registry'],
  schema: z.strictObject({ agent_id: agentName, session_id: id, generation: z.int().nonnegative() }),
});

export const agentEvents = [agentCreated, agentStarted, agentDisposed, agentAdmitted, agentReleased] as const;
