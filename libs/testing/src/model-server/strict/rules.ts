/** A request that a real provider would answer with 400. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** Refuses unless the condition holds. */
export function demand(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Refused(message);
}

/** A plain object, or a refusal. */
export function object(value: unknown, where: string): Record<string, unknown> {
  demand(typeof value === 'object' && value !== null && !Array.isArray(value), `${where}: must be an object`);
  return value as Record<string, unknown>;
}

/** A non-empty array, or a refusal. */
export function filled(value: unknown, where: string): unknown[] {
  demand(Array.isArray(value) && value.length > 0, `${where}: must be a non-empty array`);
  return value as unknown[];
}

/** A string with something in it, or a refusal. */
export function said(value: unknown, where: string): string {
  demand(typeof value === 'string' && value.trim() !== '', `${where}: text must contain non-whitespace text`);
  return value;
}

/** A string that fits a pattern, or a refusal. */
export function matching(value: unknown, pattern: RegExp, where: string): string {
  demand(typeof value === 'string' && pattern.test(value), `${where}: must match ${String(pattern)}`);
  return value;
}

/** Checks that results answer exactly these calls, each once, in any order. */
export function paired(calls: readonly string[], results: readonly string[], where: string): void {
  const seen = new Set<string>();
  for (const id of results) {
    demand(calls.includes(id), `${where}: result for ${id}, which the previous message did not call`);
    demand(!seen.has(id), `${where}: more than one result for ${id}`);
    seen.add(id);
  }
  const missing = calls.filter((id) => !seen.has(id));
  demand(missing.length === 0, `${where}: calls without results immediately after: ${missing.join(', ')}`);
}
