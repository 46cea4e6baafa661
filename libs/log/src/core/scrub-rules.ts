import { z } from 'zod';
import { type ScrubRule, ScrubRuleError, Scrubber } from './scrubber.js';

/**
 * Scrub rules as an environment variable holds them: a JSON array. Every service that scrubs reads them so, because
 * what they make of the same text must be the same.
 */
export const scrubRules = z.string().transform((text, context): readonly ScrubRule[] => {
  try {
    const rules = JSON.parse(text) as readonly ScrubRule[];
    new Scrubber(rules);
    return rules;
  } catch (error) {
    const problem = error instanceof ScrubRuleError || error instanceof SyntaxError ? error.message : 'not an array';
    context.addIssue({ code: 'custom', message: problem });
    return z.NEVER;
  }
});
