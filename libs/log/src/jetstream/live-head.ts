import { type BaseEnvelope, type StreamKind, eventSubject } from '@longrein/events';
import { type PreparedEvent, SessionHead } from '../core/index.js';
import { type EventLinks, type PlacedEvent, NO_LINKS, linkHeaders, linksAfter } from './event-links.js';
import { HEADER } from './names.js';
import type { Outgoing } from './stream-writer.js';

/** A session's head with its place in the stream. */
export class LiveHead extends SessionHead {
  links: EventLinks;
  /** Stream sequence of the session's last event; 0 for a session about to be created. */
  sequence: number;
  /** A fork has begun to copy into this session and has not finished. */
  forking: boolean;
  /**
   * No longer what the cache hands out, because it was evicted or the pipeline refused what was decided on top of it.
   * Nothing may be stored on top of it either: another head may stand in its place.
   */
  retired = false;

  private constructor(id: string, place?: PlacedEvent) {
    super(id, place?.seq ?? -1, place?.ordinal ?? -1);
    this.sequence = place?.sequence ?? 0;
    this.links = place ? linksAfter(place.links, place.sequence, place.isFact, place.ordinal) : NO_LINKS;
    this.forking = place ? isUnfinishedFork(place) : false;
  }

  /** Head of a session that does not exist yet. */
  static unborn(id: string): LiveHead {
    return new LiveHead(id);
  }

  /** Head of the session whose last event this is. */
  static at(id: string, tip: PlacedEvent): LiveHead {
    return new LiveHead(id, tip);
  }

  /** Messages for events to be stored from the stream sequence `base` on. Changes nothing yet. */
  outgoing(
    kind: StreamKind,
    partition: number,
    term: string,
    base: number,
    events: readonly PreparedEvent[],
    traceparent: string | undefined,
  ): Outgoing[] {
    let { links, factOrdinal: ordinal } = this;
    return events.map(({ envelope, definition, body }, i) => {
      const isFact = definition.class === 'fact';
      if (isFact) ordinal++;
      const headers =
        `${HEADER.seq}: ${envelope.seq}\r\n${HEADER.type}: ${envelope.type}\r\n${HEADER.term}: ${term}\r\n` +
        `${HEADER.ordinal}: ${ordinal}\r\n${linkHeaders(links)}` +
        (envelope.copied ? `${HEADER.copied}: 1\r\n` : '') +
        (traceparent ? `${HEADER.traceparent}: ${traceparent}\r\n` : '');
      links = linksAfter(links, base + i, isFact, ordinal);
      return {
        subject: eventSubject(kind, partition, this.id, definition.class, definition.family),
        // The id alone is the caller's choice and may repeat; the server would drop the repetition mid-pipeline.
        messageId: messageId(this.id, envelope),
        headers,
        body,
      };
    });
  }

  /** Takes in events that were handed to the pipeline at `base`. */
  take(base: number, events: readonly PreparedEvent[]): void {
    events.forEach(({ envelope, definition, body }, i) => {
      const isFact = definition.class === 'fact';
      this.push(envelope, isFact, body.length);
      this.sequence = base + i;
      this.links = linksAfter(this.links, this.sequence, isFact, this.factOrdinal);
    });
  }
}

function messageId(id: string, { seq, id: eventId }: BaseEnvelope): string {
  return `${id}/${seq}/${eventId}`;
}

function isUnfinishedFork({ message, type }: PlacedEvent): boolean {
  if (message.header(HEADER.copied)) return true;
  return type === 'session/created' && Buffer.from(message.data).includes('"fork":{');
}
