import { ServiceError, requestJson } from '@longrein/service';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { FrameError } from '../protocol/server-frames.js';
import type { AgentInput, AgentInputs } from './agent-inputs.js';

/** Asks the registry, over NATS. */
export class RegistryInputs implements AgentInputs {
  constructor(private readonly nats: NatsConnection) {}

  async inject(input: AgentInput): Promise<void> {
    try {
      await requestJson(this.nats, 'registry.inject', input, z.looseObject({}));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const code = error.code === 'bad_request' || error.code === 'too_large' ? 'bad_frame' : 'unavailable';
      throw new FrameError(code, `the agent's registry did not take the input: ${error.message}`);
    }
  }
}
