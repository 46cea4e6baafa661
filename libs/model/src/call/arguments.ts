/** Deepest nesting of arguments. Below the log's own bound, which counts the payload around them too. */
const MAX_DEPTH = 48;

/**
 * What a model wrote as arguments: the JSON object, or the text itself when it is none or when it cannot be stored
 * (a number beyond the range of doubles, nesting without end, a key named `__proto__`). Nothing at all is no arguments.
 */
export function parseArguments(text: string): unknown {
  if (text.trim() === '') return {};
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return text.toWellFormed();
  const kept = wellFormed(value, 0);
  return kept === UNSTORABLE ? text.toWellFormed() : kept;
}

const UNSTORABLE = Symbol('unstorable');

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value with lone surrogates replaced, as they are in every other text of a model. */
function wellFormed(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'number') return Number.isFinite(value) ? value : UNSTORABLE;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return UNSTORABLE;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => wellFormed(item, depth + 1));
    return items.includes(UNSTORABLE) ? UNSTORABLE : items;
  }
  const entries = Object.entries(value).map(([key, member]) => [key.toWellFormed(), wellFormed(member, depth + 1)]);
  if (entries.some(([key, member]) => key === '__proto__' || member === UNSTORABLE)) return UNSTORABLE;
  return Object.fromEntries(entries);
}
