import { connect } from 'node:net';

/** What a NATS server says of itself when a client connects. */
export interface ServerInfo {
  readonly version: string;
  readonly port: number;
  readonly jetstream?: boolean;
  readonly server_name?: string;
}

/** Longest `INFO` line a server is believed to send. */
const MAX_INFO_BYTES = 64 * 1024;

/** Connects and reads the server's `INFO` line; rejects when it cannot, after `timeoutMs` at the latest. */
export function probe(port: number, timeoutMs: number, host = '127.0.0.1'): Promise<ServerInfo> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host });
    let received = '';
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(timeoutMs, () => fail(new Error(`${host}:${port} sent no INFO line within ${timeoutMs} ms`)));
    socket.on('error', fail);
    socket.on('close', () => reject(new Error(`${host}:${port} closed the connection before its INFO line`)));
    socket.on('data', (data) => {
      received += data.toString('latin1');
      const end = received.indexOf('\r\n');
      if (end < 0) {
        if (received.length > MAX_INFO_BYTES) fail(new Error(`${host}:${port} sent no INFO line`));
        return;
      }
      const line = received.slice(0, end);
      if (!line.startsWith('INFO '))
        return fail(new Error(`${host}:${port} is not a NATS server: it sent ${JSON.stringify(line.slice(0, 80))}`));
      socket.destroy();
      resolve(JSON.parse(line.slice('INFO '.length)) as ServerInfo);
    });
  });
}
