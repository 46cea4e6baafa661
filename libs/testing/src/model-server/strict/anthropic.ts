import { textSignature } from '../signature.js';
import { demand, filled, matching, object, paired, said } from './rules.js';

const NAME = /^[A-Za-z0-9_-]{1,128}$/;
const CALL_ID = /^[A-Za-z0-9_-]+$/;

/** Throws `Refused` for a messages request that Anthropic refuses. */
export function checkAnthropic(value: unknown): void {
  const body = object(value, 'body');
  said(body['model'], 'model');
  demand(body['stream'] === true, 'stream: this server only streams');
  demand(Number.isInteger(body['max_tokens']) && Number(body['max_tokens']) > 0, 'max_tokens: must be positive');
  if (body['system'] !== undefined) said(body['system'], 'system');
  const tools = body['tools'] === undefined ? [] : filled(body['tools'], 'tools');
  for (const [i, raw] of tools.entries()) {
    const tool = object(raw, `tools.${i}`);
    matching(tool['name'], NAME, `tools.${i}.name`);
    demand(
      object(tool['input_schema'], `tools.${i}.input_schema`)['type'] === 'object',
      `tools.${i}: not an object schema`,
    );
  }
  const called = checkMessages(filled(body['messages'], 'messages'));
  demand(called === 0 || tools.length > 0, 'tools: must be declared when messages contain tool_use blocks');
}

/** Returns the number of calls in the history. */
function checkMessages(messages: unknown[]): number {
  const used = new Set<string>();
  let calls: string[] = [];
  for (const [i, raw] of messages.entries()) {
    const where = `messages.${i}`;
    const message = object(raw, where);
    demand(message['role'] === (i % 2 === 0 ? 'user' : 'assistant'), `${where}.role: roles must alternate, user first`);
    const blocks = blocksOf(message['content'], where);
    if (message['role'] === 'user') {
      paired(calls, checkUser(blocks, where), where);
      calls = [];
    } else calls = checkAssistant(blocks, where, used);
  }
  paired(calls, [], 'messages');
  demand(messages.length % 2 === 1, 'messages: the conversation must end with a user message');
  return used.size;
}

function blocksOf(content: unknown, where: string): Record<string, unknown>[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return filled(content, `${where}.content`).map((block, i) => object(block, `${where}.content.${i}`));
}

/** Returns the ids of the results, which come before everything else. */
function checkUser(blocks: Record<string, unknown>[], where: string): string[] {
  const results: string[] = [];
  for (const [i, block] of blocks.entries()) {
    const at = `${where}.content.${i}`;
    if (block['type'] === 'tool_result') {
      demand(results.length === i, `${at}: tool_result blocks must come first`);
      results.push(String(block['tool_use_id']));
      said(block['content'], `${at}.content`);
    } else {
      demand(block['type'] === 'text', `${at}.type: ${String(block['type'])} is not allowed here`);
      said(block['text'], `${at}.text`);
    }
  }
  return results;
}

function checkAssistant(blocks: Record<string, unknown>[], where: string, used: Set<string>): string[] {
  const calls: string[] = [];
  for (const [i, block] of blocks.entries()) {
    const at = `${where}.content.${i}`;
    switch (block['type']) {
      case 'text':
        said(block['text'], `${at}.text`);
        break;
      case 'thinking':
        demand(
          block['signature'] === textSignature(String(block['thinking'])),
          `${at}: thinking blocks cannot be modified`,
        );
        break;
      case 'redacted_thinking':
        said(block['data'], `${at}.data`);
        break;
      case 'tool_use': {
        const id = matching(block['id'], CALL_ID, `${at}.id`);
        demand(!used.has(id), `${at}.id: tool_use ids must be unique`);
        used.add(id);
        calls.push(id);
        matching(block['name'], NAME, `${at}.name`);
        object(block['input'], `${at}.input`);
        break;
      }
      default:
        demand(false, `${at}.type: ${String(block['type'])} is not allowed here`);
    }
  }
  const last = String(blocks.at(-1)?.['type']);
  demand(!last.includes('thinking'), `${where}: the final block of an assistant message cannot be thinking`);
  return calls;
}
