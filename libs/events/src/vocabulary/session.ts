import { z } from 'zod';
import { agentName, id, json, modelSpec, patterns, reason, seq, token, usage } from './common.js';
import { defineEvent } from './define.js';

/** Roles a deployment, an agent or a session can point at a model. */
export const modelRole = z.enum(['main', 'titler', 'compactor']);

export type ModelRole = z.infer<typeof modelRole>;

/** What an agent is, for the session it runs in: in force from its `session/configured` on. */
export const agentSpec = z.strictObject({
  system_prompt: z.string().optional(),
  roles: z.partialRecord(modelRole, modelSpec).optional(),
  /** Patterns of the tools the model is shown; absent: every registered tool. */
  tools: patterns.optional(),
  /** Floor of the tool policy: governs until the session's first `policy/updated`. Absent: the deployment's floor. */
  policy: patterns.optional(),
  compaction: z.strictObject({ budget: z.int().positive(), hard: z.boolean().optional() }).optional(),
  /** Rails asked at every turn boundary. */
  rails: z.array(z.record(z.string(), json)).optional(),
  /** JSON Schema of the turn's structured output. */
  directive_schema: json.optional(),
  /** No approver can be reached: gated calls are denied instead of parked. */
  unattended: z.boolean().optional(),
  /** Budget guard of the session. */
  limits: z.strictObject({ cost: z.number().positive().optional(), tokens: z.int().positive().optional() }).optional(),
  driver: z.enum(['loop', 'claude-code']).optional(),
});

export type AgentSpec = z.infer<typeof agentSpec>;

export const sessionCreated = defineEvent('session/created', {
  family: 'session',
  by: ['log'],
  schema: z.strictObject({
    parent_id: id.optional(),
    /** Present on a session that a fork is making; `session/forked` closes the copy. */
    fork: z.strictObject({ from: id, boundary: seq }).optional(),
  }),
});

export const sessionForked = defineEvent('session/forked', {
  family: 'session',
  by: ['log'],
  schema: z.strictObject({ from: id, boundary: seq }),
});

export const sessionConfigured = defineEvent('session/configured', {
  family: 'session',
  by: ['registry'],
  schema: z.strictObject({
    agent_id: agentName,
    generation: z.int().nonnegative(),
    config_revision: token.optional(),
    spec: agentSpec,
  }),
  content: { spec: { system_prompt: 'text', directive_schema: 'deep', rails: 'deep' } },
});

export const sessionModelSelected = defineEvent('session/model_selected', {
  family: 'session',
  by: ['gateway'],
  schema: z.strictObject({ role: modelRole, model: modelSpec }),
});

export const sessionErased = defineEvent('session/erased', {
  family: 'session',
  by: ['log'],
  schema: z.strictObject({ head: seq }),
});

const operation = z.strictObject({
  reason: reason.optional(),
  /** Who asked for it, as the operator's tool knows them. */
  by: token.optional(),
});

export const sessionQuarantined = defineEvent('session/quarantined', {
  family: 'session',
  by: ['operator'],
  schema: operation,
  content: { reason: 'text' },
});

export const sessionQuarantineLifted = defineEvent('session/quarantine_lifted', {
  family: 'session',
  by: ['operator'],
  schema: operation,
  content: { reason: 'text' },
});

export const sessionCompacted = defineEvent('session/compacted', {
  family: 'session',
  by: ['compactor'],
  modelVisible: true,
  // The log fills in `upto_seq`: only it knows the event's own seq.
  schema: z.strictObject({ upto_seq: seq.optional(), summary: z.string() }),
  content: { summary: 'text' },
});

export const sessionCompactionDeclined = defineEvent('session/compaction_declined', {
  family: 'session',
  by: ['compactor'],
  schema: z.strictObject({ turn_id: token.optional(), reason }),
  content: { reason: 'text' },
});

export const sessionTitled = defineEvent('session/titled', {
  family: 'session',
  by: ['titler'],
  schema: z.strictObject({ title: z.string().max(80) }),
  content: { title: 'text' },
});

export const policyUpdated = defineEvent('policy/updated', {
  family: 'session',
  by: ['policy'],
  schema: z.strictObject({ patterns }),
});

export const utilityUsage = defineEvent('utility/usage', {
  family: 'session',
  by: ['titler', 'compactor'],
  schema: z.strictObject({ purpose: z.enum(['title', 'compaction']), model: modelSpec, usage }),
});

export const providerSessionObserved = defineEvent('provider/session_observed', {
  family: 'session',
  by: ['worker'],
  schema: z.strictObject({ provider: token, provider_session_id: token, source: token, execution: token }),
});

export const sessionEvents = [
  sessionCreated,
  sessionForked,
  sessionConfigured,
  sessionModelSelected,
  sessionErased,
  sessionQuarantined,
  sessionQuarantineLifted,
  sessionCompacted,
  sessionCompactionDeclined,
  sessionTitled,
  policyUpdated,
  utilityUsage,
  providerSessionObserved,
] as const;
