import { isUtf8 } from 'node:buffer';
import type { Msg } from '@nats-io/nats-core';
import { LogError } from '../port/index.js';
import type { RawPage } from './session-reader.js';

/** A request's body. Throws `invalid_event` or `too_large`, saying what was wrong with it. */
export function parseRequest(msg: Msg, maxBytes: number): Record<string, unknown> {
  if (msg.data.length > maxBytes) {
    throw new LogError('too_large', `the request has ${msg.data.length} bytes; at most ${maxBytes} are taken`);
  }
  if (!isUtf8(msg.data)) throw new LogError('invalid_event', 'the request is not valid UTF-8');
  let request: unknown;
  try {
    request = JSON.parse(textOf(msg.data));
  } catch (error) {
    throw new LogError('invalid_event', `the request is not JSON: ${(error as Error).message}`);
  }
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    throw new LogError('invalid_event', 'the request must be a JSON object');
  }
  return request as Record<string, unknown>;
}

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The request's W3C trace context, which is stored with its events; nothing when it is not one. */
export function traceContext(msg: Msg): string | undefined {
  const value = msg.headers?.get('traceparent');
  return value !== undefined && TRACEPARENT.test(value) ? value : undefined;
}

/** A reply's body. */
export function encodeReply(reply: object): Uint8Array {
  return Buffer.from(JSON.stringify(reply));
}

/** A page's body, put together from the stored bytes: the log never parses what it only passes on. */
export function encodePage({ events, next_seq, last_seq }: RawPage): Uint8Array {
  const parts: Uint8Array[] = [Buffer.from('{"events":[')];
  events.forEach(({ message }, i) => {
    if (i > 0) parts.push(COMMA);
    parts.push(message.data);
  });
  parts.push(Buffer.from(`],"next_seq":${next_seq},"last_seq":${last_seq}}`));
  return Buffer.concat(parts);
}

const COMMA = Buffer.from(',');

function textOf(data: Uint8Array): string {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString();
}
