import type { EventEnvelope } from '@longrein/events';
import { LogClient } from '@longrein/log/client';
import { connectNats, createLogger, inboxPrefix, requestJson } from '@longrein/service';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import type { System } from '../system.js';
import { AgentSocket } from './agent-socket.js';
import { requireSame, requireWhole } from './checks.js';
import { EventPrinter } from './print-event.js';

/** Id of the demo's agent, and so of its session. */
const AGENT = 'demo';

const GREETING = 'Hello, who are you?';
const QUESTION = 'What is the weather in "Berlin"?';

/**
 * The system's main job, as a client sees it: spawns an agent that may use one tool, says two things to it, loses the
 * connection in the middle of the second answer, comes back, and compares what it saw with the log. Resolves to what
 * it saw; rejects when anything is not as it must be, or when the signal aborts.
 */
export async function mainJob(
  system: System,
  write: (text: string) => void,
  signal: AbortSignal,
): Promise<readonly EventEnvelope[]> {
  const identity = { service: 'demo', instance: String(process.pid) };
  const logger = createLogger(identity, { level: 'warn', format: 'auto' });
  const nats = await connectNats({ servers: [system.natsUrl] }, identity, logger);
  const client = new Client(system, new EventPrinter(write), signal);
  try {
    const spec = { system_prompt: 'You are friendly and brief.', tools: ['weather'] };
    await requestJson(nats, 'registry.spawn', { agent_id: AGENT, spec }, z.looseObject({}));

    await client.connect();
    client.say(GREETING, 'connected; saying hello');
    await client.until('turn/end');

    client.say(QUESTION, 'asking something that needs the tool');
    await client.until('tool/result');
    await client.until('assistant/chunk');
    const held = client.seen.length;
    client.kill('killing the connection in the middle of the answer');

    await client.connect();
    await client.until('turn/end');
    await client.close();

    requireWhole(client.seen, held);
    requireSame(client.seen, await storedEvents(nats, system.partitions));
    client.printer.note(`what was seen is exactly the log: ${client.seen.length} events, none missing, none twice`);
    return client.seen;
  } finally {
    client.drop();
    await nats.close();
  }
}

/** A client that remembers what it saw and so knows where to go on. */
class Client {
  readonly seen: EventEnvelope[] = [];
  private socket: AgentSocket | undefined;

  constructor(
    private readonly system: System,
    readonly printer: EventPrinter,
    private readonly signal: AbortSignal,
  ) {}

  /** Connects and subscribes from the first event it does not hold. */
  async connect(): Promise<void> {
    const { url, token } = this.system;
    this.socket = await AgentSocket.open(url, AGENT, token, this.signal);
    const from_seq = (this.seen.at(-1)?.seq ?? -1) + 1;
    this.printer.note(`connected; the log is at seq ${this.socket.lastSeq}, subscribing from ${from_seq}`);
    this.socket.send({ type: 'subscribe', from_seq });
  }

  say(text: string, note: string): void {
    this.printer.note(note);
    this.socket?.send({ type: 'inject', text, wake: true });
  }

  /** Receives up to and including the next event of a type. */
  async until(type: string): Promise<void> {
    for (;;) {
      const event = await this.socket!.next();
      this.seen.push(event);
      this.printer.event(event);
      if (event.type === type) return;
    }
  }

  kill(note: string): void {
    this.printer.note(note);
    this.drop();
  }

  drop(): void {
    this.socket?.kill();
  }

  async close(): Promise<void> {
    await this.socket?.close();
  }
}

/** The session as the log service reads it from the streams: a way that shares nothing with the socket's. */
async function storedEvents(nats: NatsConnection, partitions: number): Promise<readonly EventEnvelope[]> {
  const log = new LogClient(nats, { service: 'gateway', partitions, inbox_prefix: inboxPrefix('demo') });
  const events: EventEnvelope[] = [];
  for await (const event of log.readAll(AGENT, { from_seq: 0 })) events.push(event);
  return events;
}
