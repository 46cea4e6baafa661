import type { AssistantPart } from '@longrein/events';
import { ModelError } from '../errors.js';
import type { ModelDelta } from '../port.js';
import { reasoningDigest, type ReasoningOrigin } from '../render/reasoning.js';
import { parseArguments } from './arguments.js';
import type { Answerer } from './provider.js';
import { TextFeed } from './text-feed.js';

/** Longest call id that the log stores. */
const MAX_ID = 256;

/** A tool call that is being written. */
export interface CallSlot {
  readonly type: 'tool_call';
  id: string;
  name: string;
  args: string;
}

/** Reasoning that is being written. `data` may be filled in as its pieces arrive. */
export interface ReasoningSlot {
  readonly type: 'reasoning';
  readonly feed: TextFeed;
  readonly format: string;
  data: unknown;
}

type Slot = { readonly type: 'text'; readonly feed: TextFeed } | ReasoningSlot | CallSlot;

/** The answer's parts as they grow, in the order in which the model began them. */
export class ReplyParts {
  readonly #slots: Slot[] = [];
  readonly #answerer: Answerer;

  constructor({ provider, model }: Answerer) {
    this.#answerer = { provider, model };
  }

  get last(): Slot | undefined {
    return this.#slots.at(-1);
  }

  /** Appends to the text part being written, or begins one. */
  *text(piece: string): Generator<ModelDelta> {
    if (piece === '') return;
    let slot = this.last;
    if (slot?.type !== 'text') {
      yield* this.close();
      slot = { type: 'text', feed: new TextFeed() };
      this.#slots.push(slot);
    }
    yield* deltas('text', slot.feed.push(piece));
  }

  /** Begins a reasoning part. */
  *beginReasoning(format: string, data: unknown): Generator<ModelDelta, ReasoningSlot> {
    yield* this.close();
    const slot: ReasoningSlot = { type: 'reasoning', feed: new TextFeed(), format, data };
    this.#slots.push(slot);
    return slot;
  }

  /** Appends to a reasoning part. */
  *reasoning(slot: ReasoningSlot, piece: string): Generator<ModelDelta> {
    yield* deltas('reasoning', slot.feed.push(piece));
  }

  /** Begins a call. */
  *beginCall(id: string, name: string): Generator<ModelDelta, CallSlot> {
    yield* this.close();
    const position = this.#slots.filter(({ type }) => type === 'tool_call').length + 1;
    const slot: CallSlot = {
      type: 'tool_call',
      // Some servers give no ids. Ids may repeat in a session, so the position is enough.
      id: id === '' || id.length > MAX_ID ? `call_${position}` : id.toWellFormed(),
      name: name.toWellFormed().slice(0, MAX_ID),
      args: '',
    };
    if (slot.name === '') throw new ModelError('bad_stream', `call ${slot.id} names no tool`, false);
    this.#slots.push(slot);
    yield { type: 'tool_call', id: slot.id, name: slot.name };
    return slot;
  }

  /** Hands on what the last part still holds back. */
  *close(): Generator<ModelDelta> {
    const slot = this.last;
    if (slot?.type === 'text' || slot?.type === 'reasoning') yield* deltas(slot.type, slot.feed.end());
  }

  get hasCalls(): boolean {
    return this.#slots.some(({ type }) => type === 'tool_call');
  }

  /** The finished parts; call `close` first. */
  finish(): AssistantPart[] {
    return this.#slots.flatMap((slot): AssistantPart[] => {
      switch (slot.type) {
        case 'text':
          return slot.feed.text === '' ? [] : [{ type: 'text', text: slot.feed.text }];
        case 'tool_call':
          return [{ type: 'tool_call', id: slot.id, name: slot.name, args: parseArguments(slot.args) }];
        case 'reasoning': {
          const text = slot.feed.text;
          const { format, data } = slot;
          if (text === '' && data === null) return [];
          const provider: ReasoningOrigin = { ...this.#answerer, format, data, digest: reasoningDigest(text) };
          return [{ type: 'reasoning', text, provider }];
        }
      }
    });
  }
}

function* deltas(type: 'text' | 'reasoning', text: string): Generator<ModelDelta> {
  if (text !== '') yield { type, text };
}
