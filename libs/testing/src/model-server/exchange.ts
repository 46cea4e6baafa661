import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { PlayedOutcome } from './play.js';
import type { Body, RequestView, WireFormat } from './view.js';

/** What became of a request. `rejected`: the strict check or the door refused it; `failed`: the script said so. */
export type Outcome = PlayedOutcome | 'rejected' | 'failed';

/** A request the server has received, as recorded. */
export interface RecordedRequest {
  /** Position among all requests, from 0. */
  readonly index: number;
  readonly format: WireFormat;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body & Readonly<Record<string, unknown>>;
  /** Absent when the request was rejected. */
  readonly view?: RequestView;
  /** Why it was rejected. */
  readonly rejection?: string;
  /** Settles when the server is done with it or the client has gone. */
  readonly outcome: Promise<Outcome>;
}

/** Largest body that is read. */
const MAX_BODY = 64 * 1024 * 1024;

/** Reads a request's body; null when it is too large or is not JSON. */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > MAX_BODY) return null;
    pieces.push(piece);
  }
  try {
    return JSON.parse(Buffer.concat(pieces).toString('utf8')) as unknown;
  } catch {
    return null;
  }
}
