import type { z } from 'zod';

/** Who appends: the services, and people who operate them. `events.md`'s "by" column: the log refuses every other. */
export type ServiceName =
  'log' | 'loop' | 'approvals' | 'compactor' | 'titler' | 'policy' | 'registry' | 'worker' | 'gateway' | 'operator';

/** Coarse group of types, the last token of a fact's subject: a subject per type would cost the server too much. */
export type Family =
  'session' | 'input' | 'turn' | 'step' | 'approval' | 'control' | 'owner' | 'machine' | 'diagnostic';

/** Facts are what folds read; chunks serve replay and screens and may expire. */
export type EventClass = 'fact' | 'chunk';

/**
 * Where a payload holds content, i.e. text that people, models or tools wrote, as opposed to structure. Scrubbers
 * rewrite content and nothing else. `text` is a string; `deep` is any value, its keys included; an object maps
 * fields; a one-element array stands for every element. A position that is not named is structure.
 */
export type ContentShape = 'text' | 'deep' | readonly [ContentShape] | { readonly [field: string]: ContentShape };

/** One event type of the vocabulary. */
export interface EventDefinition<Type extends string = string, Schema extends z.ZodType = z.ZodType> {
  readonly type: Type;
  readonly family: Family;
  readonly class: EventClass;
  /** Version of the payload that is written today. */
  readonly v: number;
  readonly by: readonly ServiceName[];
  /** Enters the history sent to the model. */
  readonly modelVisible: boolean;
  readonly schema: Schema;
  readonly content: ContentShape;
}

interface Options<Schema extends z.ZodType> {
  readonly family: Family;
  readonly by: readonly ServiceName[];
  readonly schema: Schema;
  readonly content?: ContentShape;
  readonly class?: EventClass;
  readonly v?: number;
  readonly modelVisible?: boolean;
}

/** Declares an event type. */
export function defineEvent<const Type extends string, Schema extends z.ZodType>(
  type: Type,
  options: Options<Schema>,
): EventDefinition<Type, Schema> {
  return {
    type,
    family: options.family,
    class: options.class ?? 'fact',
    v: options.v ?? 1,
    by: options.by,
    modelVisible: options.modelVisible ?? false,
    schema: options.schema,
    content: options.content ?? {},
  };
}
