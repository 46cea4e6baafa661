import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Inject, Injectable, Module, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { freePort, startNatsServer, startTestNats, type TestNats } from '@longrein/testing';
import type { ServiceConfig } from '../config/service-config.js';
import type { JsonService } from '../rpc/json-service.js';
import { requestJson } from '../rpc/request-json.js';
import { z } from 'zod';
import { PortTaken, type RunningService, startService } from './start-service.js';
import { CONFIG, RPC } from './tokens.js';

interface TestConfig extends ServiceConfig {
  readonly greeting: string;
}

const cleanups: (() => Promise<unknown>)[] = [];
const steps: string[] = [];

afterEach(async () => {
  steps.length = 0;
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

@Controller()
class GreetingController {
  constructor(@Inject(CONFIG) private readonly config: TestConfig) {}

  @Get('greeting')
  greeting(): { text: string } {
    return { text: this.config.greeting };
  }
}

@Injectable()
class Runner implements OnModuleInit, OnModuleDestroy {
  constructor(@Inject(RPC) private readonly rpc: JsonService) {}

  onModuleInit(): void {
    this.rpc.serve('greet', 'test.greet', z.strictObject({}), async () => ({ text: 'hello' }));
    steps.push('init');
  }

  onModuleDestroy(): void {
    steps.push('destroy');
  }
}

@Module({ controllers: [GreetingController], providers: [Runner] })
class TestModule {}

async function nats(): Promise<TestNats> {
  const server = await startTestNats();
  cleanups.push(() => server.stop());
  return server;
}

async function start(servers: string, http = { host: '127.0.0.1', port: 0 }): Promise<RunningService> {
  const service = await startService<TestConfig>({
    name: 'test',
    version: '0.1.0',
    description: 'for tests',
    config: { nats: { servers: [servers] }, http, log: { level: 'silent', format: 'json' }, greeting: 'hello' },
    module: () => TestModule,
  });
  cleanups.push(() => service.stop());
  return service;
}

async function get(service: RunningService, path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${service.url}/${path}`);
  return { status: response.status, text: await response.text() };
}

describe('startService', () => {
  it('serves the app, probes, metrics and requests, and stops in order', async () => {
    const server = await nats();
    const service = await start(server.url);
    const client = await server.connect();
    await expect(requestJson(client, 'test.greet', {}, z.unknown())).resolves.toEqual({ text: 'hello' });
    await expect(get(service, 'greeting')).resolves.toEqual({ status: 200, text: '{"text":"hello"}' });
    await expect(get(service, 'healthz')).resolves.toMatchObject({ status: 200 });
    await expect(get(service, 'readyz')).resolves.toMatchObject({ status: 200, text: expect.stringContaining('nats') });
    const metrics = await get(service, 'metrics');
    expect(metrics.text).toContain('longrein_requests_total{endpoint="greet",code="ok",service="test"} 1');
    expect(metrics.text).toContain('process_resident_memory_bytes');

    await Promise.all([service.stop(), service.stop()]);
    expect(steps).toEqual(['init', 'destroy']);
    expect(service.nats.isClosed()).toBe(true);
    await expect(service.closed).resolves.toBeUndefined();
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow();
    await expect(requestJson(client, 'test.greet', {}, z.unknown())).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('waits for the first server', async () => {
    const port = await freePort();
    const starting = start(`nats://127.0.0.1:${port}`);
    const server = await startNatsServer({ port });
    cleanups.push(() => server.stop());
    const service = await starting;
    expect(service.health.ready().ok).toBe(true);
  });

  it('stays alive and becomes unready while the server is away, ready when it is back', async () => {
    const port = await freePort();
    const first = await startNatsServer({ port });
    const service = await start(first.url);
    const seen = (type: string) => nextStatus(service, type);
    const lost = seen('disconnect');
    await first.stop();
    await lost;
    await expect(get(service, 'healthz')).resolves.toMatchObject({ status: 200 });
    await expect(get(service, 'readyz')).resolves.toMatchObject({ status: 503 });
    const back = seen('reconnect');
    const second = await startNatsServer({ port });
    cleanups.push(() => second.stop());
    await back;
    await expect(get(service, 'readyz')).resolves.toMatchObject({ status: 200 });
  });

  it('stops while the server is away', async () => {
    const server = await nats();
    const service = await start(server.url);
    const lost = nextStatus(service, 'disconnect');
    await server.stop();
    await lost;
    await service.stop();
    expect(service.nats.isClosed()).toBe(true);
  });

  it('says so when its connection is closed for good', async () => {
    const server = await nats();
    const service = await start(server.url);
    await service.nats.close();
    await expect(service.closed).resolves.toBeInstanceOf(Error);
  });

  it('leaves nothing behind when it cannot listen', async () => {
    const server = await nats();
    const taken = createServer();
    const port = await freePort();
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
    cleanups.push(() => new Promise((resolve) => taken.close(resolve)));
    await expect(start(server.url, { host: '127.0.0.1', port })).rejects.toThrow(PortTaken);
    const client = await server.connect();
    await expect(requestJson(client, 'test.greet', {}, z.unknown())).rejects.toMatchObject({ code: 'unavailable' });
  });
});

async function nextStatus(service: RunningService, type: string): Promise<void> {
  for await (const status of service.nats.status()) if (status.type === type) return;
}
