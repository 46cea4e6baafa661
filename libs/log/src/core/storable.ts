import { LogError } from '../port/index.js';
import { MAX_DEPTH } from './limits.js';

/**
 * Throws `invalid_event` unless the value survives a JSON round trip unchanged: plain objects and arrays, finite
 * numbers, well-formed strings, string keys, at most 64 levels. `undefined` properties count as absent.
 * `JSON.stringify` alone would turn NaN into null and drop symbols without a word.
 */
export function assertStorable(value: unknown, path = 'payload', depth = 0): void {
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
      if (Array.isArray(value)) assertArray(value, path, depth);
      else assertPlainObject(value, path, depth);
      return;
    default:
      throw refuse(path, `is a ${typeof value}, which JSON cannot store`);
  }
}

function assertArray(values: readonly unknown[], path: string, depth: number): void {
  for (let i = 0; i < values.length; i++) assertStorable(values[i], `${path}[${i}]`, depth + 1);
}

function assertPlainObject(value: object, path: string, depth: number): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  // Another realm's Object.prototype (a test runner's sandbox) is still a plain object's.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw refuse(path, `is an instance of ${value.constructor.name}; send plain JSON`);
  }
  if (Object.getOwnPropertySymbols(value).length > 0) throw refuse(path, 'has a key that is not a string');
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    if (!key.isWellFormed()) throw refuse(path, 'has a key that is not well-formed Unicode');
    if (key === '__proto__') throw refuse(path, 'has a key named __proto__');
    assertStorable(member, `${path}.${key}`, depth + 1);
  }
}

function refuse(path: string, problem: string): LogError {
  return new LogError('invalid_event', `${path.length > 200 ? `${path.slice(0, 200)}…` : path} ${problem}`);
}
