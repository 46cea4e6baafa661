import { failure, success, messageOf } from '../core/index.js';

/** What goes back over the wire. */
export type ToolReply = { readonly content: unknown } | { readonly error: string };

/** An error result. Text that JSON cannot carry is repaired, text beyond all use is cut. */
export function errorReply(text: string): ToolReply {
  return { error: failure(text).error ?? text };
}

/** The reply to what a handler threw. */
export function thrownReply(error: unknown): ToolReply {
  if (!(error instanceof Error)) return errorReply(`The tool failed: ${String(error)}`);
  const message = error.message === '' ? `The tool failed: ${error.name}` : error.message;
  // `fetch failed` alone tells the model nothing: what it could not reach is in the cause.
  const cause = error.cause instanceof Error ? error.cause.message : '';
  return errorReply(cause === '' || message.includes(cause) ? message : `${message}: ${cause}`);
}

/**
 * The reply to what a handler returned: its JSON form, `null` for nothing. What JSON would drop or distort without a
 * word (NaN, functions, symbols) and what is larger than `maxBytes` becomes an error.
 */
export function contentReply(value: unknown, maxBytes: number): ToolReply {
  let content: unknown;
  try {
    content = value === undefined ? null : (JSON.parse(JSON.stringify(value, refuseLoss)) as unknown);
  } catch (error) {
    return errorReply(`The tool returned something that is not JSON: ${messageOf(error)}`);
  }
  const outcome = success(content, maxBytes);
  return outcome.error === null ? { content } : { error: outcome.error };
}

function refuseLoss(key: string, member: unknown): unknown {
  const kind = typeof member;
  if (kind === 'function' || kind === 'symbol') throw new TypeError(`${key || 'the result'} is a ${kind}`);
  if (kind === 'number' && !Number.isFinite(member)) throw new TypeError(`${key || 'the result'} is ${String(member)}`);
  return member;
}
