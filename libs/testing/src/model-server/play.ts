import type { ServerResponse } from 'node:http';
import type { Gates } from './gates.js';
import type { ReplyStep, ScriptedReply, ScriptedUsage } from './script.js';
import { fragmentsOf, type Stop, type WireWriter } from './wire/writer.js';

/** How a reply went: whole, ended by its script before it was whole, or left by the client. */
export type PlayedOutcome = 'answered' | 'cut' | 'disconnected';

/** What playing a reply needs. */
export interface Play {
  readonly reply: ScriptedReply;
  readonly usage: ScriptedUsage | null;
  readonly writer: WireWriter;
  readonly response: ServerResponse;
  readonly gates: Gates;
  /** Settles when the client has gone. */
  readonly disconnected: Promise<void>;
  /** A call id that no other call of this server has. */
  readonly nextCallId: () => string;
}

/** Plays a reply's steps, one write for each piece of the stream. */
export async function play(scene: Play): Promise<PlayedOutcome> {
  const { reply, response, writer, usage, disconnected } = scene;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  await send(scene, writer.start());
  for (const step of reply.steps) {
    if (response.destroyed) return 'disconnected';
    if ('cut' in step) response.destroy();
    else if ('end' in step) response.end();
    else if ('hang' in step) await disconnected;
    else {
      await perform(scene, step);
      if (!('error' in step)) continue;
      response.end();
    }
    return 'hang' in step ? 'disconnected' : 'cut';
  }
  await send(scene, writer.finish(reply.stop ?? naturalStop(reply), usage));
  if (response.destroyed) return 'disconnected';
  response.end();
  return 'answered';
}

type Performed = Exclude<ReplyStep, { cut: true } | { end: true } | { hang: true }>;

async function perform(scene: Play, step: Performed): Promise<void> {
  const { writer, gates, disconnected } = scene;
  if ('text' in step) await send(scene, writer.text(step.text));
  else if ('reasoning' in step) await send(scene, writer.reasoning(step));
  else if ('redacted_reasoning' in step) await send(scene, writer.redactedReasoning(step.redacted_reasoning));
  else if ('raw' in step) await send(scene, [step.raw]);
  else if ('error' in step) await send(scene, writer.error(step.error));
  else if ('wait' in step) await gates.wait(step.wait, disconnected);
  else if ('pause_ms' in step) await pause(step.pause_ms, disconnected);
  else {
    const { name, id = scene.nextCallId(), args = {}, raw = JSON.stringify(args), fragments = 3 } = step.tool_call;
    await send(scene, writer.call({ id, name, fragments: fragmentsOf(raw, fragments) }));
  }
}

async function send({ response, disconnected }: Play, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    if (response.destroyed) return;
    // Written means handed to the system: a script may break the connection next.
    await Promise.race([new Promise<unknown>((resolve) => response.write(piece, resolve)), disconnected]);
  }
}

function naturalStop({ steps }: ScriptedReply): Stop {
  return steps.some((step) => 'tool_call' in step) ? 'tool_calls' : 'end';
}

async function pause(ms: number, disconnected: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([passed, disconnected]);
  clearTimeout(timer);
}
