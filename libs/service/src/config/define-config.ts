import { type z } from 'zod';

/** Environment as a process receives it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One zod schema per environment variable, keyed by the variable's name. */
export type Variables = Readonly<Record<string, z.ZodType>>;

/** What the variables parse to. */
export type Values<V extends Variables> = { readonly [Name in keyof V]: z.output<V[Name]> };

/** A variable as documentation shows it. */
export interface VariableDescription {
  readonly name: string;
  readonly description: string;
  /** Whether the app refuses to start without it. */
  readonly required: boolean;
  /** What it counts as where it is unset; absent: nothing. */
  readonly default?: unknown;
  /** Its value must not be shown. */
  readonly secret: boolean;
}

/** The configuration of one app: its variables and what the app makes of them. */
export interface ConfigDefinition<Config> {
  /** Parses an environment, all variables at once. Throws `ConfigError` that lists everything that is wrong. */
  parse(env: Environment): Config;
  readonly variables: readonly VariableDescription[];
}

/** The environment does not make a configuration. Its message names every wrong variable and says what to set. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(
    readonly problems: readonly string[],
    options?: ErrorOptions,
  ) {
    super(`configuration is not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`, options);
  }
}

/** Metadata key that keeps a variable's value out of messages. */
const SECRET = 'secret';

/** Marks a variable whose value must not appear in errors. */
export function secret<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.meta({ ...schema.meta(), [SECRET]: true });
}

/**
 * Declares an app's configuration: every variable with its schema (say with `.describe()` what to set it to), and
 * how the parsed values become the app's own config object. An empty variable counts as unset.
 */
export function defineConfig<V extends Variables, Config>(
  variables: V,
  build: (values: Values<V>) => Config,
): ConfigDefinition<Config> {
  return {
    parse: (env) => {
      const values: Record<string, unknown> = {};
      const problems: string[] = [];
      for (const [name, schema] of Object.entries(variables)) {
        const raw = env[name]?.trim() || undefined;
        const parsed = schema.safeParse(raw);
        if (parsed.success) values[name] = parsed.data;
        else problems.push(describeProblem(name, raw, schema, parsed.error));
      }
      if (problems.length > 0) throw new ConfigError(problems);
      return build(values as Values<V>);
    },
    variables: Object.entries(variables).map(([name, schema]) => describeVariable(name, schema)),
  };
}

function describeVariable(name: string, schema: z.ZodType): VariableDescription {
  const unset = schema.safeParse(undefined);
  return {
    name,
    description: schema.description ?? '',
    required: !unset.success,
    ...(unset.success && unset.data !== undefined && { default: unset.data }),
    secret: schema.meta()?.[SECRET] === true,
  };
}

function describeProblem(name: string, raw: string | undefined, schema: z.ZodType, error: z.ZodError): string {
  const advice = schema.description ? `; set it to ${schema.description}` : '';
  if (raw === undefined) return `${name} is missing${advice}`;
  const value = schema.meta()?.[SECRET] ? 'its value' : JSON.stringify(raw.slice(0, 200));
  return `${name}: ${value} is not accepted (${error.issues.map(({ message }) => message).join(', ')})${advice}`;
}
