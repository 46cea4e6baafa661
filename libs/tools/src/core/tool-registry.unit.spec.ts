import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseRegistration, MAX_REGISTRATION_BYTES } from './registration.js';
import { MAX_TOOLSET_BYTES, ToolRegistry } from './tool-registry.js';

const bytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));
const definition = (name: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  name,
  description: `does ${name}`,
  input_schema: { type: 'object' },
  ...more,
});
const entry = (key: string, more: Record<string, unknown> = {}) =>
  [key, parseRegistration(key, bytes(definition(key.split('.')[1] ?? '', more)))] as const;
const put = (registry: ToolRegistry, key: string, more: Record<string, unknown> = {}): void =>
  registry.put(...entry(key, more));

describe('parseRegistration', () => {
  it('fills in defaults: APR-01 never asks, TLP-11 serial', () => {
    expect(parseRegistration('default.t', bytes(definition('t')))).toEqual({
      tool: {
        namespace: 'default',
        visible_name: 't',
        name: 't',
        description: 'does t',
        input_schema: { type: 'object' },
        mutating: true,
        approval: 'never',
        concurrency: 'serial',
        timeout_ms: 60_000,
        repeatable: true,
      },
    });
  });

  it.each([
    ['default.t', 'not json', 'not JSON'],
    ['default.t', '', 'not JSON'],
    ['default.t', '[]', 'invalid'],
    ['default.t', definition('u'), '"t"'],
    ['default', definition('t'), '<namespace>.<name>'],
    ['a.b.c', definition('c'), '<namespace>.<name>'],
    ['default.t€', definition('t€'), 'A-Z'],
    [`n.${'t'.repeat(64)}`, definition('t'.repeat(64)), 'longer than 64'],
    ['default.t', definition('t', { input_schema: true }), 'input_schema'],
    ['default.t', definition('t', { input_schema: { type: 'string' } }), '"type": "object"'],
    ['default.t', definition('t', { timeout_ms: 0 }), 'timeout_ms'],
    ['default.t', definition('t', { approval: 'maybe' }), 'approval'],
    ['default.t', definition('t', { description: '' }), 'description'],
    ['default.t', '{"name":"t","description":"\\ud800","input_schema":{"type":"object"}}', 'well-formed'],
    [
      'default.t',
      definition('t', { input_schema: { type: 'object', x: 'x'.repeat(MAX_REGISTRATION_BYTES) } }),
      'bytes',
    ],
  ])('refuses %s %j', (key, body, reason) => {
    expect(parseRegistration(key, bytes(body))).toEqual({ reason: expect.stringContaining(reason) });
  });

  it('refuses bytes that are not UTF-8', () => {
    expect(parseRegistration('default.t', Uint8Array.of(0x22, 0xff, 0x22))).toEqual({
      reason: expect.stringContaining('UTF-8'),
    });
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string(), fc.oneof(fc.uint8Array(), fc.json().map(bytes)), (key, body) => {
        expect(Object.keys(parseRegistration(key, body))).toHaveLength(1);
      }),
    );
  });
});

describe('ToolRegistry', () => {
  it('names tools as models see them, in code-unit order', () => {
    const registry = new ToolRegistry();
    for (const key of ['default.b', 'web.search', 'default.B', 'default.a']) put(registry, key);
    expect(registry.describe().tools.map((tool) => tool.name)).toEqual(['B', 'a', 'b', 'web__search']);
    expect(registry.resolve('web__search')?.namespace).toBe('web');
    expect(registry.resolve('search')).toBeUndefined();
  });

  it('gives the same list and digest for every order of arrival, duplicates included', () => {
    const entries = [entry('default.x__y'), entry('x.y'), entry('default.a'), entry('default.bad', { timeout_ms: -1 })];
    fc.assert(
      fc.property(fc.shuffledSubarray(entries, { minLength: entries.length }), (order) => {
        const registry = new ToolRegistry();
        for (const [key, parsed] of order) registry.put(key, parsed);
        expect(registry.list().map((tool) => `${tool.namespace}.${tool.name}`)).toEqual(['default.a', 'default.x__y']);
        expect(registry.rejected().map(({ key }) => key)).toEqual(['default.bad', 'x.y']);
        const other = new ToolRegistry();
        other.replace(entries);
        expect(registry.describe()).toEqual(other.describe());
      }),
    );
  });

  it('lets the other one in when the holder of a name goes', () => {
    const registry = new ToolRegistry();
    put(registry, 'default.x__y');
    put(registry, 'x.y');
    registry.remove('default.x__y');
    expect(registry.resolve('x__y')?.namespace).toBe('x');
    expect(registry.rejected()).toEqual([]);
  });

  it('changes the digest when and only when a model is told something else', () => {
    const registry = new ToolRegistry();
    const changes: string[] = [];
    put(registry, 'default.a');
    registry.onChange(() => changes.push(registry.describe().digest));
    const before = registry.describe().digest;
    expect(before).toMatch(/^sha256:[0-9a-f]{64}$/);
    put(registry, 'default.a');
    expect(changes).toEqual([]);
    put(registry, 'default.a', { timeout_ms: 5 });
    expect(changes).toEqual([before]);
    put(registry, 'default.a', { description: 'other' });
    expect(changes).toHaveLength(2);
    expect(changes[1]).not.toBe(before);
  });

  it('does not tell the order of keys apart', () => {
    const one = new ToolRegistry();
    const other = new ToolRegistry();
    put(one, 'default.a', { input_schema: { type: 'object', properties: {} } });
    put(other, 'default.a', { input_schema: { properties: {}, type: 'object' } });
    expect(one.describe().digest).toBe(other.describe().digest);
  });

  it('shows what the selection admits', () => {
    const registry = new ToolRegistry();
    put(registry, 'default.a');
    put(registry, 'default.b');
    expect(registry.describe((name) => name === 'b').tools.map((tool) => tool.name)).toEqual(['b']);
  });

  it('drops what one event of the log could not hold, and keeps the rest', () => {
    const registry = new ToolRegistry();
    for (let i = 0; i < 10; i++)
      put(registry, `default.t${i}`, { input_schema: { type: 'object', x: 'x'.repeat(60_000) } });
    const { tools, omitted } = registry.describe();
    expect(omitted).toEqual(['t6', 't7', 't8', 't9']);
    expect(tools.map((tool) => tool.name)).toEqual(['t0', 't1', 't2', 't3', 't4', 't5']);
    expect(JSON.stringify(tools).length).toBeLessThanOrEqual(MAX_TOOLSET_BYTES);
  });
});
