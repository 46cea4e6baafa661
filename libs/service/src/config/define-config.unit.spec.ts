import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ConfigError, defineConfig, secret } from './define-config.js';
import { serviceConfig, serviceVariables } from './service-config.js';
import { flag, integer, list, port } from './variables.js';

const definition = defineConfig(
  {
    PORT: port().default(7000).describe('a port'),
    MODE: z.enum(['fast', 'safe']).describe('fast or safe'),
    VERBOSE: flag().default(false),
    PEERS: list().default([]),
    TOKEN: secret(z.string().min(8, 'must have at least 8 characters').optional().describe('a token')),
  },
  (values) => values,
);

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    definition.parse(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
  }
  return [];
}

describe('defineConfig', () => {
  it('parses every variable once and builds the config', () => {
    const env = { PORT: '80', MODE: 'safe', VERBOSE: 'Yes', PEERS: ' a, b,,' };
    expect(definition.parse(env)).toEqual({
      PORT: 80,
      MODE: 'safe',
      VERBOSE: true,
      PEERS: ['a', 'b'],
      TOKEN: undefined,
    });
  });

  it('takes an empty variable for an unset one', () => {
    expect(definition.parse({ MODE: 'fast', PORT: '', VERBOSE: '  ' })).toMatchObject({ PORT: 7000, VERBOSE: false });
  });

  it('lists everything that is wrong, names the variable and says what to do', () => {
    expect(problemsOf({ PORT: '70000', VERBOSE: 'maybe' })).toEqual([
      'PORT: "70000" is not accepted (must be at most 65535); set it to a port',
      'MODE is missing; set it to fast or safe',
      expect.stringMatching(/^VERBOSE: "maybe" is not accepted/),
    ]);
  });

  it('does not repeat a secret', () => {
    const [problem] = problemsOf({ MODE: 'fast', TOKEN: 'abc123' });
    expect(problem).toBe('TOKEN: its value is not accepted (must have at least 8 characters); set it to a token');
  });

  it('describes each variable for the documentation', () => {
    expect(definition.variables).toEqual([
      { name: 'PORT', description: 'a port', required: false, default: 7000, secret: false },
      { name: 'MODE', description: 'fast or safe', required: true, secret: false },
      { name: 'VERBOSE', description: '', required: false, default: false, secret: false },
      { name: 'PEERS', description: '', required: false, default: [], secret: false },
      { name: 'TOKEN', description: 'a token', required: false, secret: true },
    ]);
  });

  it.each(['1.5', '0x10', 'one', '99999999999999999', '-'])('does not take %j for a whole number', (text) => {
    expect(integer({ min: 0, max: 1e15 }).safeParse(text).success).toBe(false);
  });
});

describe('serviceConfig', () => {
  const service = defineConfig(serviceVariables({ port: 7421 }), serviceConfig);

  it('has a default for everything', () => {
    expect(service.parse({})).toEqual({
      nats: { servers: ['nats://127.0.0.1:4222'], ping_interval_ms: 15_000 },
      http: { host: '127.0.0.1', port: 7421 },
      log: { level: 'info', format: 'auto' },
      partitions: 16,
    });
  });

  it('takes servers and credentials', () => {
    const config = service.parse({ NATS_URL: 'nats://a:1,nats://b:2', NATS_USER: 'u', NATS_PASSWORD: 'p' });
    expect(config.nats).toMatchObject({ servers: ['nats://a:1', 'nats://b:2'], user: 'u', pass: 'p' });
  });

  it.each(['127.0.0.1', 'localhost:4222', 'tls://nats.example.com', '::1', 'nats://[::1]:4222'])(
    'takes the server %s',
    (url) => {
      expect(service.parse({ NATS_URL: url }).nats.servers).toEqual([url]);
    },
  );

  it.each([',', 'nats://a:b:c', 'nats://a:4222,nats://:99999'])('refuses %j for servers', (url) => {
    expect(() => service.parse({ NATS_URL: url })).toThrow(/NATS_URL.*must be URLs of servers.*e\.g\. nats:/);
  });

  it('refuses a partition count that no deployment can have', () => {
    expect(() => service.parse({ LONGREIN_PARTITIONS: '0' })).toThrow(/LONGREIN_PARTITIONS.*at least 1/);
  });
});
