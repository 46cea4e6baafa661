import { describe, expect, it } from '@jest/globals';
import { TailChunk } from './tail-chunk.js';

describe('the end of a reply’s text', () => {
  it('is the same event on every try, looked for from the first one on', () => {
    const tail = new TailChunk('the end');
    const [first] = tail.events;
    expect(first).toMatchObject({ type: 'assistant/chunk', payload: { text: 'the end' } });
    expect(tail.events).toEqual([first]);
    expect([tail.since(7), tail.since(9)]).toEqual([7, 7]);
  });

  it('is left out once it is stored, and where there is none', () => {
    const tail = new TailChunk('the end');
    tail.stored();
    expect([...tail.events, ...new TailChunk('').events]).toEqual([]);
  });
});
