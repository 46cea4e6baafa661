import { type EventEnvelope, isSessionEvent } from '@longrein/events';

/** How the turn that took an input ended. */
export interface Answer {
  readonly input_id: string;
  readonly turn_id: string;
  readonly status: string;
  readonly reason?: string | undefined;
  /** Text of the turn's last message. */
  readonly text: string;
  readonly structured_output?: unknown;
}

/** Follows a session's events for what becomes of one input. */
export class AnswerWatch {
  /** The input, and the granted inputs that carry its text. */
  readonly #inputs: Set<string>;
  #consumed = false;
  #text = '';

  constructor(private readonly inputId: string) {
    this.#inputs = new Set([inputId]);
  }

  /** Takes the session's next event; the answer once the turn that took the input has ended. */
  take(event: EventEnvelope): Answer | undefined {
    if (!isSessionEvent(event) || event.copied) return undefined;
    switch (event.type) {
      case 'input/queued': {
        const { input_id, grant } = event.payload;
        if (grant?.promotes !== undefined && this.#inputs.has(grant.promotes)) this.#inputs.add(input_id);
        return undefined;
      }
      case 'turn/start':
        // One turn at a time: whatever was said before belongs to another one.
        this.#text = '';
        this.#consume(event.payload.input_id);
        return undefined;
      case 'user/message':
      case 'context/injected':
        this.#consume(event.payload.input_id);
        return undefined;
      case 'assistant/message':
        this.#text = event.payload.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
        return undefined;
      case 'turn/end':
        return this.#consumed ? { input_id: this.inputId, ...event.payload, text: this.#text } : undefined;
      default:
        return undefined;
    }
  }

  #consume(inputId: string | undefined): void {
    if (inputId !== undefined && this.#inputs.has(inputId)) this.#consumed = true;
  }
}
