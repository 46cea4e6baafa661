import type { StreamApi } from '../jetstream/stream-api.js';

/** JetStream passed over an event that it holds. */
export class SkippedEvents extends Error {
  override readonly name = 'SkippedEvents';

  constructor(
    readonly stream: string,
    readonly sequence: number,
  ) {
    super(`${stream} holds an event at sequence ${sequence} but did not deliver it; check the stream's store`);
  }
}

/**
 * The log writes a partition without gaps, so a sequence that an unfiltered consumer does not get was deleted. Asks the
 * leader for both ends of such a gap and throws `SkippedEvents` when one of them is there.
 */
export async function assertGapIsDeleted(
  api: StreamApi,
  stream: string,
  delivered: number,
  arrived: number,
): Promise<void> {
  if (arrived === delivered + 1) return;
  const ends = new Set([delivered + 1, arrived - 1]);
  const found = await Promise.all([...ends].map((seq) => api.get(stream, { seq })));
  const kept = found.find((message) => message !== undefined);
  if (kept) throw new SkippedEvents(stream, kept.sequence);
}
