import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createModels, providersFromEnv } from '@longrein/model';
import { chooseModel } from './choose-model.js';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function modelServer(status: number, body: unknown): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/v1/models' ? status : 404).end(JSON.stringify(body));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

describe('chooseModel', () => {
  it.each([
    [{ LONGREIN_MODEL: 'x/y', ANTHROPIC_API_KEY: 'k' }, 'x/y'],
    [{ ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' }, expect.stringMatching(/^anthropic\/claude-/)],
    [{ ANTHROPIC_API_KEY: ' ', OPENAI_API_KEY: 'k' }, expect.stringMatching(/^openai\/gpt-/)],
  ])('takes what %j says', async (env, spec) => {
    await expect(chooseModel(env)).resolves.toMatchObject({ spec, env: {} });
  });

  it('does not pass over providers that somebody configured', async () => {
    await expect(chooseModel({ LONGREIN_PROVIDERS: '{}' })).rejects.toThrow(/LONGREIN_MODEL is missing/);
  });

  it('asks an OpenAI-compatible server which models it has', async () => {
    const url = await modelServer(200, { data: [{ id: 'qwen:7b' }, { id: 'other' }] });
    await expect(chooseModel({ OPENAI_BASE_URL: `${url}/` })).resolves.toMatchObject({ spec: 'openai/qwen:7b' });
  });

  it.each([
    [500, {}, /status 500.*LONGREIN_MODEL/],
    [200, { data: [] }, /lists no models; set LONGREIN_MODEL/],
  ])('says what to set when such a server does not tell (%d)', async (status, body, message) => {
    await expect(chooseModel({ OPENAI_BASE_URL: await modelServer(status, body) })).rejects.toThrow(message);
  });

  it('runs a scripted model and says so when nothing is configured', async () => {
    const model = await chooseModel({});
    try {
      expect(model.description).toMatch(/scripted.*ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENAI_BASE_URL/);
      const port = createModels({ providers: providersFromEnv(model.env) });
      const request = {
        model: model.spec,
        messages: [{ role: 'user', text: 'hi', source: 'user' }],
        tools: [],
      } as const;
      const kinds = new Set<string>();
      for await (const { type } of port.stream(request, { signal: AbortSignal.timeout(20_000) })) kinds.add(type);
      expect(kinds).toEqual(new Set(['text', 'done']));
    } finally {
      await model.stop();
    }
  });
});
