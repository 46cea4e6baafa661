import { type Logger, type LoggerOptions, pino } from 'pino';
import { PinoPretty } from 'pino-pretty';

export type { Logger } from 'pino';

/** Levels a service can log at. */
export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

/** `auto`: lines for people on a terminal, JSON everywhere else. */
export const LOG_FORMATS = ['auto', 'json', 'pretty'] as const;

/** How a service logs. */
export interface LogConfig {
  readonly level: (typeof LOG_LEVELS)[number];
  readonly format: (typeof LOG_FORMATS)[number];
}

/** Fields never written, whoever logs them. */
const REDACTED = ['token', 'pass', 'password', 'authorization', '*.token', '*.pass', '*.password', '*.authorization'];

/**
 * A pino logger whose every line carries the service and its instance. Writes to standard output unless a
 * destination is given.
 */
export function createLogger(
  identity: { service: string; instance: string },
  config: LogConfig = { level: 'info', format: 'auto' },
  destination?: NodeJS.WritableStream,
): Logger {
  const options: LoggerOptions = {
    level: config.level,
    base: identity,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: REDACTED, censor: '[redacted]' },
  };
  const pretty = config.format === 'pretty' || (config.format === 'auto' && process.stdout.isTTY);
  if (!pretty) return destination ? pino(options, destination) : pino(options);
  const stream = PinoPretty({
    ignore: 'pid,hostname,service,instance',
    messageFormat: '{service} {msg}',
    translateTime: 'SYS:HH:MM:ss.l',
    colorize: Boolean(process.stdout.isTTY),
    sync: true,
    ...(destination && { destination }),
  });
  return pino(options, stream);
}
