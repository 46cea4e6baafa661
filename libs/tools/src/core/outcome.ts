import type { ToolOutcome } from '../port/index.js';
import { isRecord } from './json.js';
import { jsonBytes, storageProblem } from './storable.js';

/** Largest content of a result by default, in bytes of JSON. The log stores events of up to 448 KiB. */
export const DEFAULT_MAX_RESULT_BYTES = 256 * 1024;

/** Largest limit that can be configured: above it the log would refuse the result's event. */
export const HIGHEST_MAX_RESULT_BYTES = 400 * 1024;

/** Longest error text kept, in characters. The end is cut, with a mark. */
export const MAX_ERROR_LENGTH = 16_384;

/** An outcome that says a call went wrong. Makes any text storable. */
export function failure(error: string): ToolOutcome {
  const text = error.toWellFormed();
  if (text.length <= MAX_ERROR_LENGTH) return { content: null, error: text };
  return { content: null, error: `${text.slice(0, MAX_ERROR_LENGTH).toWellFormed()}… (cut)` };
}

/** An outcome with content, or the error that says why the log cannot keep the content. */
export function success(content: unknown, maxBytes: number): ToolOutcome {
  const problem = storageProblem(content);
  if (problem !== undefined) return failure(`The tool's result cannot be stored: ${problem}.`);
  const bytes = jsonBytes(content);
  if (bytes > maxBytes) {
    return failure(
      `The tool's result is too large to store: ${bytes} bytes, the limit is ${maxBytes}. The tool has run; ask it for less.`,
    );
  }
  return { content, error: null };
}

/** Turns what a tool answered into an outcome. `{content}` and `{error: text}` are results; all else is nonsense. */
export function outcomeOf(reply: unknown, maxBytes: number): ToolOutcome {
  if (isRecord(reply)) {
    const error = reply['error'];
    if (typeof error === 'string')
      return failure(error === '' ? 'The tool reported an error without saying which.' : error);
    if ((error === undefined || error === null) && reply['content'] !== undefined) {
      return success(reply['content'], maxBytes);
    }
  }
  return failure(`The tool answered something that is not a result: ${excerpt(reply)}`);
}

/** The start of a value as text, for messages. */
export function excerpt(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  return text.length > 200 ? `${text.slice(0, 200).toWellFormed()}…` : text;
}
