import { type EventEnvelope, isSessionEvent } from '@longrein/events';
import { type KnownEvent, lineOf } from './event-lines.js';
import { oneLine, printable } from './text.js';

/** Makes a session's events readable: answers flow as they are streamed, everything else is a line. */
export class EventRenderer {
  /** The cursor stands behind streamed text. */
  #inText = false;
  /** Text of the present step has been streamed, so that its message says nothing new. */
  #streamed = false;

  /** What to write for an event; empty for one that says nothing to people. */
  render(event: EventEnvelope): string {
    if (!isSessionEvent(event)) return this.#line(`· ${oneLine(event.type)} ${oneLine(event.payload)}`);
    switch (event.type) {
      case 'assistant/chunk':
        return this.#text(event.payload.text);
      case 'assistant/message': {
        const text = event.payload.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
        const isNew = !this.#streamed && text !== '';
        this.#streamed = false;
        return isNew ? this.#text(text, false) + this.end() : this.end();
      }
      case 'step/start':
        this.#streamed = false;
        return '';
      default:
        return this.#line(lineOf(event as KnownEvent));
    }
  }

  /** Finishes the line that streamed text may stand in. */
  end(): string {
    if (!this.#inText) return '';
    this.#inText = false;
    return '\n';
  }

  #text(text: string, isStreamed = true): string {
    if (text === '') return '';
    this.#inText = true;
    this.#streamed ||= isStreamed;
    return printable(text);
  }

  #line(line: string | undefined): string {
    return line === undefined ? '' : `${this.end()}${line}\n`;
  }
}
