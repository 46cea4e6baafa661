import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { readBody } from './exchange.js';
import { scripted } from './script.js';
import type { ModelServer } from './server.js';

const gate = z.strictObject({ gate: z.string() });

/**
 * Steering of a server that runs in another process: `POST /control/replies` with a list of replies,
 * `POST /control/release` and `POST /control/reached` with `{"gate": …}` (the latter answers once a reply stands there),
 * `GET /control/requests` for the bodies and rejections so far. Answers whether the path was one of these.
 */
export async function control(
  server: ModelServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const answer = (status: number, value: unknown): true => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    return true;
  };
  try {
    switch (`${request.method} ${request.url}`) {
      case 'GET /control/requests':
        return answer(200, {
          requests: server.requests.map(({ format, body }) => ({ format, body })),
          rejections: server.rejections,
        });
      case 'POST /control/replies':
        server.enqueue(...z.array(scripted).parse(await readBody(request)));
        return answer(200, { pending: server.pending });
      case 'POST /control/release':
        server.release(gate.parse(await readBody(request)).gate);
        return answer(200, {});
      case 'POST /control/reached':
        await server.reached(gate.parse(await readBody(request)).gate);
        return answer(200, {});
      default:
        return false;
    }
  } catch (error) {
    return answer(400, { error: error instanceof z.ZodError ? z.prettifyError(error) : String(error) });
  }
}
