import type { EventEnvelope } from '@longrein/events';

/** One message of an event stream, or a comment. */
export interface StreamMessage {
  readonly id?: string;
  readonly event?: string;
  readonly data?: unknown;
  readonly comment?: string;
}

/** A client of Server-Sent Events as a browser has one, but for reconnecting. */
export class EventStreamClient {
  readonly #abort = new AbortController();
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = '';

  private constructor(readonly response: Response) {
    this.#reader = response.body!.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  }

  /** Connects; rejects with nothing: look at `response.status`. */
  static async open(url: string, headers: Record<string, string>): Promise<EventStreamClient> {
    const abort = new AbortController();
    const client = new EventStreamClient(await fetch(url, { headers, signal: abort.signal }));
    client.#abort.signal.addEventListener('abort', () => abort.abort());
    return client;
  }

  /** The next message or comment; undefined at the end of the stream. */
  async next(): Promise<StreamMessage | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end >= 0) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        return messageOf(block);
      }
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  /** Events of the session up to this seq; whatever else comes in between is left out. */
  async eventsTo(seq: number): Promise<EventEnvelope[]> {
    const events: EventEnvelope[] = [];
    for (;;) {
      const message = await this.next();
      if (!message) throw new Error('the stream ended');
      if (message.id === undefined) continue;
      const event = message.data as EventEnvelope;
      if (String(event.seq) !== message.id) throw new Error(`id ${message.id} on the event of seq ${event.seq}`);
      events.push(event);
      if (event.seq >= seq) return events;
    }
  }

  /** The rest of the stream, without comments. */
  async rest(): Promise<StreamMessage[]> {
    const messages: StreamMessage[] = [];
    for (let message = await this.next(); message; message = await this.next()) {
      if (message.comment === undefined) messages.push(message);
    }
    return messages;
  }

  close(): void {
    this.#abort.abort();
  }
}

function messageOf(block: string): StreamMessage {
  const fields: Record<string, string> = {};
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    fields[line.slice(0, colon) || 'comment'] = line.slice(colon + 1).trimStart();
  }
  const { id, event, data, comment } = fields;
  return {
    ...(id !== undefined && { id }),
    ...(event !== undefined && { event }),
    ...(comment !== undefined && { comment }),
    ...(data !== undefined && { data: JSON.parse(data) as unknown }),
  };
}
