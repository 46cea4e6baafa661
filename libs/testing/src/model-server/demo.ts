import { calling, type Scripted, type ScriptedReply, words } from './script.js';
import type { RequestView, ViewedMessage } from './view.js';

/** How the demo model behaves. */
export interface DemoOptions {
  /** Pause before every word, for human eyes. */
  readonly pace_ms?: number;
}

/**
 * A model for a system that has none: makes small talk word by word, calls a tool when the user's text holds its name,
 * and then says what the tool answered. Deterministic: the same request gets the same reply.
 */
export function demoModel({ pace_ms = 0 }: DemoOptions = {}): (request: RequestView) => Scripted {
  return (request) => {
    const turn = sinceLastUser(request.messages);
    const text = turn.user.toLowerCase();
    const called = new Set(
      turn.rest.flatMap((message) => (message.role === 'assistant' ? message.calls : [])).map(nameOf),
    );
    const tool = request.tools.find(({ name }) => mentions(text, name) && !called.has(name));
    if (tool) return withPreface(calling(tool.name, argumentsFor(tool.schema, turn.user)), tool.name, pace_ms);
    const results = turn.rest.filter((message) => message.role === 'tool');
    return paced(
      results.length > 0 ? report(results, called) : smallTalk(turn.user, request.tools.map(nameOf)),
      pace_ms,
    );
  };
}

function withPreface(reply: ScriptedReply, tool: string, pace_ms: number): ScriptedReply {
  return { steps: [...paced(`Let me ask ${tool}.`, pace_ms).steps, ...reply.steps] };
}

function paced(text: string, pace_ms: number): ScriptedReply {
  return { steps: words(text).flatMap((word) => [...(pace_ms > 0 ? [{ pause_ms: pace_ms }] : []), { text: word }]) };
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

/** Whether the text holds the tool's name, or the last part of a namespaced one, as words. */
function mentions(text: string, name: string): boolean {
  const spoken = text.replace(/[^a-z0-9]+/g, ' ');
  return [name, name.split('__').at(-1) ?? name].some((form) =>
    ` ${spoken} `.includes(
      ` ${form
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, ' ')
        .trim()} `,
    ),
  );
}

/** What the user said last, and what happened since. */
function sinceLastUser(messages: readonly ViewedMessage[]): { user: string; rest: readonly ViewedMessage[] } {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const said = messages[at];
  return { user: said?.role === 'user' ? said.text : '', rest: messages.slice(at + 1) };
}

function report(results: readonly ViewedMessage[], called: ReadonlySet<string>): string {
  const answers = results.map((message) => ('text' in message ? message.text : '')).join(' and ');
  const names = [...called].join(' and ');
  return `I asked ${names || 'the tool'}, and it answered: ${answers.slice(0, 2000)}`;
}

function smallTalk(text: string, tools: readonly string[]): string {
  const offer =
    tools.length > 0
      ? `Mention one of my tools (${tools.slice(0, 5).join(', ')}) and I will call it.`
      : 'I have no tools here.';
  if (/\b(hello|hi|hey|good (morning|evening|day))\b/i.test(text)) {
    return `Hello! I am the demo model: no key is set, so a script answers you. ${offer}`;
  }
  if (/\?\s*$/.test(text)) {
    return `A good question. I am only a script, so all I can say is that it has ${countWords(text)} words. ${offer}`;
  }
  return `You said: "${text.slice(0, 200)}". That is ${countWords(text)} words, and all of them are in the log now. ${offer}`;
}

function countWords(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}

/** Arguments made from the user's text: quoted pieces and numbers in order, then the whole text. */
function argumentsFor(schema: unknown, text: string): Record<string, unknown> {
  const { properties = {}, required } = (schema ?? {}) as {
    properties?: Record<string, { type?: unknown; enum?: unknown[] } | boolean>;
    required?: string[];
  };
  const quoted = [...text.matchAll(/"([^"]+)"|'([^']+)'/g)].map((match) => match[1] ?? match[2] ?? '');
  const numbers = (text.match(/-?\d+(\.\d+)?/g) ?? []).map(Number);
  const names = required ?? Object.keys(properties);
  return Object.fromEntries(names.map((name) => [name, argumentFor(properties[name], { quoted, numbers, text })]));
}

function argumentFor(
  property: { type?: unknown; enum?: unknown[] } | boolean | undefined,
  said: { quoted: string[]; numbers: number[]; text: string },
): unknown {
  const { type, enum: choices } = typeof property === 'object' ? property : {};
  if (choices) return choices.find((choice) => said.text.includes(String(choice))) ?? choices[0];
  switch (type) {
    case 'number':
      return said.numbers.shift() ?? 1;
    case 'integer':
      return Math.trunc(said.numbers.shift() ?? 1);
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return said.quoted.shift() ?? said.text;
  }
}
