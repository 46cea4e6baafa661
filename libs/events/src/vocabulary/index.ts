import type { z } from 'zod';
import type { EventEnvelope } from '../envelope.js';
import type { StreamKind } from '../subjects.js';
import { agentEvents } from './agent.js';
import { approvalEvents } from './approval.js';
import type { EventDefinition } from './define.js';
import { inputEvents } from './input.js';
import { partitionEvents } from './partition.js';
import { sessionEvents } from './session.js';
import { stepEvents } from './step.js';
import { turnEvents } from './turn.js';

const sessionVocabulary = [...sessionEvents, ...inputEvents, ...turnEvents, ...stepEvents, ...approvalEvents] as const;
const agentVocabulary = [...agentEvents] as const;

type SessionDefinition = (typeof sessionVocabulary)[number];

/** Types a session's stream can hold. */
export type SessionEventType = SessionDefinition['type'];

/** Payload of a session event type. */
export type PayloadOf<Type extends SessionEventType> = z.infer<Extract<SessionDefinition, { type: Type }>['schema']>;

/** A session event of a known type; discriminates on `type`. */
export type SessionEvent = { [Type in SessionEventType]: EventEnvelope<Type, PayloadOf<Type>> }[SessionEventType];

const definitions: Record<StreamKind, ReadonlyMap<string, EventDefinition>> = {
  sessions: new Map([...sessionVocabulary, ...partitionEvents].map((definition) => [definition.type, definition])),
  agents: new Map([...agentVocabulary, ...partitionEvents].map((definition) => [definition.type, definition])),
};

/** The definition of a type in streams of this kind, or nothing where the type is unknown. */
export function definitionOf(kind: StreamKind, type: string): EventDefinition | undefined {
  return definitions[kind].get(type);
}

/** Every definition of a kind, in the order of the vocabulary. */
export function allDefinitions(kind: StreamKind): readonly EventDefinition[] {
  return [...definitions[kind].values()];
}

/** Types that enter the model's history. */
export const MODEL_VISIBLE: readonly SessionEventType[] = sessionVocabulary
  .filter((definition) => definition.modelVisible)
  .map((definition) => definition.type);

/**
 * Narrows a stored event to the vocabulary. Unknown types stay unknown: readers carry them through untouched, because
 * a newer service may have written them.
 */
export function isSessionEvent(event: EventEnvelope): event is SessionEvent {
  return definitions.sessions.has(event.type);
}

export * from './agent.js';
export * from './approval.js';
export * from './define.js';
export * from './input.js';
export * from './partition.js';
export * from './session.js';
export * from './step.js';
export * from './turn.js';
export type { Usage } from './common.js';
