import { z } from 'zod';
import type { OptionalService } from './optional-service.js';

/** The policy service. Rejects with `FrameError`. */
export class PolicyService {
  constructor(private readonly service: OptionalService) {}

  /** Replaces a session's policy, from the next call on. */
  async set(sessionId: string, patterns: readonly string[], by: string | undefined): Promise<void> {
    await this.service.request('policy.set', { session_id: sessionId, patterns, by }, z.looseObject({}));
  }
}
