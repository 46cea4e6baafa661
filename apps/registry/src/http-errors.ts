import { HttpException } from '@nestjs/common';
import { wireErrorOf } from '@longrein/service';

/** HTTP status of each error code; other refusals are 400. */
const STATUS: Readonly<Record<string, number>> = {
  agent_exists: 409,
  agent_busy: 409,
  agent_cap_exceeded: 429,
  agent_not_found: 404,
  not_configured: 409,
  unknown_session: 404,
  too_large: 413,
  storage_full: 507,
  unavailable: 503,
  moved: 503,
};

/** Answers a request with the same error bodies as over NATS: `{error: {code, message}}`. */
export async function answering(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    const wire = wireErrorOf(error);
    if (!wire) throw error;
    throw new HttpException({ error: wire }, STATUS[wire.code] ?? 400, { cause: error });
  }
}
