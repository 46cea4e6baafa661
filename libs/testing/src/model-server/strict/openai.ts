import { demand, filled, matching, object, paired, said } from './rules.js';

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const CALL_ID = /^[\x21-\x7e]{1,40}$/;

/**
 * Throws `Refused` for a chat completion request that some real server refuses: OpenAI itself, or one of those that
 * are stricter (arguments that must parse, user messages that must not follow one another).
 */
export function checkOpenAi(value: unknown): void {
  const body = object(value, 'body');
  said(body['model'], 'model');
  demand(body['stream'] === true, 'stream: this server only streams');
  for (const [i, tool] of optional(body['tools'], 'tools').entries()) {
    const { name, parameters } = object(object(tool, `tools[${i}]`)['function'], `tools[${i}].function`);
    matching(name, NAME, `tools[${i}].function.name`);
    demand(
      object(parameters, `tools[${i}].function.parameters`)['type'] === 'object',
      `tools[${i}]: not an object schema`,
    );
  }
  demand(!('max_tokens' in body && 'max_completion_tokens' in body), 'max_tokens: set one of the two');
  checkMessages(filled(body['messages'], 'messages'));
}

function optional(value: unknown, where: string): unknown[] {
  return value === undefined ? [] : filled(value, where);
}

function checkMessages(messages: unknown[]): void {
  const used = new Set<string>();
  let calls: string[] = [];
  let results: string[] = [];
  let previous = '';
  for (const [i, raw] of messages.entries()) {
    const where = `messages[${i}]`;
    const message = object(raw, where);
    const role = String(message['role']);
    if (role === 'tool') {
      demand(calls.length > 0, `${where}: a tool message must follow a message with tool_calls`);
      results.push(String(message['tool_call_id']));
      said(message['content'], `${where}.content`);
    } else {
      paired(calls, results, where);
      [calls, results] = [[], []];
      if (role === 'assistant') calls = checkAssistant(message, where, used);
      else {
        demand(role === 'user' || (role === 'system' && i === 0), `${where}.role: ${role} is not allowed here`);
        said(message['content'], `${where}.content`);
        demand(role !== 'user' || previous !== 'user', `${where}: roles must alternate`);
      }
    }
    demand(role !== 'assistant' || previous !== 'assistant', `${where}: roles must alternate`);
    previous = role;
  }
  paired(calls, results, 'messages');
  demand(previous === 'user' || previous === 'tool', 'messages: the last one must be from the user or a tool');
}

function checkAssistant(message: Record<string, unknown>, where: string, used: Set<string>): string[] {
  const calls = optional(message['tool_calls'], `${where}.tool_calls`).map((raw, i) => {
    const at = `${where}.tool_calls[${i}]`;
    const call = object(raw, at);
    const id = matching(call['id'], CALL_ID, `${at}.id`);
    demand(!used.has(id), `${at}.id: ${id} was used before`);
    used.add(id);
    demand(call['type'] === 'function', `${at}.type: must be function`);
    const { name, arguments: args } = object(call['function'], `${at}.function`);
    matching(name, NAME, `${at}.function.name`);
    object(parsed(args), `${at}.function.arguments`);
    return id;
  });
  const content = message['content'];
  if (content !== null && content !== undefined) said(content, `${where}.content`);
  demand(calls.length > 0 || typeof content === 'string', `${where}: content or tool_calls must be present`);
  return calls;
}

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}
