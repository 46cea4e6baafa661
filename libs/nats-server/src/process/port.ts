import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Ports below every system's ephemeral range (Linux begins at 32768, others at 49152). A port from that range may be
 * taken by any outgoing connection while a killed server is down, and a client that keeps dialling it can even reach itself.
 */
const LOWEST = 15_000;
const HIGHEST = 32_000;
const ATTEMPTS = 100;

/** A port of 127.0.0.1 that nothing listens on and that stays free of outgoing connections. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await canListen(port)) return port;
  }
  throw new Error(`no free port of 127.0.0.1 found between ${LOWEST} and ${HIGHEST} in ${ATTEMPTS} attempts`);
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
