/** Deepest nesting of a tool's content or schema: the log refuses payloads of more than 64 levels. */
export const MAX_DEPTH = 56;

/**
 * Why the log could not store the value as it is, or nothing when it can: plain JSON of finite numbers, well-formed
 * strings and at most `MAX_DEPTH` levels. `JSON.stringify` alone would turn NaN into null and drop functions unsaid.
 */
export function storageProblem(value: unknown, path = '', depth = 0): string | undefined {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? undefined : at(path, 'holds text that is not well-formed Unicode');
    case 'number':
      return Number.isFinite(value) ? undefined : at(path, `is ${value}, which JSON cannot store`);
    case 'boolean':
      return undefined;
    case 'object':
      if (value === null) return undefined;
      if (depth >= MAX_DEPTH) return at(path, `is nested deeper than ${MAX_DEPTH} levels`);
      return Array.isArray(value) ? arrayProblem(value, path, depth) : objectProblem(value, path, depth);
    default:
      return at(path, `is a ${typeof value}, which JSON cannot store`);
  }
}

/** Size of a value in bytes of its JSON. The value must be storable. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value), 'utf8');
}

function arrayProblem(values: readonly unknown[], path: string, depth: number): string | undefined {
  for (let i = 0; i < values.length; i++) {
    const problem = storageProblem(values[i], `${path}/${i}`, depth + 1);
    if (problem) return problem;
  }
  return undefined;
}

function objectProblem(value: object, path: string, depth: number): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  // Another realm's Object.prototype (a test runner's sandbox) is still a plain object's.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    return at(path, `is an instance of ${value.constructor.name}, not plain JSON`);
  }
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    if (!key.isWellFormed()) return at(path, 'has a key that is not well-formed Unicode');
    if (key === '__proto__') return at(path, 'has a key named __proto__');
    const problem = storageProblem(member, `${path}/${key}`, depth + 1);
    if (problem) return problem;
  }
  return undefined;
}

function at(path: string, problem: string): string {
  return `${path === '' ? 'the value' : path.length > 200 ? `${path.slice(0, 200).toWellFormed()}…` : path} ${problem}`;
}
