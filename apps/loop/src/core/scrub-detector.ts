import type { ScrubRule } from '@longrein/log';

/** What stands for a match where a rule names nothing else. */
const DEFAULT_REPLACEMENT = '[redacted]';

/**
 * Tells whether a stored call shows that a scrubber rewrote it: a replacement stands in its name, keys or arguments. A
 * model that wrote the replacement itself is taken for rewritten too, which costs an honest error, not a wrong call.
 */
export function scrubDetector(
  rules: readonly ScrubRule[],
): (call: { readonly name: string; readonly args: unknown }) => boolean {
  const replacements = [...new Set(rules.map(({ replacement }) => replacement ?? DEFAULT_REPLACEMENT))];
  // An empty replacement leaves no trace to find.
  const traces = replacements.filter((text) => text !== '').map((text) => JSON.stringify(text).slice(1, -1));
  if (traces.length === 0) return () => false;
  return ({ name, args }) => {
    const stored = JSON.stringify([name, args]);
    return traces.some((trace) => stored.includes(trace));
  };
}
