import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { decodeRequest, encodeJson } from './json-codec.js';

const schema = z.strictObject({ id: z.string(), limit: z.int().optional() });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('decodeRequest', () => {
  it('parses what fits', () => {
    expect(decodeRequest(schema, bytes('{"id":"ä","limit":3}'))).toEqual({ id: 'ä', limit: 3 });
  });

  it.each([
    ['invalid UTF-8', Uint8Array.of(0x22, 0xc3, 0x28, 0x22), /not valid UTF-8/],
    ['a lone surrogate in UTF-8', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), /not valid UTF-8/],
    ['no bytes', new Uint8Array(), /not JSON/],
    ['NaN', bytes('{"id":"a","limit":NaN}'), /not JSON/],
    ['a byte order mark', bytes('\ufeff{"id":"a"}'), /not JSON/],
    ['a wrong field', bytes('{"id":7}'), /^id: /],
    ['an unknown field', bytes('{"id":"a","x":1}'), /x/],
    ['another kind of value', bytes('[]'), /^request: /],
  ])('refuses %s with bad_request', (_, body, message) => {
    expect(() => decodeRequest(schema, body)).toThrow(expect.objectContaining({ code: 'bad_request' }));
    expect(() => decodeRequest(schema, body)).toThrow(message);
  });

  it('always replies JSON', () => {
    expect(new TextDecoder().decode(encodeJson(undefined))).toBe('{}');
  });
});
