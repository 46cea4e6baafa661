import { describe, expect, it } from '@jest/globals';
import { providersFromEnv } from './environment.js';

describe('providers from the environment', () => {
  it('are the ones it has keys or addresses for', () => {
    expect(providersFromEnv({})).toEqual({});
    expect(
      providersFromEnv({ ANTHROPIC_API_KEY: 'k1 ', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', OPENAI_API_KEY: '' }),
    ).toEqual({
      anthropic: { kind: 'anthropic', api_key: 'k1' },
      openai: { kind: 'openai', base_url: 'http://127.0.0.1:1/v1' },
    });
  });

  it('may have names of their own and keys named by a variable', () => {
    const router = { kind: 'openai', base_url: 'https://openrouter.ai/api/v1', api_key_env: 'ROUTER_KEY' };
    const env = { LONGREIN_PROVIDERS: JSON.stringify({ openrouter: router }), ROUTER_KEY: 'k2' };
    expect(providersFromEnv(env)).toEqual({
      openrouter: { kind: 'openai', base_url: 'https://openrouter.ai/api/v1', api_key: 'k2' },
    });
    expect(() => providersFromEnv({ ...env, ROUTER_KEY: '' })).toThrow(
      'takes its key from ROUTER_KEY, which is not set',
    );
  });

  it.each([
    [{ OPENAI_BASE_URL: 'https://user:hunter2@host/v1' }, 'must not hold credentials'],
    [{ OPENAI_BASE_URL: 'hunter2' }, 'must be an http(s) URL'],
    [{ ANTHROPIC_API_KEY: 'hunter2\nhunter2' }, 'must be visible ASCII characters'],
    [{ LONGREIN_PROVIDERS: '{hunter2' }, 'LONGREIN_PROVIDERS is not JSON'],
    [{ LONGREIN_PROVIDERS: '{"a":{"kind":"hunter2"}}' }, 'LONGREIN_PROVIDERS (a)'],
  ])('that are wrong are named without their value: %j', (env, message) => {
    const attempt = (): unknown => providersFromEnv(env);
    expect(attempt).toThrow(message);
    expect(attempt).not.toThrow('hunter2');
  });
});
