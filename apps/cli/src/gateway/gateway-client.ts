import type { EventEnvelope } from '@longrein/events';
import { CliError, EXIT, type ExitCode, causeOf } from '../errors.js';
import type { Settings } from '../settings.js';

/** A session as the gateway shows it. */
export interface SessionView {
  readonly session_id: string;
  readonly status: string;
  readonly title: string | null;
  readonly last_seq: number;
  readonly turn: { readonly turn_id: string; readonly start_seq: number } | null;
  readonly pending_approvals: readonly { readonly call_id: string; readonly name: string }[];
  readonly inbox: readonly { readonly input_id: string; readonly text: string; readonly wake: boolean }[];
  readonly policy: { readonly patterns: readonly string[]; readonly source: string } | null;
  readonly usage: Readonly<Record<string, number>>;
  readonly messages: number;
  readonly agent: { readonly agent_id: string; readonly generation: number } | null;
}

/** Events of a session, a page at a time. */
export interface Page {
  readonly events: readonly EventEnvelope[];
  readonly next_seq: number | null;
  readonly last_seq: number;
}

/** The gateway over HTTP. Everything rejects with `CliError`. */
export class GatewayClient {
  constructor(private readonly settings: Settings) {}

  /** Creates the session unless it exists. Without an id the gateway makes one. */
  create(id?: string): Promise<{ session_id: string; created: boolean; last_seq: number }> {
    return this.#call('POST', '/sessions', id === undefined ? {} : { session_id: id });
  }

  show(id: string): Promise<SessionView> {
    return this.#call('GET', sessionPath(id));
  }

  events(id: string, fromSeq: number, limit: number): Promise<Page> {
    return this.#call('GET', `${sessionPath(id)}/events?from_seq=${fromSeq}&limit=${limit}`);
  }

  inject(id: string, input: { text: string; wake: boolean; input_id: string }): Promise<{ input_id: string }> {
    return this.#call('POST', `${sessionPath(id)}/inputs`, input);
  }

  cancel(id: string, reason?: string): Promise<object> {
    return this.#call('POST', `${sessionPath(id)}/cancel`, reason === undefined ? {} : { reason });
  }

  async #call<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const { url, token } = this.settings;
    let response: Response;
    try {
      response = await fetch(`${url}${path}`, {
        method,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
    } catch (error) {
      throw unreachable(url, error);
    }
    const text = await response.text().catch((error: unknown) => {
      throw unreachable(url, error);
    });
    if (!response.ok) throw refusal(response.status, text, this.settings);
    try {
      return JSON.parse(text) as Answer;
    } catch {
      throw notAGateway(url);
    }
  }
}

/** The gateway could not be talked to. */
export function unreachable(url: string, error: unknown): CliError {
  const message = `cannot reach the gateway at ${url} (${causeOf(error)}); is it running? npm start runs one`;
  return new CliError(message, EXIT.unreachable, { cause: error });
}

/** What an HTTP refusal means to the user. */
export function refusal(status: number, body: string, settings: Settings): CliError {
  let error: { code?: unknown; message?: unknown } = {};
  try {
    error = (JSON.parse(body) as { error?: typeof error }).error ?? {};
  } catch {
    // Not from a gateway, or a proxy in front of it speaks: its status is all there is.
  }
  if (status === 401) return unauthorized(settings, 'the gateway refuses it for this session');
  // The requests of this program are known to every gateway: the address leads to something else, or below it.
  if (error.code === 'not_found') return notAGateway(settings.url);
  const message = typeof error.message === 'string' ? error.message : `${settings.url} answers with status ${status}`;
  return new CliError(message, exitCodeOf(status, error.code));
}

/** No token, or one the gateway refuses. */
export function unauthorized({ token }: Settings, why: string): CliError {
  const message =
    token === undefined
      ? 'no token: give --token or LONGREIN_TOKEN, or run where npm start keeps .longrein/token'
      : `the token is not accepted (${why}); check --token, LONGREIN_TOKEN or .longrein/token`;
  return new CliError(message, EXIT.refused);
}

function exitCodeOf(status: number, code: unknown): ExitCode {
  if (code === 'unknown_session') return EXIT.unknown_session;
  if (status === 403) return EXIT.refused;
  if (status === 400 || status === 413) return EXIT.usage;
  if (status === 502 || status === 503 || status === 504) return EXIT.unreachable;
  return EXIT.failed;
}

function sessionPath(id: string): string {
  return `/sessions/${encodeURIComponent(id)}`;
}

function notAGateway(url: string): CliError {
  return new CliError(`${url} does not answer like a gateway; check --url or LONGREIN_URL`, EXIT.usage);
}
