import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MAX_FRAME_BYTES, clientFrame, isBadFrame, parseClientFrame } from './client-frames.js';

const parse = (value: unknown): ReturnType<typeof parseClientFrame> =>
  parseClientFrame(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), false);

describe('client frames', () => {
  it.each([
    [{ type: 'subscribe', from_seq: 0 }],
    [{ type: 'inject', text: 'hello', wake: true, input_id: 'i1' }],
    [{ type: 'cancel', reason: 'enough' }],
    [{ type: 'cancel' }],
    [{ type: 'approve', call_id: 'c1' }],
    [{ type: 'deny', call_id: 'c1', reason: 'no' }],
    [{ type: 'deny', call_id: 'c1' }],
    [{ type: 'set_model', role: 'main', model: 'anthropic/claude' }],
    [{ type: 'set_model', role: 'titler', model: 'openrouter/meta/llama:free' }],
    [{ type: 'set_policy', patterns: ['read_*', 'mcp__*'] }],
  ])('WSP-09 accepts %j with its fields', (frame) => {
    expect(parse(frame)).toEqual(frame);
  });

  it('WSP-09 takes wake as false when it is not said, and ignores fields of newer clients', () => {
    expect(parse({ type: 'inject', text: 'x', color: 'red' })).toEqual({ type: 'inject', text: 'x', wake: false });
  });

  it.each<[string, unknown, RegExp]>([
    ['what is not JSON', 'hello', /not JSON/],
    ['nothing', '', /not JSON/],
    ['NaN', '{"type":"subscribe","from_seq":NaN}', /not JSON/],
    ['an array', '[{"type":"cancel"}]', /not a JSON object/],
    ['null', 'null', /not a JSON object/],
    ['a string', '"cancel"', /not a JSON object/],
    ['no type', { from_seq: 0 }, /frame without a type: type/],
    ['an unknown type', { type: 'explode' }, /frame "explode": type/],
    ['a type that every object has', { type: 'constructor' }, /frame "constructor": type/],
    ['a missing field', { type: 'subscribe' }, /frame "subscribe": from_seq/],
  ])('WSP-10 refuses %s', (_, frame, problem) => {
    expect(parse(frame)).toEqual({ problem: expect.stringMatching(problem) });
  });

  it.each<[unknown, RegExp]>([
    [{ type: 'subscribe', from_seq: -1 }, /from_seq/],
    [{ type: 'subscribe', from_seq: '0' }, /from_seq/],
    [{ type: 'subscribe', from_seq: 1.5 }, /from_seq/],
    [{ type: 'subscribe', from_seq: 1e300 }, /from_seq/],
    [{ type: 'inject', text: 7 }, /text/],
    [{ type: 'inject', text: null }, /text/],
    [{ type: 'inject', text: 'x', wake: 'yes' }, /wake/],
    [{ type: 'inject', text: 'x', input_id: '' }, /input_id/],
    [{ type: 'inject', text: 'x', input_id: 5 }, /input_id/],
    [{ type: 'cancel', reason: {} }, /reason/],
    [{ type: 'approve', call_id: 1 }, /call_id/],
    [{ type: 'deny', call_id: 'c', reason: 1 }, /reason/],
    [{ type: 'set_model', role: 'boss', model: 'a/b' }, /role/],
    [{ type: 'set_model', role: 1, model: 'a/b' }, /role/],
    [{ type: 'set_policy', patterns: 'all' }, /patterns/],
    [{ type: 'set_policy', patterns: [1] }, /patterns/],
  ])('WSP-11 refuses %j and names the field', (frame, problem) => {
    expect(parse(frame)).toEqual({ problem: expect.stringMatching(problem) });
  });

  it.each(['model', 'a/', '/b', 'a b/c', ''])('WSP-32 refuses the model %j', (model) => {
    expect(parse({ type: 'set_model', role: 'main', model })).toEqual({ problem: expect.stringMatching(/model/) });
  });

  it.each(['text', 'input_id'])('WSP-11 refuses ill-formed Unicode in %s', (field) => {
    const frame = `{"type":"inject","text":"x","input_id":"i","${field}":"\\ud800"}`;
    expect(parse(frame)).toEqual({ problem: expect.stringMatching(new RegExp(`${field}: .*well-formed`)) });
  });

  it('WSP-11 refuses bytes that are not UTF-8', () => {
    const data = Buffer.concat([
      Buffer.from('{"type":"inject","text":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}'),
    ]);
    expect(parseClientFrame(data, false)).toEqual({ problem: 'the frame is not valid UTF-8' });
  });

  it('WSP-12 takes a frame of exactly 1 MiB and refuses one byte more', () => {
    const overhead = JSON.stringify({ type: 'inject', text: '' }).length;
    const frame = (bytes: number): string => JSON.stringify({ type: 'inject', text: 'x'.repeat(bytes - overhead) });
    expect(parse(frame(MAX_FRAME_BYTES))).toMatchObject({ type: 'inject' });
    expect(parse(frame(MAX_FRAME_BYTES + 1))).toEqual({ problem: expect.stringContaining('1048577 bytes') });
  });

  it('refuses a binary frame, whatever it holds', () => {
    expect(parseClientFrame(Buffer.from('{"type":"cancel"}'), true)).toEqual({
      problem: expect.stringMatching(/binary/),
    });
  });

  it('WSP-34 takes 128 patterns of 256 characters and refuses one more of either', () => {
    const patterns = Array.from({ length: 128 }, () => 'p'.repeat(256));
    expect(parse({ type: 'set_policy', patterns })).toEqual({ type: 'set_policy', patterns });
    expect(isBadFrame(parse({ type: 'set_policy', patterns: [...patterns, 'p'] }))).toBe(true);
    expect(isBadFrame(parse({ type: 'set_policy', patterns: ['p'.repeat(257)] }))).toBe(true);
  });

  it('never throws: any bytes are a frame or a refusal', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), fc.json().map(Buffer.from)), fc.boolean(), (bytes, isBinary) => {
        const frame = parseClientFrame(Buffer.from(bytes), isBinary);
        if (isBadFrame(frame)) expect(frame.problem).not.toBe('');
        else expect(clientFrame.safeParse(frame).success).toBe(true);
      }),
    );
    const deep = `${'['.repeat(500_000)}${']'.repeat(500_000)}`;
    expect(isBadFrame(parse(deep))).toBe(true);
    expect(isBadFrame(parse(`{"type":${deep}}`))).toBe(true);
  });
});
