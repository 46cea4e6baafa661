import { describe, expect, it } from '@jest/globals';
import { Scrubber } from '@longrein/log';
import fc from 'fast-check';
import { CHUNK_BYTES, TextChunker } from './text-chunker.js';

/** Feeds deltas, flushing after those that `flushAfter` names, and returns the chunks of the run. */
function chunksOf(scrubber: Scrubber, deltas: readonly string[], flushAfter: (index: number) => boolean): string[] {
  const chunker = new TextChunker(scrubber);
  const chunks: (string | undefined)[] = [];
  for (const [index, delta] of deltas.entries()) {
    chunks.push(chunker.push(delta));
    if (flushAfter(index)) chunks.push(chunker.flush());
  }
  chunks.push(chunker.end());
  return chunks.filter((chunk) => chunk !== undefined);
}

/** Cuts a text at the given places. */
function cut(text: string, places: readonly number[]): string[] {
  const ends = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [...ends, text.length].map((end, index) => text.slice(ends[index - 1] ?? 0, end));
}

describe('chunks of a run of text', () => {
  it('RED-09 without a scrubber are the deltas, coalesced only', () => {
    const chunker = new TextChunker(new Scrubber());
    expect(chunker.push('Hel')).toBeUndefined();
    expect(chunker.push('lo')).toBeUndefined();
    expect(chunker.flush()).toBe('Hello');
    expect(chunker.flush()).toBeUndefined();
    expect(chunker.push('x'.repeat(CHUNK_BYTES))).toBe('x'.repeat(CHUNK_BYTES));
    expect(chunker.end()).toBeUndefined();
  });

  it('RED-09 counts bytes, not characters', () => {
    expect(new TextChunker(new Scrubber()).push('é'.repeat(CHUNK_BYTES / 2))).toBe('é'.repeat(CHUNK_BYTES / 2));
  });

  it('never cuts a surrogate pair', () => {
    const chunker = new TextChunker(new Scrubber());
    chunker.push('a\ud83d');
    expect(chunker.flush()).toBe('a');
    chunker.push('\ude00');
    expect(chunker.end()).toBe('😀');
  });

  it('RED-08 a secret split over deltas, anywhere, is in no chunk, and the chunks are the scrubbed text', () => {
    const scrubber = new Scrubber([{ pattern: 'sk-[a-z0-9]{8}', max_length: 11 }, { literal: 'hunter2-hunter2' }]);
    const word = fc.constantFrom('sk-abcd1234', 'hunter2-hunter2', 'sk-', 'hunter2', ' plain text ', 'é😀', '\n');
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 60 }),
        fc.array(fc.nat(), { maxLength: 40 }),
        fc.array(fc.boolean(), { minLength: 1 }),
        (words, places, flushes) => {
          const text = words.join('');
          const chunks = chunksOf(scrubber, cut(text, places), (index) => flushes[index % flushes.length] ?? false);
          expect(chunks.join('')).toBe(scrubber.text(text).toWellFormed());
          for (const chunk of chunks) expect(scrubber.text(chunk)).toBe(chunk);
          expect(chunks.join('\u0000')).not.toMatch(/sk-[a-z0-9]{8}|hunter2-hunter2/);
        },
      ),
    );
  });

  it('RED-08 holds back no more than the longest pattern needs', () => {
    const chunker = new TextChunker(new Scrubber([{ pattern: 'sk-\\w{8}', max_length: 11 }]));
    chunker.push(`${'a '.repeat(20)}`);
    expect(chunker.flush()).toHaveLength(40 - 11);
  });

  it('RED-08 a match that grows beyond what was expected is held until it ends', () => {
    const chunker = new TextChunker(new Scrubber([{ pattern: 'sk-\\w+', max_length: 8 }]));
    expect(chunker.push('my sk-aaaaaaaaaaaaaaaaaaaaaaaa')).toBeUndefined();
    expect(chunker.flush()).toBeUndefined();
    chunker.push('bbbb and more words after it');
    expect(`${chunker.flush() ?? ''}${chunker.end() ?? ''}`).toBe('my [redacted] and more words after it');
  });
});
