import { randomUUID } from 'node:crypto';
import { CliError, EXIT } from '../errors.js';
import { AnswerWatch, type Answer } from '../gateway/answer.js';
import { GatewayClient } from '../gateway/gateway-client.js';
import { tail } from '../gateway/tail.js';
import { EventRenderer } from '../render/event-renderer.js';
import { renderSession } from '../render/session.js';
import { oneLine, printable } from '../render/text.js';
import type { Context } from './io.js';

/** How far back the gateway recognises a repeated input, in events. */
const REPEAT_WINDOW = 4_096;

/** `session create`. */
export async function create(context: Context, id: string | undefined): Promise<void> {
  const result = await new GatewayClient(context.settings).create(id);
  context.print(result, `${result.session_id}${result.created ? '' : ' (was there already)'}\n`);
}

/** `session show`. */
export async function show(context: Context, id: string): Promise<void> {
  const view = await new GatewayClient(context.settings).show(id);
  context.print(view, renderSession(view));
}

/** `session cancel`. */
export async function cancel(context: Context, id: string, reason: string | undefined): Promise<void> {
  await new GatewayClient(context.settings).cancel(id, reason);
  context.print({ session_id: id, cancel_requested: true }, 'cancel requested; the turn stops at its next step\n');
}

/** `session tail`: until Ctrl-C. */
export async function tailSession(context: Context, id: string, from: number): Promise<void> {
  const { io, settings, json } = context;
  const renderer = new EventRenderer();
  const onNote = (note: string): void => {
    if (!json) io.out(renderer.end());
    context.note(note);
  };
  for await (const event of tail(settings, { id, from, signal: io.signal, onNote })) {
    io.out(json ? `${JSON.stringify(event)}\n` : renderer.render(event));
    await io.drained();
  }
  if (!json) io.out(renderer.end());
}

/** `session inject`: creates the session on first use. */
export async function inject(
  context: Context,
  id: string,
  text: string,
  options: { wake: boolean; inputId?: string; wait?: boolean },
): Promise<void> {
  const client = new GatewayClient(context.settings);
  const { last_seq } = await client.create(id);
  const input_id = options.inputId ?? randomUUID();
  const queued = await client.inject(id, { text, wake: options.wake, input_id });
  if (!options.wait) {
    context.print(queued, `queued as input ${oneLine(queued.input_id)}\n`);
    return;
  }
  // An input that was sent before may have been answered before.
  const from = options.inputId === undefined ? last_seq + 1 : Math.max(0, last_seq + 1 - REPEAT_WINDOW);
  const answer = await waitFor(context, id, input_id, from);
  if (!answer) return;
  context.print(answer, answer.text === '' ? '' : `${printable(answer.text)}\n`);
  if (answer.status !== 'completed') {
    const why = answer.reason === undefined ? '' : `: ${oneLine(answer.reason)}`;
    throw new CliError(`the turn ended ${answer.status}${why}`, EXIT.turn_not_completed);
  }
}

async function waitFor(context: Context, id: string, inputId: string, from: number): Promise<Answer | undefined> {
  const watch = new AnswerWatch(inputId);
  const { io, settings } = context;
  const onNote = (note: string): void => context.note(note);
  for await (const event of tail(settings, { id, from, signal: io.signal, onNote })) {
    const answer = watch.take(event);
    if (answer) return answer;
  }
  return undefined;
}
