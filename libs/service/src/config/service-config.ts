import { isIPv6 } from 'node:net';
import { DEFAULT_PARTITIONS, MAX_PARTITIONS } from '@longrein/events';
import { z } from 'zod';
import { type LogConfig, LOG_FORMATS, LOG_LEVELS } from '../log/logger.js';
import type { NatsConfig } from '../nats/nats-config.js';
import { secret, type Values } from './define-config.js';
import { integer, list, milliseconds, port } from './variables.js';

/** Where a service listens for HTTP. */
export interface HttpConfig {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}

/** What every service is configured with, whatever it does. */
export interface ServiceConfig {
  readonly nats: NatsConfig;
  /** Absent: the service opens no port of its own (several services in one process). */
  readonly http?: HttpConfig;
  readonly log?: LogConfig;
  /** Names this replica in logs, connections and ownership. Default: made up at start. */
  readonly instance?: string;
}

/** A service that works on the deployment's partitions. */
export interface PartitionedConfig extends ServiceConfig {
  /** Partition count of the deployment. */
  readonly partitions: number;
}

/** Variables every service understands. `defaults.port` is the service's usual HTTP port. */
export function serviceVariables(defaults: { port: number }) {
  return {
    NATS_URL: list()
      .refine((urls) => urls.length > 0 && urls.every(isServer), 'must be URLs of servers')
      .default(['nats://127.0.0.1:4222'])
      .describe('one or more NATS URLs, e.g. nats://127.0.0.1:4222'),
    NATS_CREDS: z.string().optional().describe('the path of a NATS credentials file'),
    NATS_USER: z.string().optional().describe('the NATS user name'),
    NATS_PASSWORD: secret(z.string().optional().describe('the password of NATS_USER')),
    NATS_TOKEN: secret(z.string().optional().describe('a NATS token')),
    NATS_CA: z
      .string()
      .optional()
      .describe('the path of a PEM file with the certificate authority of the NATS servers'),
    NATS_PING_INTERVAL_MS: milliseconds().default(15_000).describe('milliseconds between pings to the NATS server'),
    LONGREIN_PARTITIONS: integer({ min: 1, max: MAX_PARTITIONS })
      .default(DEFAULT_PARTITIONS)
      .describe(`the partition count of the deployment, 1 to ${MAX_PARTITIONS}`),
    LONGREIN_INSTANCE: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1-64 characters of A-Z a-z 0-9 _ -')
      .optional()
      .describe('a name for this replica, e.g. the name of its pod'),
    HOST: z.string().default('127.0.0.1').describe('the address to listen on, e.g. 0.0.0.0 in a container'),
    PORT: port().default(defaults.port).describe('the HTTP port, 0 for any free one'),
    LOG_LEVEL: z
      .enum(LOG_LEVELS)
      .default('info')
      .describe(`one of ${LOG_LEVELS.join(', ')}`),
    LOG_FORMAT: z
      .enum(LOG_FORMATS)
      .default('auto')
      .describe(`one of ${LOG_FORMATS.join(', ')}`),
  };
}

/** Whether NATS clients take it for a server: `nats://host:4222`, or without the scheme. */
function isServer(text: string): boolean {
  return isIPv6(text) || URL.canParse(text.includes('://') ? text : `nats://${text}`);
}

/** Values of `serviceVariables`. */
export type ServiceValues = Values<ReturnType<typeof serviceVariables>>;

/** The part of an app's config that every service has. */
export function serviceConfig(values: ServiceValues): PartitionedConfig {
  return {
    nats: {
      servers: values.NATS_URL,
      ping_interval_ms: values.NATS_PING_INTERVAL_MS,
      ...(values.NATS_CREDS !== undefined && { creds_file: values.NATS_CREDS }),
      ...(values.NATS_USER !== undefined && { user: values.NATS_USER }),
      ...(values.NATS_PASSWORD !== undefined && { pass: values.NATS_PASSWORD }),
      ...(values.NATS_TOKEN !== undefined && { token: values.NATS_TOKEN }),
      ...(values.NATS_CA !== undefined && { ca_file: values.NATS_CA }),
    },
    http: { host: values.HOST, port: values.PORT },
    log: { level: values.LOG_LEVEL, format: values.LOG_FORMAT },
    partitions: values.LONGREIN_PARTITIONS,
    ...(values.LONGREIN_INSTANCE !== undefined && { instance: values.LONGREIN_INSTANCE }),
  };
}
