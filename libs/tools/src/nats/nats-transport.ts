import { NoRespondersError, RequestError, TimeoutError, type Msg, type NatsConnection } from '@nats-io/nats-core';
import { ToolFailure, excerpt, type ToolTransport, untilAborted } from '../core/index.js';
import type { RegisteredTool, ToolCall } from '../port/index.js';
import { Reconnects } from './reconnects.js';
import { callSubject } from './subjects.js';

/** Default of how long a call waits for a tool's process that is just restarting, in milliseconds. */
export const DEFAULT_ABSENCE_MS = 1_000;

const RETRY_MS = 100;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Request and reply with a tool's process. What went wrong becomes a text the model can act on. */
export class NatsTransport implements ToolTransport {
  readonly #nc: NatsConnection;
  readonly #absenceMs: number;
  readonly #reconnects: Reconnects;

  constructor(nc: NatsConnection, absenceMs: number = DEFAULT_ABSENCE_MS) {
    this.#nc = nc;
    this.#absenceMs = absenceMs;
    this.#reconnects = new Reconnects(nc);
  }

  async call(tool: RegisteredTool, call: ToolCall, signal: AbortSignal | undefined): Promise<unknown> {
    const deadline = Date.now() + tool.timeout_ms;
    const body = JSON.stringify({ ...pick(call), not_after: new Date(deadline).toISOString() });
    const limit = this.#nc.info?.max_payload;
    const size = Buffer.byteLength(body);
    if (limit !== undefined && size > limit) {
      throw new ToolFailure(`The call has ${size} bytes, the transport takes ${limit}. Send smaller arguments.`);
    }
    return parse(tool, await untilAborted(this.#ask(tool, body, deadline, signal), signal));
  }

  /**
   * The first answer. When the connection breaks, the request or its reply may be lost, and waiting for it would take
   * all of the tool's time: a tool that may be repeated is asked again, under the same key.
   */
  #ask(tool: RegisteredTool, body: string, deadline: number, signal: AbortSignal | undefined): Promise<Msg> {
    const { promise, resolve, reject } = Promise.withResolvers<Msg>();
    let newest = 0;
    const send = (): void => {
      const number = ++newest;
      // Whether an earlier request was taken is unknown, so that "no process" says nothing about a later one.
      const patience = number === 1 ? Math.min(Date.now() + this.#absenceMs, deadline) : deadline;
      this.#request(tool, body, { deadline, patience, signal }).then(resolve, (error: unknown) => {
        if (number === newest) reject(error);
      });
    };
    const stop = tool.repeatable ? this.#reconnects.listen(send) : (): void => undefined;
    signal?.addEventListener('abort', stop, { once: true });
    send();
    return promise.finally(() => {
      stop();
      signal?.removeEventListener('abort', stop);
    });
  }

  async #request(
    tool: RegisteredTool,
    body: string,
    { deadline, patience, signal }: { deadline: number; patience: number; signal: AbortSignal | undefined },
  ): Promise<Msg> {
    const subject = callSubject(tool.namespace, tool.name);
    for (;;) {
      signal?.throwIfAborted();
      try {
        return await this.#nc.request(subject, body, { timeout: Math.max(1, deadline - Date.now()) });
      } catch (error) {
        if (isTimeout(error)) {
          throw new ToolFailure(
            `${tool.visible_name} timed out after ${tool.timeout_ms} ms. It may have run, or may still be running.`,
          );
        }
        if (!isNoResponders(error)) throw error;
        // Nobody got the request, so sending it again cannot run the tool twice.
        if (Date.now() + RETRY_MS > patience) {
          throw new ToolFailure(`No process answers for ${tool.visible_name} right now. It has not run.`);
        }
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }
}

function pick(call: ToolCall): ToolCall {
  const { session_id, turn_id, call_id, call_seq, name, args, key, attempt, epoch } = call;
  return { session_id, turn_id, call_id, call_seq, name, args, key, attempt, epoch };
}

function parse(tool: RegisteredTool, message: Msg): unknown {
  let text: string;
  try {
    text = utf8.decode(message.data);
  } catch {
    throw new ToolFailure(`${tool.visible_name} answered something that is not a result: bytes that are not UTF-8`);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ToolFailure(`${tool.visible_name} answered something that is not a result: not JSON: ${excerpt(text)}`);
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof TimeoutError || (error instanceof Error && error.cause instanceof TimeoutError);
}

function isNoResponders(error: unknown): boolean {
  return error instanceof NoRespondersError || (error instanceof RequestError && error.isNoResponders());
}
