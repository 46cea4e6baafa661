import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { EventEnvelope } from '@longrein/events';
import { probe } from '@longrein/nats-server';
import { type ChildProcess, startTestNats, withProcesses } from '@longrein/testing';
import { AgentSocket } from './demo/agent-socket.js';

const processes = withProcesses();

/** Nothing of the machine that runs the tests decides what the system talks to. */
const NEUTRAL = {
  NATS_URL: undefined,
  ANTHROPIC_API_KEY: undefined,
  OPENAI_API_KEY: undefined,
  OPENAI_BASE_URL: undefined,
  LONGREIN_MODEL: undefined,
  LONGREIN_TOKENS: undefined,
  PORT: '0',
};

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'longrein-start-'));
});

afterEach(async () => {
  await rm(dataDir, { recursive: true, force: true });
});

interface Started {
  readonly process: ChildProcess;
  readonly url: string;
  readonly natsPort: number;
  readonly token: string;
}

function run(env: Record<string, string | undefined> = {}): ChildProcess {
  return processes.start({
    entry: 'apps/all/dist/main.js',
    env: { ...NEUTRAL, LONGREIN_DATA_DIR: dataDir, ...env },
  });
}

async function started(process: ChildProcess): Promise<Started> {
  await process.line('Ctrl-C stops everything', 120_000);
  const text = process.lines.join('\n');
  const found = (pattern: RegExp): string => pattern.exec(text)?.[1] ?? `nothing like ${String(pattern)} in:\n${text}`;
  return {
    process,
    url: found(/gateway\s+(http:\S+)/),
    natsPort: Number(found(/NATS\s+nats:\/\/127\.0\.0\.1:(\d+)/)),
    token: found(/token\s+(\S+)/),
  };
}

/** Everything of a session up to and including the first event of a type. */
async function readUntil(system: Started, type: string, inject?: string): Promise<EventEnvelope[]> {
  const signal = AbortSignal.timeout(30_000);
  const socket = await AgentSocket.open(system.url, 'hello', system.token, signal);
  try {
    socket.send({ type: 'subscribe', from_seq: 0 });
    if (inject !== undefined) socket.send({ type: 'inject', text: inject, wake: true });
    const events: EventEnvelope[] = [];
    for (;;) {
      const event = await socket.next();
      events.push(event);
      if (event.type === type) return events;
    }
  } finally {
    await socket.close();
  }
}

describe('npm start', () => {
  it('runs the system, says how to use it, stops on Ctrl-C and finds its sessions again', async () => {
    const first = await started(run());
    expect(first.process.output).toMatch(/model\s+a scripted model/);
    expect(first.process.output).toContain('npm run longrein -- session');
    const events = await readUntil(first, 'turn/end', 'Hello');
    expect(events.at(-1)).toMatchObject({ payload: { status: 'completed' } });

    // Under npm a Ctrl-C arrives twice: from the terminal and from npm.
    first.process.signal('SIGINT');
    first.process.signal('SIGINT');
    await expect(first.process.exited).resolves.toEqual({ code: 0, signal: null });
    await expect(probe(first.natsPort, 1_000)).rejects.toThrow();

    const second = await started(run());
    expect(second.token).toBe(first.token);
    await expect(readUntil(second, 'turn/end')).resolves.toEqual(events);
    await expect(second.process.stop()).resolves.toEqual({ code: 0, signal: null });
  }, 240_000);

  it('refuses a data directory that another one uses, and leaves that one alone', async () => {
    const first = await started(run());
    const second = run();
    await expect(second.exited).resolves.toEqual({ code: 1, signal: null });
    expect(second.output).toMatch(new RegExp(`in use by process ${first.process.pid}`));
    await expect(readUntil(first, 'turn/end', 'Still there?')).resolves.toBeDefined();
  }, 240_000);

  it('uses the server of NATS_URL and leaves it running', async () => {
    const nats = await startTestNats();
    try {
      const system = await started(run({ NATS_URL: nats.url }));
      expect(system.natsPort).toBe(nats.port);
      await readUntil(system, 'turn/end', 'Hello');
      await expect(system.process.stop()).resolves.toEqual({ code: 0, signal: null });
      await expect(probe(nats.port, 1_000)).resolves.toMatchObject({ jetstream: true });
    } finally {
      await nats.stop();
    }
  }, 240_000);

  it('names the variable that is wrong and stops what it had started', async () => {
    const nats = await startTestNats();
    try {
      const wrong = run({ NATS_URL: nats.url, LONGREIN_PARTITIONS: 'many' });
      await expect(wrong.exited).resolves.toEqual({ code: 1, signal: null });
      expect(wrong.output).toContain('LONGREIN_PARTITIONS: "many" is not accepted');
    } finally {
      await nats.stop();
    }
  }, 240_000);
});
