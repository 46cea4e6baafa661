import { type EventEnvelope, partitionOf } from '@longrein/events';
import { LogClient } from '@longrein/log/client';
import {
  ChildProcess,
  ModelServer,
  type RequestView,
  type Scripted,
  type TestNats,
  freePort,
  startTestNats,
} from '@longrein/testing';
import { type ServedTool, serveTool } from '@longrein/tools/kit';
import { z } from 'zod';
import type { Run } from './scripted-turn.js';
import { type Entrance, TailingClient } from './tailing-client.js';

export const PARTITIONS = 4;

const TOKEN = 'token-of-the-tests';

/** A place in the fleet where a process runs, one after the other. */
export type Place = 'log-a' | 'log-b' | 'loop-a' | 'loop-b' | 'gateway-a' | 'gateway-b';

export const PLACES: readonly Place[] = ['log-a', 'log-b', 'loop-a', 'loop-b', 'gateway-a', 'gateway-b'];

/** Every service as processes of its own, two of each, with a scripted model and a tool in the test's process. */
export class Fleet {
  readonly runs: Run[] = [];
  /** Called when the tool begins to work, by what it works on. */
  readonly began = new Map<string, () => Promise<void>>();
  readonly #children = new Map<Place, ChildProcess>();
  readonly #clients: TailingClient[] = [];
  #tool!: ServedTool;
  #reader!: LogClient;
  #lives = 0;

  private constructor(
    readonly nats: TestNats,
    readonly model: ModelServer,
    private readonly ports: Readonly<Record<string, number>>,
  ) {}

  static async start(): Promise<Fleet> {
    const [nats, model] = await Promise.all([startTestNats(), ModelServer.start({ script: answer })]);
    const ports = { 'gateway-a': await freePort(), 'gateway-b': await freePort() };
    const fleet = new Fleet(nats, model, ports);
    try {
      await fleet.restart('log-a');
      await Promise.all(PLACES.slice(1).map((place) => fleet.restart(place)));
      await fleet.#serve();
    } catch (error) {
      await fleet.stop();
      throw error;
    }
    return fleet;
  }

  get entrance(): Entrance {
    return { urls: ['gateway-a', 'gateway-b'].map((place) => `http://127.0.0.1:${this.ports[place]}`), token: TOKEN };
  }

  /** Runs a place's process, a new one when one is there. Resolves when it is ready. */
  async restart(place: Place): Promise<void> {
    const app = place.split('-')[0]!;
    const child = ChildProcess.start({
      entry: `apps/${app}/dist/main.js`,
      env: {
        NATS_URL: this.nats.url,
        PORT: String(this.ports[place] ?? 0),
        LONGREIN_PARTITIONS: String(PARTITIONS),
        LONGREIN_INSTANCE: `${place}-${++this.#lives}`,
        LONGREIN_LEASE_TTL_MS: '1500',
        LONGREIN_MODEL: 'openai/scripted',
        LONGREIN_TOKENS: JSON.stringify([{ token: TOKEN }]),
        OPENAI_BASE_URL: this.model.openAiUrl,
        OPENAI_API_KEY: 'none',
        LOG_FORMAT: 'json',
        LOG_LEVEL: 'info',
      },
    });
    this.#children.set(place, child);
    await child.json<{ msg?: string }>(({ msg }) => msg === `${app} is up`, 60_000);
  }

  /** Kills a place's process as a crash would. */
  async kill(place: Place): Promise<void> {
    await this.#children.get(place)?.kill();
  }

  /** Ends a place's process in order; its exit code. */
  async end(place: Place): Promise<number | null> {
    return (await this.#children.get(place)!.stop()).code;
  }

  /** The newest lines of a place's process, for the message of a failed test. */
  output(place: Place): string {
    return this.#children.get(place)?.output.slice(-3_000) ?? '';
  }

  /** Connects a client of an agent of its own. */
  client(agent: string): TailingClient {
    const client = new TailingClient(agent, this.entrance, this.#clients.length);
    this.#clients.push(client);
    return client;
  }

  /** A session as the log holds it. */
  async events(session: string): Promise<EventEnvelope[]> {
    const events: EventEnvelope[] = [];
    for await (const event of this.#reader.readAll(session, { from_seq: 0 })) events.push(event);
    return events;
  }

  /** Ends the clients of a test. */
  async disconnect(): Promise<void> {
    await Promise.all(this.#clients.splice(0).map((client) => client.close()));
  }

  async stop(): Promise<void> {
    await this.disconnect();
    await this.#tool?.stop().catch(() => undefined);
    this.#reader?.close();
    await Promise.all([...this.#children.values()].map((child) => child.kill()));
    await this.model.stop();
    await this.nats.stop();
  }

  async #serve(): Promise<void> {
    const forEver = { maxReconnectAttempts: -1, reconnectTimeWait: 50 };
    this.#reader = new LogClient(await this.nats.connect(forEver), { service: 'gateway', partitions: PARTITIONS });
    this.#tool = await serveTool({
      nats: await this.nats.connect(forEver),
      name: 'work',
      description: 'Works.',
      input_schema: z.object({ on: z.string() }),
      concurrency: 'parallel',
      timeout_ms: 10_000,
      dedupe: true,
      partitions: PARTITIONS,
      handler: async ({ on }, { session_id: session, key, attempt, epoch }) => {
        this.runs.push({ session, name: 'work', key, attempt, epoch });
        await this.began.get(on)?.();
        return `${on} is done`;
      },
    });
  }
}

/** Two calls for what the user asks, then an answer. */
function answer({ messages }: RequestView): Scripted {
  const last = messages.at(-1);
  if (last?.role === 'user') {
    const call = (on: string) => ({ tool_call: { name: 'work', args: { on } } });
    return { steps: [{ text: 'Working ' }, { text: 'on it.' }, call(last.text), call(`${last.text} twice`)] };
  }
  if (last?.role === 'tool') return { steps: [{ text: 'All ' }, { text: 'done.' }] };
  return { steps: [{ text: 'Nothing to add.' }] };
}

/** Sessions of a name, spread over all partitions. */
export function agentsOf(name: string, count: number): string[] {
  const agents = Array.from({ length: count }, (_, index) => `${name}-${index}`);
  const used = new Set(agents.map((agent) => partitionOf(agent, PARTITIONS)));
  if (used.size < Math.min(count, PARTITIONS)) throw new Error(`${count} sessions of ${name} miss a partition`);
  return agents;
}
