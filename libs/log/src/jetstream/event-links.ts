import { HEADER } from './names.js';
import type { StoredMessage } from './stream-api.js';

/**
 * Stream sequences that lead from an event to earlier ones of its session. Following them costs the same however long
 * the session and however full the partition: a filtered read would scan the partition instead.
 */
export interface EventLinks {
  readonly previous: number | undefined;
  readonly previousFact: number | undefined;
  readonly fact16: number | undefined;
  readonly fact256: number | undefined;
  readonly fact4096: number | undefined;
}

/** Links of a session without events. */
export const NO_LINKS: EventLinks = {
  previous: undefined,
  previousFact: undefined,
  fact16: undefined,
  fact256: undefined,
  fact4096: undefined,
};

/** An event of a page: as much of its place as a page needs. */
export interface PageEvent {
  readonly sequence: number;
  readonly seq: number;
  readonly message: StoredMessage;
}

/** An event in its stream: where it is and what it links to. */
export interface PlacedEvent extends PageEvent {
  readonly isFact: boolean;
  readonly type: string;
  /** Ordinal of this fact; on a chunk, of the fact before it. */
  readonly ordinal: number;
  readonly links: EventLinks;
}

/** Links for the session's next event, after this one was placed. */
export function linksAfter(links: EventLinks, sequence: number, isFact: boolean, ordinal: number): EventLinks {
  if (!isFact) return { ...links, previous: sequence };
  return {
    previous: sequence,
    previousFact: sequence,
    fact16: ordinal % 16 === 0 ? sequence : links.fact16,
    fact256: ordinal % 256 === 0 ? sequence : links.fact256,
    fact4096: ordinal % 4096 === 0 ? sequence : links.fact4096,
  };
}

/** Header lines of the links. */
export function linkHeaders(links: EventLinks): string {
  let lines = '';
  if (links.previous !== undefined) lines += `${HEADER.previous}: ${links.previous}\r\n`;
  if (links.previousFact !== undefined) lines += `${HEADER.previousFact}: ${links.previousFact}\r\n`;
  if (links.fact16 !== undefined) lines += `${HEADER.fact16}: ${links.fact16}\r\n`;
  if (links.fact256 !== undefined) lines += `${HEADER.fact256}: ${links.fact256}\r\n`;
  if (links.fact4096 !== undefined) lines += `${HEADER.fact4096}: ${links.fact4096}\r\n`;
  return lines;
}

/** An event whose headers are looked at only if somebody asks: parsing them costs more than the rest of a page. */
export function unplaced(message: StoredMessage): PageEvent {
  return {
    sequence: message.sequence,
    get seq() {
      return Number(message.header(HEADER.seq) ?? 0);
    },
    message,
  };
}

/** Reads an event's place from its headers. */
export function placeOf(message: StoredMessage): PlacedEvent {
  const number = (name: string): number | undefined => {
    const value = message.header(name);
    return value === undefined ? undefined : Number(value);
  };
  return {
    sequence: message.sequence,
    seq: number(HEADER.seq) ?? 0,
    isFact: !message.subject.endsWith('.chunk'),
    type: message.header(HEADER.type) ?? '',
    ordinal: number(HEADER.ordinal) ?? -1,
    links: {
      previous: number(HEADER.previous),
      previousFact: number(HEADER.previousFact),
      fact16: number(HEADER.fact16),
      fact256: number(HEADER.fact256),
      fact4096: number(HEADER.fact4096),
    },
    message,
  };
}
