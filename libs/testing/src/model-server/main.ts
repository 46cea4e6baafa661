import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { demoModel } from './demo.js';
import { scriptFile } from './script.js';
import { ModelServer } from './server.js';

/**
 * The model server as a process: `main.js [--port N] [--script file.json] [--pace-ms N]`. Without a script file the
 * demo model answers. Prints one JSON line with its addresses when it listens, stops on SIGTERM and SIGINT.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    script: { type: 'string' },
    'pace-ms': { type: 'string', default: '30' },
  },
});

const file = scriptFile.parse(values.script ? JSON.parse(await readFile(values.script, 'utf8')) : { then: 'demo' });
const server = await ModelServer.start({
  port: Number(values.port),
  replies: file.replies,
  ...(file.then === 'demo' ? { script: demoModel({ pace_ms: Number(values['pace-ms']) }) } : {}),
});
process.stdout.write(`${JSON.stringify({ url: server.url, openai_url: server.openAiUrl })}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.stop());
