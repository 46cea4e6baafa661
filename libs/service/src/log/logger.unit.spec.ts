import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { createLogger } from './logger.js';
import { NestLogger } from './nest-logger.js';

function jsonLogger() {
  const lines = new PassThrough({ encoding: 'utf8' });
  const logger = createLogger({ service: 'log', instance: 'a' }, { level: 'debug', format: 'json' }, lines);
  const written = (): Record<string, unknown>[] =>
    String(lines.read() ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { logger, written };
}

describe('createLogger', () => {
  it('writes JSON lines that name the service and its instance', () => {
    const { logger, written } = jsonLogger();
    logger.info({ partition: 3 }, 'owned');
    expect(written()).toEqual([
      { level: 'info', time: expect.any(String), service: 'log', instance: 'a', partition: 3, msg: 'owned' },
    ]);
  });

  it('does not write credentials', () => {
    const { logger, written } = jsonLogger();
    logger.info({ token: 's3cret', headers: { authorization: 'Bearer s3cret' } }, 'x');
    expect(JSON.stringify(written())).not.toContain('s3cret');
  });
});

describe('NestLogger', () => {
  it('passes on message, context and stack', () => {
    const { logger, written } = jsonLogger();
    const nest = new NestLogger(logger);
    nest.warn('careful', 'Router');
    nest.error('broken', 'at line 1', 'Router');
    nest.error(new Error('boom'), 'Router');
    expect(written()).toMatchObject([
      { level: 'warn', msg: 'careful', context: 'Router' },
      { level: 'error', msg: 'broken', context: 'Router', stack: 'at line 1' },
      { level: 'error', msg: 'boom', context: 'Router', err: { message: 'boom' } },
    ]);
  });
});
