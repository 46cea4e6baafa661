import type { BaseEnvelope } from '@longrein/events';
import type { EventPage } from '../port/index.js';

/** Reads the page that begins at a seq. */
export type ReadPage<Envelope extends BaseEnvelope> = (from_seq: number) => Promise<EventPage<Envelope>>;

/** Pages from a seq to the session's end, the next one being fetched while the current one is consumed. */
export async function* pagesFrom<Envelope extends BaseEnvelope>(
  from_seq: number,
  readPage: ReadPage<Envelope>,
): AsyncGenerator<EventPage<Envelope>, void, void> {
  let next: Promise<EventPage<Envelope>> | undefined = readPage(from_seq);
  while (next) {
    const page: EventPage<Envelope> = await next;
    next = page.next_seq === null ? undefined : readPage(page.next_seq);
    // A failure is thrown when its page is due, or not at all if the reader stops before.
    next?.catch(() => undefined);
    yield page;
  }
}
