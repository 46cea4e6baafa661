import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { projectRoot } from '@longrein/nats-server';

/** A tool in a process of its own. */
export interface RemoteTool {
  stop(): Promise<void>;
}

/** Runs the example tool `weather` as a process, with a weather service that needs no internet. */
export async function startWeatherTool(natsUrl: string, signal: AbortSignal): Promise<RemoteTool> {
  const service = createServer((request, response) => {
    const city = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname.slice(1));
    response.end(`${city}: sunny, +21°C`);
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening', { signal });
  const { port } = service.address() as AddressInfo;
  const tool = spawn(process.execPath, [join(projectRoot(import.meta.dirname), 'examples/tool-js/weather.js')], {
    env: { ...process.env, NATS_URL: natsUrl, WEATHER_URL: `http://127.0.0.1:${port}` },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(tool, 'exit');
  const stop = async (): Promise<void> => {
    if (tool.exitCode === null && tool.signalCode === null) {
      const patience = setTimeout(() => tool.kill('SIGKILL'), 5_000);
      tool.kill('SIGTERM');
      await exited;
      clearTimeout(patience);
    }
    service.closeAllConnections();
    service.close();
  };
  try {
    await Promise.race([
      registered(tool.stdout, signal),
      exited.then(() => {
        throw new Error('the weather tool ended before it was registered');
      }),
    ]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}

/** The tool says so in one line. */
async function registered(output: NodeJS.ReadableStream, signal: AbortSignal): Promise<void> {
  for await (const line of createInterface({ input: output, signal })) {
    if (line.includes('is registered')) return;
  }
}
