import { createHash } from 'node:crypto';

/**
 * One text for one JSON value: no white space, object keys sorted by UTF-16 code units, fields that are undefined left
 * out, numbers as ECMAScript prints them (the rules of RFC 8785).
 *
 * @throws TypeError on a value that JSON cannot hold (non-finite number, function, symbol, bigint).
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value === 'object') {
    const fields = Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`).join(',')}}`;
  }
  throw new TypeError(`${String(value)} (${typeof value}) has no JSON form`);
}

/** `sha256:` and the hex SHA-256 of the value's canonical JSON. */
export function digest(value: unknown): string {
  return `sha256:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`;
}
