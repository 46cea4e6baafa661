import { headers, type Msg, type NatsConnection, type Subscription } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { EndpointStats } from './endpoint-stats.js';
import { decodeRequest, encodeJson } from './json-codec.js';
import { ServiceError, type WireError, wireErrorOf } from './service-error.js';
import { TRACEPARENT } from './trace.js';
import { WorkQueue } from './work-queue.js';

/** How long `stop` waits for the server to confirm that no more requests come. */
const DRAIN_MS = 2_000;

/** What a handler knows about its request besides the body. */
export interface RequestContext {
  readonly subject: string;
  /** W3C trace context of the caller, to be passed on. */
  readonly traceparent?: string;
}

/** Answers a request. What it resolves to is the reply; what it throws is the error reply. */
export type Handler<Request> = (request: Request, context: RequestContext) => Promise<unknown>;

/** How a subject is served. */
export interface ServeOptions {
  /** Queue group: each request reaches one member. Absent: every server answers. */
  readonly queue?: string;
  /** Requests handled at the same time. Default 64. */
  readonly concurrency?: number;
  /** Requests waiting beyond those; more are answered `overloaded`. Default 1024. */
  readonly backlog?: number;
  /** Where faults of the handler are reported: errors that no caller may see. */
  readonly logger?: Logger;
  /** Told about each finished request. `code` is `ok` or the error's. */
  readonly observe?: (outcome: { code: string; seconds: number }) => void;
}

/** A subject being served. */
export interface JsonServer {
  readonly subject: string;
  readonly queue?: string;
  readonly stats: EndpointStats;
  /** Takes no new requests, answers those it has, resolves when done. Repeating it waits for the same end. */
  stop(): Promise<void>;
}

/**
 * Serves plain-JSON request/reply on a subject. Every request gets one reply: what the handler resolved to, or
 * `{error: {code, message}}`. Bytes that are not UTF-8, not JSON or not what the schema takes are answered
 * `bad_request`; no request can end the server.
 */
export function serveJson<Schema extends z.ZodType>(
  connection: NatsConnection,
  subject: string,
  schema: Schema,
  handler: Handler<z.output<Schema>>,
  options: ServeOptions = {},
): JsonServer {
  const work = new WorkQueue(options.concurrency ?? 64, options.backlog ?? 1024);
  const stats = new EndpointStats();

  const handle = async (message: Msg): Promise<void> => {
    const started = process.hrtime.bigint();
    let error: WireError | undefined;
    try {
      const request = decodeRequest(schema, message.data);
      const traceparent = message.headers?.get(TRACEPARENT);
      const result = await handler(request, { subject: message.subject, ...(traceparent && { traceparent }) });
      respond(message, encodeJson(result), connection);
    } catch (caught) {
      error = wireErrorOf(caught) ?? hidden(caught, message.subject, options.logger);
      refuse(message, error, options.logger);
    }
    const nanoseconds = Number(process.hrtime.bigint() - started);
    stats.add(nanoseconds, error);
    options.observe?.({ code: error?.code ?? 'ok', seconds: nanoseconds / 1e9 });
  };

  const subscription = connection.subscribe(subject, {
    ...(options.queue !== undefined && { queue: options.queue }),
    callback: (failure, message) => {
      if (failure) {
        options.logger?.error({ err: failure, subject }, `cannot serve ${subject}`);
        return;
      }
      if (work.offer(() => handle(message))) return;
      const error = { code: 'overloaded', message: `${subject} has ${work.size} requests waiting; retry later` };
      stats.add(0, error);
      refuse(message, error, options.logger);
      options.observe?.({ code: error.code, seconds: 0 });
    },
  });

  let stopping: Promise<void> | undefined;
  return {
    subject,
    ...(options.queue !== undefined && { queue: options.queue }),
    stats,
    stop: () => (stopping ??= drain(subscription).then(() => work.idle())),
  };
}

function respond(message: Msg, body: Uint8Array, connection: NatsConnection): void {
  const limit = connection.info?.max_payload;
  if (limit !== undefined && body.length > limit) {
    throw new ServiceError('too_large', `the reply has ${body.length} bytes, the server allows ${limit}; ask for less`);
  }
  message.respond(body);
}

/** Error replies also carry the headers of the NATS service protocol, which its tools understand. */
function refuse(message: Msg, error: WireError, logger?: Logger): void {
  const info = headers();
  info.set('Nats-Service-Error', error.message.replace(/[\r\n]+/g, ' ').slice(0, 1024));
  info.set('Nats-Service-Error-Code', error.code === 'internal' ? '500' : '400');
  try {
    message.respond(encodeJson({ error }), { headers: info });
  } catch (failure) {
    logger?.warn({ err: failure, subject: message.subject }, 'could not answer a request');
  }
}

function hidden(caught: unknown, subject: string, logger?: Logger): WireError {
  logger?.error({ err: caught, subject }, `a request on ${subject} failed`);
  return { code: 'internal', message: `${subject} failed; the log of the service says why` };
}

/** Draining waits for the server's answer, which does not come while the connection is down. */
async function drain(subscription: Subscription): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, DRAIN_MS);
  });
  try {
    await Promise.race([subscription.drain(), patience]);
  } catch {
    // The connection is closed already: there is nothing left to drain.
  } finally {
    clearTimeout(timer);
  }
}
