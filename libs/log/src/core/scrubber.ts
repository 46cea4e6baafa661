import type { ContentShape } from '@longrein/events';
import { LogError } from '../port/index.js';

/** What to scrub: a regular expression, or the exact text of a credential. */
export type ScrubRule = {
  /** Put in the place of what matched, literally. Default `[redacted]`. */
  readonly replacement?: string;
  /**
   * The longest match expected, in characters: how much of a stream of text is held back so that a secret split over
   * two deltas is still found. Default 256; for `literal` its own length.
   */
  readonly max_length?: number;
} & (
  | { readonly pattern: string; readonly flags?: string }
  /** At least 8 characters: shorter values would rewrite ordinary text. */
  | { readonly literal: string }
);

/** A configuration whose rules cannot be used. Thrown at start, never while appending. */
export class ScrubRuleError extends Error {
  override readonly name = 'ScrubRuleError';
}

interface Compiled {
  readonly expression: RegExp;
  readonly replacement: string;
}

/** Rewrites secrets in content. Applied to whatever is stored, and by the loop before that, with the same rules. */
export class Scrubber {
  readonly #rules: readonly Compiled[];

  /** Characters to hold back from a stream of text; 0 when there is nothing to scrub. */
  readonly holdBack: number;

  /** Compiles the rules, applied in order. Throws `ScrubRuleError` naming the rule that cannot work. */
  constructor(rules: readonly ScrubRule[] = []) {
    this.#rules = rules.map(compile);
    this.holdBack = Math.max(
      0,
      ...rules.map((rule) => rule.max_length ?? ('literal' in rule ? rule.literal.length : 256)),
    );
    for (const { replacement } of this.#rules) {
      if (this.text(replacement) !== replacement) {
        throw new ScrubRuleError(
          `replacement ${JSON.stringify(replacement)} is itself scrubbed by a rule; scrubbing twice would differ`,
        );
      }
    }
  }

  /** Whether there is any rule. */
  get active(): boolean {
    return this.#rules.length > 0;
  }

  /** Scrubs one string. */
  text(text: string): string {
    let scrubbed = text;
    for (const { expression, replacement } of this.#rules) {
      scrubbed = scrubbed.replace(expression, () => replacement);
    }
    return scrubbed;
  }

  /** Scrubs every string and key below a value. Throws `invalid_event` when two keys become the same. */
  deep(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((member) => this.deep(member));
    if (typeof value !== 'object' || value === null) return value;
    const scrubbed: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) {
      const name = this.text(key);
      if (Object.hasOwn(scrubbed, name)) {
        throw new LogError(
          'invalid_event',
          `two keys scrub to the same text ${JSON.stringify(name.slice(0, 100))}; rename one of them`,
        );
      }
      scrubbed[name] = this.deep(member);
    }
    return scrubbed;
  }

  /** Scrubs the content positions of a payload and leaves its structure alone. */
  content(shape: ContentShape, payload: unknown): unknown {
    if (!this.active || payload === undefined || payload === null) return payload;
    if (shape === 'text') return typeof payload === 'string' ? this.text(payload) : payload;
    if (shape === 'deep') return this.deep(payload);
    if (isElements(shape)) {
      return Array.isArray(payload) ? payload.map((element) => this.content(shape[0], element)) : payload;
    }
    if (typeof payload !== 'object') return payload;
    const scrubbed: Record<string, unknown> = { ...payload };
    for (const [field, inner] of Object.entries(shape)) {
      if (Object.hasOwn(scrubbed, field)) scrubbed[field] = this.content(inner, scrubbed[field]);
    }
    return scrubbed;
  }
}

function isElements(shape: ContentShape): shape is readonly [ContentShape] {
  return Array.isArray(shape);
}

function compile(rule: ScrubRule): Compiled {
  const replacement = rule.replacement ?? '[redacted]';
  if ('literal' in rule) {
    if (rule.literal.length < 8) {
      throw new ScrubRuleError('a literal shorter than 8 characters would rewrite ordinary text; leave it out');
    }
    return { expression: new RegExp(rule.literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'g'), replacement };
  }
  let expression: RegExp;
  try {
    expression = new RegExp(rule.pattern, [...new Set(`${rule.flags ?? ''}g`)].join(''));
  } catch (error) {
    throw new ScrubRuleError(`pattern ${JSON.stringify(rule.pattern)} does not compile: ${(error as Error).message}`);
  }
  if (expression.test('')) {
    throw new ScrubRuleError(`pattern ${JSON.stringify(rule.pattern)} matches the empty string`);
  }
  return { expression, replacement };
}
