import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/nats-core';
import { TOOLS_BUCKET } from './subjects.js';

/** Opens the registrations bucket; makes it when it is not there. An existing one keeps its configuration. */
export function openToolsBucket(nc: NatsConnection, replicas = 1): Promise<KV> {
  return new Kvm(nc).create(TOOLS_BUCKET, { history: 1, replicas });
}
