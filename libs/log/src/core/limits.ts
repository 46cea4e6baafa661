/** Most events in one append. */
export const MAX_BATCH = 64;

/** Most types a condition names: more than the vocabulary has, and few enough to compare with every recent event. */
export const MAX_NONE_OF = 128;

/** Largest stored event, in bytes of its JSON envelope. Below the streams' `max_msg_size` with room for headers. */
export const MAX_EVENT_BYTES = 448 * 1024;

/** Deepest nesting of a payload. */
export const MAX_DEPTH = 64;

/** How far back, in events, the log looks for a retried event id or for what `expect` forbids. */
export const LOOKBACK = 4096;

/** Most facts, and most bytes of facts, that an answer's `missed` carries. */
export const MAX_MISSED = 64;
export const MAX_MISSED_BYTES = 256 * 1024;

/** Events of one session, and bytes of their envelopes, the log’s owner keeps in memory while the session is live. */
export const WINDOW_EVENTS = 512;
export const WINDOW_BYTES = MAX_MISSED_BYTES;

/** Default and largest number of events in a page of `read`. */
export const DEFAULT_PAGE = 2000;
export const MAX_PAGE = 10_000;

/** Bytes after which a page is closed early. */
export const MAX_PAGE_BYTES = 768 * 1024;
