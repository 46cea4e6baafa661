import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isRecord } from './json.js';
import { storageProblem } from './storable.js';
import { messageOf } from './message-of.js';

/** Checks arguments: the sentence that tells the model what does not fit, or nothing. */
export type ArgumentCheck = (args: unknown) => string | undefined;

/** A check, or why the schema cannot be used for one. */
export type CompiledSchema = { readonly check: ArgumentCheck } | { readonly unusable: string };

const OPTIONS = { strict: false, validateFormats: false, allErrors: true, logger: false } as const;
const MAX_ERRORS = 5;

/**
 * Compiles a JSON Schema of draft 2020-12 or, when its `$schema` says so, draft 6 or 7. Never throws: schemas come
 * from tool authors. Each gets an instance of its own, since two may carry the same `$id`.
 */
export function compileSchema(schema: Record<string, unknown>): CompiledSchema {
  // An asynchronous validator answers with a promise, which would pass for "fits".
  if (schema['$async'] !== undefined) return { unusable: '$async schemas are not supported' };
  try {
    const validate = (isOldDraft(schema) ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS)).compile(schema);
    return { check: (args) => explain(validate, args) };
  } catch (error) {
    return { unusable: messageOf(error) };
  }
}

/**
 * What is wrong with arguments whatever the schema: a model may have written something that is no JSON object. Its text
 * is then what the log holds as the arguments, and no tool may ever receive it.
 */
export function malformedArguments(args: unknown): string | undefined {
  if (typeof args === 'string') return explainText(args);
  return isRecord(args) ? undefined : notAnObject(args);
}

function explainText(raw: string): string {
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch (error) {
    return `The arguments are not valid JSON (${messageOf(error)}); send a JSON object.`;
  }
  if (!isRecord(value)) return notAnObject(value);
  const problem = storageProblem(value);
  if (problem !== undefined) return `The arguments cannot be stored: ${problem}.`;
  return 'The arguments are an object inside a JSON string, or nested too deeply; send a flat JSON object itself.';
}

function notAnObject(value: unknown): string {
  return `The arguments are ${kindOf(value)}; send a JSON object.`;
}

function isOldDraft(schema: Record<string, unknown>): boolean {
  const dialect = schema['$schema'];
  return typeof dialect === 'string' && /\/draft-0[67]\//.test(dialect);
}

function explain(validate: ValidateFunction, args: unknown): string | undefined {
  let fits: unknown;
  try {
    fits = validate(args);
  } catch (error) {
    // Recursion in a schema over hostile arguments can exhaust the stack.
    return `The arguments could not be checked: ${messageOf(error)}`;
  }
  if (fits) return undefined;
  const problems = (validate.errors ?? []).slice(0, MAX_ERRORS).map(describeError);
  return `The arguments do not fit the tool's input schema: ${problems.join('; ')}.`;
}

function describeError(error: ErrorObject): string {
  const where = error.instancePath === '' ? 'the arguments' : error.instancePath;
  const extra = error.keyword === 'additionalProperties' ? ` (${String(error.params['additionalProperty'])})` : '';
  const allowed = error.keyword === 'enum' ? `: ${JSON.stringify(error.params['allowedValues'])}` : '';
  return `${where} ${error.message ?? `fails ${error.keyword}`}${extra}${allowed}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'missing';
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
