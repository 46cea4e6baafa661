import { z } from 'zod';
import type { OptionalService } from './optional-service.js';

/** A client's decision about a call that waits for one. */
export interface ClientVerdict {
  readonly session_id: string;
  readonly call_id: string;
  readonly request_seq?: number | undefined;
  readonly verdict: 'approved' | 'denied';
  readonly reason?: string | undefined;
  readonly by?: string | undefined;
}

const resolved = z.looseObject({ call_id: z.string(), request_seq: z.int(), verdict: z.string(), seq: z.int() });

/** The approvals service. Rejects with `FrameError`. */
export class VerdictService {
  constructor(private readonly service: OptionalService) {}

  /** Passes a verdict on; resolves to the request it was about once it is in the log. */
  resolve(verdict: ClientVerdict): Promise<z.infer<typeof resolved>> {
    return this.service.request('approvals.resolve', verdict, resolved);
  }
}
