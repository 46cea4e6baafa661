import { describe, expect, it } from '@jest/globals';
import { compileSchema, malformedArguments, type ArgumentCheck } from './arguments.js';

function checkOf(schema: Record<string, unknown>): ArgumentCheck {
  const compiled = compileSchema(schema);
  if ('unusable' in compiled) throw new Error(compiled.unusable);
  return compiled.check;
}

describe('compileSchema', () => {
  it('names the path and what is expected there', () => {
    const check = checkOf({
      type: 'object',
      properties: { place: { type: 'object', properties: { city: { type: 'string' } } }, unit: { enum: ['c', 'f'] } },
      required: ['place'],
      additionalProperties: false,
    });
    expect(check({ place: { city: 'Turku' }, unit: 'c' })).toBeUndefined();
    expect(check({ place: { city: 5 } })).toContain('/place/city must be string');
    expect(check({})).toContain("the arguments must have required property 'place'");
    expect(check({ place: {}, unit: 'k' })).toContain('["c","f"]');
    expect(check({ place: {}, extra: 1 })).toContain('(extra)');
  });

  it('applies draft 2020-12 unless the schema says draft 7', () => {
    const tuple2020 = checkOf({ type: 'object', properties: { p: { prefixItems: [{ type: 'number' }] } } });
    expect(tuple2020({ p: ['x'] })).toContain('/p/0 must be number');
    const tuple7 = checkOf({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { p: { items: [{ type: 'number' }] } },
    });
    expect(tuple7({ p: ['x'] })).toContain('/p/0 must be number');
  });

  it.each([
    ['an unknown type', { type: 'object', properties: { a: { type: 'strnig' } } }],
    ['a reference to nowhere', { type: 'object', properties: { a: { $ref: '#/nowhere' } } }],
    ['a remote reference', { type: 'object', $ref: 'https://example.org/schema.json' }],
    ['a draft nobody knows', { $schema: 'https://example.org/draft', type: 'object' }],
    ['an asynchronous schema', { $async: true, type: 'object' }],
    ['a broken pattern', { type: 'object', properties: { a: { type: 'string', pattern: '(' } } }],
  ])('calls %s unusable instead of throwing', (_what, schema) => {
    expect(compileSchema(schema)).toEqual({ unusable: expect.any(String) });
  });

  it('takes two schemas with the same $id', () => {
    const check = checkOf({ $id: 'https://example.org/same', type: 'object', properties: { a: { type: 'string' } } });
    const other = checkOf({ $id: 'https://example.org/same', type: 'object', properties: { a: { type: 'number' } } });
    expect(check({ a: 'x' })).toBeUndefined();
    expect(other({ a: 'x' })).toContain('/a must be number');
  });

  it('ignores formats and unknown keywords instead of refusing them', () => {
    const check = checkOf({ type: 'object', 'x-hint': 1, properties: { d: { type: 'string', format: 'date-time' } } });
    expect(check({ d: 'yesterday' })).toBeUndefined();
  });

  it('answers arguments that exhaust a recursive schema', () => {
    const check = checkOf({ type: 'object', properties: { n: { $ref: '#' } } });
    let deep: Record<string, unknown> = {};
    for (let i = 0; i < 100_000; i++) deep = { n: deep };
    expect(check(deep)).toContain('could not be checked');
  });
});

describe('malformedArguments', () => {
  it('lets objects pass', () => {
    expect(malformedArguments({})).toBeUndefined();
  });

  it.each([
    ['{"city": "Tur', 'not valid JSON'],
    ['{"city":"Turku"}', 'inside a JSON string'],
    ['{"n": 1e999}', 'cannot be stored: /n is Infinity'],
    ['[1]', 'an array; send a JSON object'],
    [[1], 'an array'],
    [null, 'null'],
    [7, 'a number'],
    [undefined, 'missing'],
  ])('refuses %j', (args, text) => {
    expect(malformedArguments(args)).toContain(text);
  });
});
