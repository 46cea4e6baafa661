import { z } from 'zod';
import { compileSchema, isRecord, messageOf } from '../core/index.js';

/** A JSON Schema, as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Arguments a handler gets: what the zod schema parses to, or, with a JSON Schema, the object as sent. */
export type ArgumentsOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : Record<string, unknown>;

/** Arguments, or the sentence that says what is wrong with them. */
export type ReadArguments = (args: unknown) => { readonly value: unknown } | { readonly invalid: string };

/** The JSON Schema to register and the reader for arguments. Throws `TypeError` for a schema nobody could use. */
export function argumentReader(schema: z.ZodType | JsonSchema): { json: Record<string, unknown>; read: ReadArguments } {
  return isZod(schema) ? zodReader(schema) : jsonReader({ ...schema });
}

function zodReader(schema: z.ZodType): { json: Record<string, unknown>; read: ReadArguments } {
  let json: Record<string, unknown>;
  try {
    // Plain data, as it will be stored: what zod returns carries a hidden non-JSON property.
    json = JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: 'input' }))) as Record<string, unknown>;
  } catch (error) {
    const reason = messageOf(error);
    throw new TypeError(`input_schema has no JSON Schema: ${reason}`, { cause: error });
  }
  return {
    json,
    read: (args) => {
      const parsed = schema.safeParse(args);
      if (parsed.success) return { value: parsed.data };
      const issues = parsed.error.issues
        .slice(0, 5)
        .map((issue) => `/${issue.path.map(String).join('/')} ${issue.message}`);
      return { invalid: `The arguments do not fit: ${issues.join('; ')}` };
    },
  };
}

function jsonReader(json: Record<string, unknown>): { json: Record<string, unknown>; read: ReadArguments } {
  const compiled = compileSchema(json);
  if ('unusable' in compiled) throw new TypeError(`input_schema is not a usable JSON Schema: ${compiled.unusable}`);
  return {
    json,
    read: (args) => {
      const invalid = isRecord(args) ? compiled.check(args) : 'The arguments are not a JSON object.';
      return invalid === undefined ? { value: args } : { invalid };
    },
  };
}

function isZod(schema: z.ZodType | JsonSchema): schema is z.ZodType {
  return '_zod' in schema;
}
