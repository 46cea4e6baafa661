import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DocumentStore, Scrubber } from '@longrein/log';
import { KvDocumentStore, LogClient } from '@longrein/log/client';
import { KvPartitionLeases, LogServer, provision } from '@longrein/log/jetstream';
import { type Deployment, MemoryDeployment, runScenario } from '@longrein/loop-app/testing';
import { withNats } from '@longrein/testing';
import type { NatsConnection } from '@nats-io/transport-node';
import { scenarios } from './catalogue.js';

const partitions = 1;
const server = withNats();
const clients: LogClient[] = [];
let nats: NatsConnection;
let log: LogServer;
let documents: DocumentStore;

beforeAll(async () => {
  nats = await server.connect();
  await provision(nats, { partitions });
  const leases = new KvPartitionLeases(nats, { scope: 'log', replica: 'one', partitions });
  log = new LogServer(nats, { partitions, scrubber: new Scrubber([]), leases });
  await log.start();
  documents = await KvDocumentStore.open(nats);
});

afterAll(async () => {
  for (const client of clients) client.close();
  await log.stop();
});

function deployment(): Deployment {
  const opened = new Map<string, LogClient>();
  return {
    documents,
    as: (service) => {
      let client = opened.get(service);
      if (!client) {
        client = new LogClient(nats, { service, partitions });
        opened.set(service, client);
        clients.push(client);
      }
      return client;
    },
  };
}

describe('a scenario leads to the same events on JetStream as in memory', () => {
  it.each(scenarios.map((scenario, index) => [scenario.name, scenario, `scenario-${index}`] as const))(
    '%s',
    async (_, scenario, sessionId) => {
      const inMemory = await runScenario(new MemoryDeployment(), scenario, sessionId);
      expect(await runScenario(deployment(), scenario, sessionId)).toEqual(inMemory);
    },
  );
});
