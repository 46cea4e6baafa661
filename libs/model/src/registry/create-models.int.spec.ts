import { describe, expect, it } from '@jest/globals';
import { saying } from '@longrein/testing/model-server';
import { failure, withModel } from '../../spec-kit/calls.js';
import { ModelError } from '../errors.js';

describe('the registry', () => {
  it.each([
    ['nobody/some-model', 'unknown_provider'],
    ['nomodel', 'invalid_model'],
    ['/x', 'invalid_model'],
    ['openai/', 'invalid_model'],
  ])('refuses %s with %s', (model, code) =>
    withModel('openai', [], async ({ server, ask, models }) => {
      expect(await failure(ask({ model }))).toMatchObject({ code, retryable: false });
      expect(() => models.check(model)).toThrow(ModelError);
      expect(server.requests).toHaveLength(0);
    }),
  );

  it('splits a model at the first slash', () =>
    withModel('openai', [saying('hi')], async ({ server, ask }) => {
      await ask({ model: 'openai/meta/llama-4:free' });
      expect(server.requests[0]?.body.model).toBe('meta/llama-4:free');
    }));
});
