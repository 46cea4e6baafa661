import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { isValidId } from '@longrein/events';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Access, TokenBook } from '../auth/token-book.js';
import { CLOSE_CODES } from '../protocol/server-frames.js';
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
  /** Open connections and the header each presented. */
  readonly #connections = new Map<AgentConnection, string | undefined>();

  constructor(
    private readonly deps: ConnectionDependencies,
    private readonly tokens: () => TokenBook,
  ) {}

  /** Serves upgrades of this HTTP server. */
  attach(http: Server): void {
    http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  /** Drops the connections whose token the tokens in force no longer allow. Call it when they have changed. */
  recheck(): void {
    for (const [connection, authorization] of [...this.#connections]) {
      if (!this.tokens().access(authorization, connection.agentId)) connection.revoke();
    }
  }

  /** Closes every connection: clients reconnect, to another replica. */
  stop(): void {
    for (const client of this.#server.clients) client.close(1001, 'going away');
    this.#server.close();
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    // Not parsed as a URL: what clients send here need not be one.
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    const agentId = PATH.exec(path)?.[1];
    if (agentId === undefined) {
      refuse(socket, 404, 'not_found', `no socket at ${path.slice(0, 200)}; connect to /agents/{id}/ws`);
      return;
    }
    const { authorization } = request.headers;
    // Before the agent is looked up, and before its name is judged: a stranger learns nothing.
    const granted = this.tokens().access(authorization, agentId);
    const access = granted && isReadOnly(query) ? reading(granted) : granted;
    const isNameable: boolean = isValidId(agentId);
    if (access && !isNameable) {
      refuse(
        socket,
        400,
        'invalid_id',
        `agent id ${agentId.slice(0, 130)} must be 1-128 characters of A-Z a-z 0-9 _ -`,
      );
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (client: WebSocket) => {
      if (!access) {
        reject(client);
        return;
      }
      const connection = new AgentConnection(this.deps, client, agentId, access);
      this.#connections.set(connection, authorization);
      client.on('close', () => this.#connections.delete(connection));
      connection.start();
    });
  }
}

/** Whether the client asks to watch only, whatever its token allows: it then supersedes nobody. */
function isReadOnly(query: string): boolean {
  return new URLSearchParams(query).get('access') === 'read';
}

function reading(access: Access): Access {
  return { ...access, capabilities: new Set(access.capabilities.has('read') ? ['read' as const] : []) };
}

function reject(client: WebSocket): void {
  const message = 'present a token for this agent: Authorization: Bearer <token>';
  client.on('error', () => client.terminate());
  client.send(JSON.stringify({ type: 'error', code: 'unauthorized', message }));
  client.close(CLOSE_CODES.unauthorized, 'unauthorized');
}

function refuse(socket: Duplex, status: number, code: string, message: string): void {
  const body = JSON.stringify({ error: { code, message } });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
