import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TEXT_DELTAS, TOOL } from './script.js';

/**
 * A model without latency, as a process: speaks the OpenAI wire format and answers from bytes that were made before. To
 * a user it says 20 deltas of text and asks for one tool call; to the result of a tool it says 20 deltas of text. Prints
 * one JSON line with its address when it listens.
 */
const DELTAS = Array.from({ length: TEXT_DELTAS }, (_, index) => ({ content: `word ${index} ` }));
const CALL = { index: 0, id: 'call_1', type: 'function', function: { name: TOOL, arguments: '{"on":"it"}' } };
const ASKS = stream([...DELTAS, { tool_calls: [CALL] }], 'tool_calls');
const ANSWERS = stream(DELTAS, 'stop');

const server = createServer((request, response) => {
  void read(request).then((body) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(endsWithResult(body) ? ANSWERS : ASKS);
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ openai_url: `http://127.0.0.1:${port}/v1` })}\n`);
});
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});

function stream(deltas: readonly object[], reason: string): Buffer {
  const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'scripted' };
  const chunk = (delta: object, finish_reason: string | null) => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason }],
  });
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  const chunks = [
    chunk({ role: 'assistant', content: '' }, null),
    ...deltas.map((delta) => chunk(delta, null)),
    chunk({}, reason),
    { ...base, choices: [], usage },
  ];
  return Buffer.from(`${chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`);
}

/** Whether the conversation's last message is a tool's result: found from the end, because a long one is not parsed. */
function endsWithResult(body: Buffer): boolean {
  const at = body.lastIndexOf('"role":"');
  return body.subarray(at, at + 13).toString() === '"role":"tool"';
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
