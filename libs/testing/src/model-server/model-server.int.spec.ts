import { describe, expect, it } from '@jest/globals';
import { demoModel, ModelServer, saying } from './index.js';

async function withServer(
  options: Parameters<typeof ModelServer.start>[0],
  test: (server: ModelServer) => Promise<void>,
) {
  const server = await ModelServer.start(options);
  try {
    await test(server);
  } finally {
    await server.stop();
  }
}

function post(server: ModelServer, path: string, body: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer k' };
  return fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

const chat = (messages: object[], tools?: object[]) => ({
  model: 'm',
  stream: true,
  messages,
  ...(tools ? { tools } : {}),
});
const user = { role: 'user', content: 'please use add for 2 and 3' };
const add = {
  type: 'function',
  function: {
    name: 'add',
    parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  },
};

describe('the demo model', () => {
  it('calls the tool the user names, then answers from its result, the same at every run', () =>
    withServer({ script: demoModel() }, async (server) => {
      const first = await (await post(server, '/v1/chat/completions', chat([user], [add]))).text();
      expect(first).toContain('"name":"add"');
      const call = { id: 'c', type: 'function', function: { name: 'add', arguments: '{"a":2,"b":3}' } };
      const after = chat(
        [user, { role: 'assistant', tool_calls: [call] }, { role: 'tool', tool_call_id: 'c', content: '5' }],
        [add],
      );
      const second = await (await post(server, '/v1/chat/completions', after)).text();
      expect(second).toContain('"content":"answered: "');
      expect(second).toContain('"content":"5"');
      expect(second).not.toContain('tool_calls":[');
    }));
});

describe('the model server', () => {
  it('refuses and records what a real provider refuses', () =>
    withServer({ replies: [saying('never')] }, async (server) => {
      const response = await post(server, '/v1/chat/completions', chat([{ role: 'user', content: '' }]));
      expect(response.status).toBe(400);
      expect(server.rejections).toHaveLength(1);
      expect(server.pending).toBe(1);
    }));

  it('fails loudly when its script has run out (TST-04)', () =>
    withServer({}, async (server) => {
      const response = await post(server, '/v1/chat/completions', chat([user]));
      expect(response.status).toBe(400);
      expect(await response.text()).toContain('no more replies');
    }));

  it('is steered from another process', () =>
    withServer({}, async (server) => {
      const steps = [{ text: 'one' }, { wait: 'g' }, { text: 'two' }];
      expect((await post(server, '/control/replies', [{ steps }])).status).toBe(200);
      const answer = await post(server, '/v1/chat/completions', chat([user]));
      await post(server, '/control/reached', { gate: 'g' });
      await post(server, '/control/release', { gate: 'g' });
      expect(await answer.text()).toContain('two');
      expect((await post(server, '/control/replies', [{ step: [] }])).status).toBe(400);
    }));
});
