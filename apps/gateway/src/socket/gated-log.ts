import type { EventEnvelope } from '@longrein/events';
import type { CallOptions, EventPage, ReadRequest } from '@longrein/log';
import { LogClient, type LogClientOptions } from '@longrein/log/client';
import type { NatsConnection } from '@nats-io/transport-node';
import type { ReplayGate } from './replay-gate.js';

/** How long one read may hold its slot: a partition that does not answer must not stop the replays of the others. */
const SLOT_MS = 5_000;

/** The log for subscriptions: every read, also those by which followers fill their gaps, takes a slot of the gate. */
export class GatedLog extends LogClient {
  constructor(
    nats: NatsConnection,
    options: LogClientOptions,
    private readonly gate: ReplayGate,
  ) {
    super(nats, options);
  }

  override read(id: string, request: ReadRequest, options: CallOptions = {}): Promise<EventPage<EventEnvelope>> {
    return this.gate.run(() => super.read(id, request, { deadline_ms: SLOT_MS, ...options }));
  }
}
