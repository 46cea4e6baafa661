import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { isValidId } from '@longrein/events';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Authenticator } from '../auth/authenticator.js';
import type { Access } from '../auth/token-book.js';
import type { LiveClients } from '../clients/live-clients.js';
import { CLOSE_CODES, FrameError, TRY_AGAIN_LATER } from '../protocol/server-frames.js';
import { asFrameError } from '../sessions/session-commands.js';
import { AgentConnection, type ConnectionDependencies } from './agent-connection.js';

/** Above this a frame ends the connection; below it, and above the protocol's limit, it is answered `bad_frame`. */
const HARD_FRAME_LIMIT = 16 * 1024 * 1024;

const PATH = /^\/agents\/([^/]+)\/ws$/;

/** Takes WebSocket upgrades at `/agents/{id}/ws`. */
export class SocketServer {
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: HARD_FRAME_LIMIT,
    // Checked with the frame, which is answered: the library would close the connection.
    skipUTF8Validation: true,
    perMessageDeflate: false,
  });
  constructor(
    private readonly deps: ConnectionDependencies,
    private readonly authenticator: Authenticator,
    private readonly clients: LiveClients,
  ) {}

  /** Serves upgrades of this HTTP server. */
  attach(http: Server): void {
    http.on('upgrade', (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      void this.#upgrade(request, socket, head);
    });
  }

  /** Closes every connection: clients reconnect, to another replica. */
  stop(): void {
    for (const client of this.#server.clients) client.close(1001, 'going away');
    this.#server.close();
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // Not parsed as a URL: what clients send here need not be one.
    const [path = '', search] = (request.url ?? '').split('?', 2);
    const query = new URLSearchParams(search);
    const agentId = PATH.exec(path)?.[1];
    if (agentId === undefined) {
      refuse(socket, 404, 'not_found', `no socket at ${path.slice(0, 200)}; connect to /agents/{id}/ws`);
      return;
    }
    // Before the agent is looked up, and before its name is judged: a stranger learns nothing.
    const access = await this.#identify(request, query, agentId);
    const isNameable: boolean = isValidId(agentId);
    if (!(access instanceof FrameError) && !isNameable) {
      refuse(
        socket,
        400,
        'invalid_id',
        `agent id ${agentId.slice(0, 130)} must be 1-128 characters of A-Z a-z 0-9 _ -`,
      );
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (client: WebSocket) => {
      if (access instanceof FrameError) {
        reject(client, access);
        return;
      }
      const connection = new AgentConnection(this.deps, client, agentId, access);
      client.on('close', this.clients.add(connection));
      connection.start();
    });
  }

  /** What the client may do, or why it may do nothing. */
  async #identify(request: IncomingMessage, query: URLSearchParams, agentId: string): Promise<Access | FrameError> {
    const shown = { authorization: request.headers.authorization, ticket: query.get('ticket') ?? undefined };
    const access = await this.authenticator.identify(shown, agentId).catch(asFrameError);
    if (access === undefined) return new FrameError('unauthorized', NO_ACCESS);
    // Who asks to watch only, whatever its token allows, supersedes nobody.
    return query.get('access') === 'read' && !(access instanceof FrameError) ? reading(access) : access;
  }
}

const NO_ACCESS =
  'present a token for this agent: Authorization: Bearer <token>, or a ticket that was not used: ?ticket=<ticket>';

function reading(access: Access): Access {
  return { ...access, capabilities: new Set(access.capabilities.has('read') ? ['read' as const] : []) };
}

function reject(client: WebSocket, { code, message }: FrameError): void {
  client.on('error', () => client.terminate());
  client.send(JSON.stringify({ type: 'error', code, message }));
  client.close(CLOSE_CODES[code] ?? TRY_AGAIN_LATER, code);
}

function refuse(socket: Duplex, status: number, code: string, message: string): void {
  const body = JSON.stringify({ error: { code, message } });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
