import type { SessionEvent } from '@longrein/events';
import { digest } from '../canonical.js';
import { emptyList, push, toArray } from '../list.js';
import type { HistoryEntry, HistoryItem, HistoryState } from './state.js';

/** Digest of a history of nothing. */
const EMPTY_DIGEST = digest([]);

/** The history of a session that has said nothing. */
export function emptyHistory(): HistoryState {
  return { entries: emptyList(), digest: EMPTY_DIGEST };
}

/** The digest once `item` follows a history of digest `previous`. A chain, so that a step costs what it adds. */
export function extendDigest(previous: string, item: HistoryItem): string {
  return digest([previous, item]);
}

/** The digest of a list of messages: what the fold's running digest is for the same list. */
export function historyDigest(items: readonly HistoryItem[]): string {
  return items.reduce(extendDigest, EMPTY_DIGEST);
}

/** The model-visible events in log order; a compaction replaces everything at or below its boundary. */
export function evolveHistory(history: HistoryState, event: SessionEvent): HistoryState {
  switch (event.type) {
    case 'user/message':
      return add(history, event.seq, { role: 'user', text: event.payload.text, source: 'user' });
    case 'context/injected':
      return add(history, event.seq, { role: 'user', text: event.payload.text, source: 'injected' });
    case 'assistant/message':
      return add(history, event.seq, { role: 'assistant', parts: event.payload.parts });
    case 'tool/result': {
      const { id, content, error } = event.payload;
      return add(history, event.seq, { role: 'tool', id, content: content ?? null, error });
    }
    case 'session/compacted':
      return compact(history, event.seq, event.payload.upto_seq ?? event.seq - 1, event.payload.summary);
    case 'session/erased':
      return emptyHistory();
    default:
      return history;
  }
}

function add(history: HistoryState, seq: number, item: HistoryItem): HistoryState {
  return { entries: push(history.entries, { seq, item }), digest: extendDigest(history.digest, item) };
}

function compact(history: HistoryState, seq: number, uptoSeq: number, text: string): HistoryState {
  const summary: HistoryEntry = { seq, item: { role: 'user', text, source: 'summary' } };
  // An earlier summary goes with what it stood for, wherever the new boundary lies.
  const kept = toArray(history.entries).filter((entry) => entry.seq > uptoSeq && !isSummary(entry.item));
  return [summary, ...kept].reduce((into, entry) => add(into, entry.seq, entry.item), emptyHistory());
}

function isSummary(item: HistoryItem): boolean {
  return item.role === 'user' && item.source === 'summary';
}
