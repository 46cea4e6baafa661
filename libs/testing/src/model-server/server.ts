import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { control } from './control.js';
import { scriptedDefaultUsage } from './default-usage.js';
import { type Outcome, readBody, type RecordedRequest } from './exchange.js';
import { type Format, FORMATS } from './formats.js';
import { Gates } from './gates.js';
import { play } from './play.js';
import type { Scripted, ScriptedFailure } from './script.js';
import { Refused } from './strict/rules.js';
import { type Body, type RequestView, view } from './view.js';

/** Decides the reply to a request that the queue has none for. */
export type ScriptFunction = (request: RequestView) => Scripted | Promise<Scripted>;

/** How a server is started. */
export interface ModelServerOptions {
  /** Port on 127.0.0.1; any free one by default. */
  readonly port?: number;
  /** Replies in order. */
  readonly replies?: readonly Scripted[];
  /** Answers when the queue is empty; without it such a request is refused, loudly. */
  readonly script?: ScriptFunction;
}

/**
 * A model server that speaks both wire formats over HTTP and says what its script says: `POST /v1/chat/completions`
 * and `POST /v1/messages`, streamed. As strict as real providers: a history they would refuse is refused with 400 and
 * recorded in `rejections`.
 */
export class ModelServer {
  /** Every request so far. */
  readonly requests: RecordedRequest[] = [];
  readonly gates = new Gates();
  /** Answers when the queue is empty. */
  script: ScriptFunction | undefined;
  readonly #http: Server;
  readonly #queue: Scripted[];
  readonly #waiters: { readonly index: number; readonly resolve: (request: RecordedRequest) => void }[] = [];
  #calls = 0;

  private constructor(http: Server, options: ModelServerOptions) {
    this.#http = http;
    this.#queue = [...(options.replies ?? [])];
    this.script = options.script;
  }

  static async start(options: ModelServerOptions = {}): Promise<ModelServer> {
    const http = createServer();
    const server = new ModelServer(http, options);
    http.on('request', (request: IncomingMessage, response: ServerResponse) => void server.#serve(request, response));
    await new Promise<void>((resolve, reject) => {
      http.once('error', reject);
      http.listen(options.port ?? 0, '127.0.0.1', resolve);
    });
    return server;
  }

  /** Address without a path: the base URL of Anthropic clients. */
  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** Base URL of OpenAI-compatible clients. */
  get openAiUrl(): string {
    return `${this.url}/v1`;
  }

  /** What the strict check refused, in order. Empty in every healthy test. */
  get rejections(): readonly string[] {
    return this.requests.flatMap(({ rejection }) => (rejection === undefined ? [] : [rejection]));
  }

  /** Adds replies to the queue. */
  enqueue(...replies: readonly Scripted[]): void {
    this.#queue.push(...replies);
  }

  /** Replies that no request has taken yet. */
  get pending(): number {
    return this.#queue.length;
  }

  /** Lets replies at a gate go on. */
  release(gate: string): void {
    this.gates.release(gate);
  }

  /** Settles when a reply stands at the gate. */
  reached(gate: string): Promise<void> {
    return this.gates.reached(gate);
  }

  /** The request of this position, when it comes. */
  request(index: number): Promise<RecordedRequest> {
    const known = this.requests[index];
    if (known) return Promise.resolve(known);
    return new Promise((resolve) => this.#waiters.push({ index, resolve }));
  }

  /** Stops, breaking what is open. */
  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    this.#http.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const format = request.method === 'POST' ? FORMATS[request.url ?? ''] : undefined;
    if (!format) {
      if (!(await control(this, request, response))) response.writeHead(404).end();
      return;
    }
    const { promise: outcome, resolve } = Promise.withResolvers<Outcome>();
    response.once('close', () => resolve('disconnected'));
    try {
      const body = (await readBody(request)) as Body & Record<string, unknown>;
      const rejection = rejectionOf(format, request, body);
      this.#record({
        index: this.requests.length,
        format: format.name,
        headers: request.headers,
        body,
        ...(rejection ? { rejection: rejection.message ?? '' } : { view: view(format.name, body) }),
        outcome,
      });
      resolve(rejection ? refuse(format, response, rejection, 'rejected') : await this.#answer(format, body, response));
    } catch (error) {
      // A broken script must not look like a slow provider.
      refuse(format, response, { status: 400, message: `the script failed: ${String(error)}` }, 'failed');
      resolve('failed');
    }
  }

  async #answer(format: Format, body: Body, response: ServerResponse): Promise<Outcome> {
    const scripted = this.#queue.shift() ?? (await this.script?.(view(format.name, body)));
    if (!scripted)
      return refuse(format, response, { status: 400, message: 'the script has no more replies' }, 'failed');
    if ('fail' in scripted) return refuse(format, response, scripted.fail, 'failed');
    const disconnected = new Promise<void>((resolve) => response.once('close', resolve));
    if ('disconnect' in scripted) {
      response.destroy();
      return 'cut';
    }
    if ('silent' in scripted) {
      await disconnected;
      return 'disconnected';
    }
    const usage = scripted.usage === undefined ? scriptedDefaultUsage(body, scripted) : scripted.usage;
    const writer = format.writer(String(this.requests.length), String(body.model), usage);
    const nextCallId = (): string => `${format.callIdPrefix}${++this.#calls}`;
    return play({ reply: scripted, usage, writer, response, gates: this.gates, disconnected, nextCallId });
  }

  #record(request: RecordedRequest): void {
    this.requests.push(request);
    for (const { index, resolve } of this.#waiters) if (index === request.index) resolve(request);
  }
}

function rejectionOf(format: Format, { headers }: IncomingMessage, body: unknown): ScriptedFailure['fail'] | null {
  if (!format.authorized(headers)) return { status: 401, message: 'no API key was given' };
  try {
    format.check(body);
    return null;
  } catch (error) {
    if (error instanceof Refused) return { status: 400, message: error.message };
    throw error;
  }
}

function refuse(format: Format, response: ServerResponse, fail: ScriptedFailure['fail'], outcome: Outcome): Outcome {
  if (response.headersSent) {
    response.destroy();
    return outcome;
  }
  const retryAfter = fail.retry_after === undefined ? {} : { 'retry-after': String(fail.retry_after) };
  response.writeHead(fail.status, { 'content-type': 'application/json', ...retryAfter, ...fail.headers });
  response.end(fail.body ?? JSON.stringify(format.failure(fail)));
  return outcome;
}
