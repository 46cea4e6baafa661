import {
  calling,
  ModelServer,
  type ModelServerOptions,
  type Scripted,
  type WireFormat,
} from '@longrein/testing/model-server';
import type { ModelError } from '../src/errors.js';
import type { ModelDelta, ModelReply, ModelRequest } from '../src/port.js';
import type { ModelsConfigInput } from '../src/registry/config.js';
import { createModels, type ModelDeps, type ProviderRegistry } from '../src/registry/create-models.js';

/** Both wire formats, for `describe.each`. The name is the provider's too. */
export const FORMATS: readonly WireFormat[] = ['openai', 'anthropic'];

export const KEY = 'sk-test-0123456789abcdef';

/** A provider of this format at a scripted server. */
export function providerAt(
  format: WireFormat,
  server: { url: string; openAiUrl: string },
): ModelsConfigInput['providers'] {
  return format === 'openai'
    ? { openai: { kind: 'openai', api_key: KEY, base_url: server.openAiUrl } }
    : { anthropic: { kind: 'anthropic', api_key: KEY, base_url: server.url } };
}

export interface Kit {
  readonly server: ModelServer;
  readonly models: ProviderRegistry;
  /** Streams to the end. */
  ask(request?: Partial<ModelRequest>, signal?: AbortSignal): Promise<Answer>;
}

export interface Answer {
  readonly deltas: readonly ModelDelta[];
  readonly reply: ModelReply;
}

/** Runs a test against a scripted server; stops it whatever happens. */
export async function withModel(
  format: WireFormat,
  replies: readonly Scripted[],
  test: (kit: Kit) => Promise<void>,
  options: { config?: Partial<ModelsConfigInput>; deps?: ModelDeps; server?: ModelServerOptions } = {},
): Promise<void> {
  const server = await ModelServer.start({ replies, ...options.server });
  try {
    const models = createModels({ providers: providerAt(format, server), ...options.config }, options.deps);
    const ask: Kit['ask'] = async (request = {}, signal = new AbortController().signal) =>
      collect(models.stream(requestTo(format, request), { signal }));
    await test({ server, models, ask });
  } finally {
    await server.stop();
  }
}

export function requestTo(format: WireFormat, request: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: `${format}/scripted-1`,
    messages: [{ role: 'user', text: 'hello', source: 'user' }],
    tools: [],
    ...request,
  };
}

export async function collect(stream: AsyncIterable<ModelDelta>): Promise<Answer> {
  const deltas: ModelDelta[] = [];
  for await (const delta of stream) deltas.push(delta);
  const reply = deltas.at(-1);
  if (reply?.type !== 'done') throw new Error('the stream did not end with done');
  return { deltas, reply };
}

/** The error a promise is rejected with; fails when it is not. */
export async function failure(promise: Promise<unknown>): Promise<ModelError> {
  try {
    await promise;
  } catch (error) {
    return error as ModelError;
  }
  throw new Error('it did not fail');
}

export const TOOL = {
  name: 'weather',
  description: 'Tells the weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

export const callWeather = calling('weather', { city: 'Oslo' }, 'call_a');
