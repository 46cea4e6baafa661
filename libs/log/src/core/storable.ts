import { LogError } from '../port/index.js';
import { MAX_DEPTH } from './limits.js';

/**
 * Throws `invalid_event` unless the value survives a JSON round trip unchanged: plain objects and arrays, finite
 * numbers, well-formed strings, string keys, at most 64 levels. `undefined` properties count as absent.
 * `JSON.stringify` alone would turn NaN into null and drop symbols without a word.
 */
export function assertStorable(value: unknown, path = 'payload', depth = 0): void {
  // Paths are put together only for the error: nearly every value is storable, and this runs for every event.
  if (!isStorable(value, depth)) explain(value, path, depth);
}

function isStorable(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed();
    case 'number':
      return Number.isFinite(value);
    case 'boolean':
      return true;
    case 'object': {
      if (value === null) return true;
      if (depth >= MAX_DEPTH) return false;
      if (Array.isArray(value)) {
        for (let i = 0; i < value.length; i++) if (!isStorable(value[i], depth + 1)) return false;
        return true;
      }
      if (!isPlain(value) || Object.getOwnPropertySymbols(value).length > 0) return false;
      for (const key in value) {
        const member = (value as Record<string, unknown>)[key];
        if (member === undefined) continue;
        if (key === '__proto__' || !key.isWellFormed() || !isStorable(member, depth + 1)) return false;
      }
      return true;
    }
    default:
      return false;
  }
}

/** Another realm's Object.prototype (a test runner's sandbox) is still a plain object's. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function explain(value: unknown, path: string, depth: number): void {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw refuse(path, 'holds text that is not well-formed Unicode');
      return;
    case 'number':
      if (!Number.isFinite(value)) throw refuse(path, `is ${value}, which JSON cannot store`);
      return;
    case 'boolean':
      return;
    case 'object':
      if (value === null) return;
      if (depth >= MAX_DEPTH) throw refuse(path, `is nested deeper than ${MAX_DEPTH} levels`);
      if (Array.isArray(value)) for (let i = 0; i < value.length; i++) explain(value[i], `${path}[${i}]`, depth + 1);
      else explainObject(value, path, depth);
      return;
    default:
      throw refuse(path, `is a ${typeof value}, which JSON cannot store`);
  }
}

function explainObject(value: object, path: string, depth: number): void {
  if (!isPlain(value)) throw refuse(path, `is an instance of ${value.constructor.name}; send plain JSON`);
  if (Object.getOwnPropertySymbols(value).length > 0) throw refuse(path, 'has a key that is not a string');
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    if (!key.isWellFormed()) throw refuse(path, 'has a key that is not well-formed Unicode');
    if (key === '__proto__') throw refuse(path, 'has a key named __proto__');
    explain(member, `${path}.${key}`, depth + 1);
  }
}

function refuse(path: string, problem: string): LogError {
  return new LogError('invalid_event', `${path.length > 200 ? `${path.slice(0, 200)}…` : path} ${problem}`);
}
