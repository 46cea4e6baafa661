import { ServiceError, requestJson } from '@longrein/service';
import type { NatsConnection } from '@nats-io/transport-node';
import type { z } from 'zod';
import { FrameError } from '../protocol/server-frames.js';

/** Refusals that say the request itself is wrong. */
const BAD: ReadonlySet<string> = new Set(['bad_request', 'invalid_event', 'too_large', 'invalid_id']);

/** Troubles that may be over the next time. */
const PASSING: ReadonlySet<string> = new Set([
  'unavailable',
  'timeout',
  'overloaded',
  'moved',
  'storage_full',
  'bad_reply',
  'internal',
]);

/** A service behind some of the clients' frames, which a deployment may do without. */
export class OptionalService {
  #heard = false;

  /** @param deployed whether the deployment is known to have it: else it is, once it has answered */
  constructor(
    private readonly nats: NatsConnection,
    readonly name: string,
    private readonly deployed: boolean,
  ) {}

  /**
   * Asks it. Rejects with `FrameError`: `unsupported` when it is not deployed, `unavailable` when it is and cannot be
   * reached or cannot do it now, `bad_frame`, `stale_call`, or `refused` with its own reason.
   */
  async request<Schema extends z.ZodType>(subject: string, body: object, reply: Schema): Promise<z.output<Schema>> {
    try {
      const answer = await requestJson(this.nats, subject, body, reply);
      this.#heard = true;
      return answer;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      throw this.#explain(error);
    }
  }

  #explain({ code, message, details }: ServiceError): FrameError {
    if (details['no_responders'] === true) {
      return this.deployed || this.#heard
        ? new FrameError('unavailable', `the ${this.name} service cannot be reached now; try again`)
        : new FrameError('unsupported', `no ${this.name} service is deployed`);
    }
    if (code !== 'unavailable' && code !== 'timeout') this.#heard = true;
    if (code === 'stale_call') return new FrameError('stale_call', message);
    if (BAD.has(code)) return new FrameError('bad_frame', message);
    if (PASSING.has(code)) return new FrameError('unavailable', `the ${this.name} service: ${message}`);
    return new FrameError('refused', `the ${this.name} service refused: ${message} (${code})`);
  }
}
