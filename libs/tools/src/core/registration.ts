import type { z } from 'zod';
import { MAX_VISIBLE_NAME, nameToken, toolDefinition, visibleName, type RegisteredTool } from '../port/index.js';
import { storageProblem } from './storable.js';
import { messageOf } from './message-of.js';

/** Largest registration, in bytes. The definitions of all tools a model sees are one event of the log. */
export const MAX_REGISTRATION_BYTES = 64 * 1024;

/** A tool that can be in force, or the sentence that tells its author why it cannot. */
export type ParsedRegistration = { readonly tool: RegisteredTool } | { readonly reason: string };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads one entry of the registrations bucket. Never throws: the bucket holds whatever anyone has put there. */
export function parseRegistration(key: string, body: Uint8Array): ParsedRegistration {
  const [namespace, name, ...rest] = key.split('.');
  if (namespace === undefined || name === undefined || rest.length > 0) {
    return { reason: 'the key must be <namespace>.<name>' };
  }
  if (!nameToken.safeParse(namespace).success || !nameToken.safeParse(name).success) {
    return { reason: 'namespace and name must each be 1-64 characters of A-Z a-z 0-9 _ -' };
  }
  if (body.byteLength > MAX_REGISTRATION_BYTES) {
    return { reason: `the definition has ${body.byteLength} bytes; at most ${MAX_REGISTRATION_BYTES} are allowed` };
  }
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(body));
  } catch (error) {
    return { reason: `the definition is not JSON in UTF-8: ${messageOf(error)}` };
  }
  return checkDefinition(namespace, name, value);
}

/** Checks a definition's value under its namespace and name. */
export function checkDefinition(namespace: string, name: string, value: unknown): ParsedRegistration {
  const parsed = toolDefinition.safeParse(value);
  if (!parsed.success) return { reason: `the definition is invalid: ${issuesOf(parsed.error)}` };
  const definition = parsed.data;
  if (definition.name !== name) {
    return {
      reason: `the key says the name is ${JSON.stringify(name)}, the definition says ${JSON.stringify(definition.name)}`,
    };
  }
  const visible = visibleName(namespace, name);
  if (visible.length > MAX_VISIBLE_NAME) {
    return {
      reason: `models would see ${JSON.stringify(visible)}, which is longer than ${MAX_VISIBLE_NAME} characters`,
    };
  }
  const problem = storageProblem(definition);
  if (problem !== undefined) return { reason: `the definition cannot be stored: ${problem}` };
  return { tool: { ...definition, namespace, visible_name: visible } };
}

function issuesOf(error: z.ZodError): string {
  return error.issues
    .slice(0, 5)
    .map((issue) => (issue.path.length > 0 ? `${issue.path.map(String).join('.')}: ${issue.message}` : issue.message))
    .join('; ');
}
