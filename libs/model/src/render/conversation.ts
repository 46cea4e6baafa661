import type { AssistantPart } from '@longrein/events';
import { ModelError } from '../errors.js';
import type { HistoryItem } from '../port.js';
import { CallIds } from './call-ids.js';
import { wireName } from './tool-names.js';

/** Stands between an answer and the request to go on from it, which providers demand to be a user message. */
export const CONTINUE = 'Continue.';

/** What a call without a result gets. The log answers every call; this keeps one that slipped from failing for ever. */
export const INTERRUPTED = 'interrupted: no result of this call was recorded';

type ReasoningPart = Extract<AssistantPart, { type: 'reasoning' }>;

/** A part as it is sent: ids and names acceptable to the provider, arguments always an object. */
export type SentPart =
  | { readonly type: 'text'; readonly text: string }
  | ReasoningPart
  | { readonly type: 'tool_call'; readonly id: string; readonly name: string; readonly args: object };

/** A result as it is sent. */
export interface SentResult {
  readonly id: string;
  /** Never empty. */
  readonly text: string;
  readonly error: boolean;
}

/** A message of either provider's request, before its own notation. User and assistant alternate. */
export type Message =
  | { readonly role: 'user'; readonly texts: readonly string[] }
  | {
      readonly role: 'assistant';
      /** At least one text or call. */
      readonly parts: readonly SentPart[];
      /** One for each call, in call order. */
      readonly results: readonly SentResult[];
    };

/** What differs between providers. */
export interface ConversationRules {
  /** Call ids the provider accepts. */
  readonly callId: RegExp;
  /** Whether a reasoning part goes back to this provider. */
  replays(part: ReasoningPart): boolean;
}

interface Call {
  readonly id: string;
  readonly wireId: string;
  result: SentResult | null;
}

interface Draft {
  readonly parts: readonly SentPart[];
  readonly calls: readonly Call[];
  /** User texts since the message. */
  readonly texts: string[];
}

/**
 * The history as both providers demand it: no empty message or text, consecutive user texts in one message, every
 * call followed by exactly its results, ids unique, an answer always followed by a user message. Pure and stable: a
 * history that has grown renders to the same messages up to the last user message, so providers' caches keep working.
 */
export function conversation(history: readonly HistoryItem[], rules: ConversationRules): Message[] {
  const ids = new CallIds(rules.callId);
  const drafts: Draft[] = [{ parts: [], calls: [], texts: [] }];
  for (const item of history) {
    const draft = drafts[drafts.length - 1]!;
    if (item.role === 'user') addText(draft, item.text);
    else if (item.role === 'tool') addResult(draft, item);
    else if (item.role === 'assistant') {
      const next = draftOf(item.parts, ids, rules);
      if (next) drafts.push(next);
    } else throw unknown('message role', (item as { role?: unknown }).role);
  }
  return drafts.flatMap(messagesOf);
}

function messagesOf({ parts, calls, texts }: Draft): Message[] {
  const messages: Message[] = [];
  if (parts.length > 0) {
    const results = calls.map(({ wireId, result }) => result ?? { id: wireId, text: INTERRUPTED, error: true });
    messages.push({ role: 'assistant', parts, results });
    if (calls.length === 0 && texts.length === 0) return [...messages, { role: 'user', texts: [CONTINUE] }];
  }
  if (texts.length > 0) messages.push({ role: 'user', texts });
  return messages;
}

function draftOf(parts: readonly AssistantPart[], ids: CallIds, rules: ConversationRules): Draft | null {
  const calls: Call[] = [];
  const sent = parts.flatMap((part): SentPart[] => {
    switch (part.type) {
      case 'text':
        return part.text.trim() === '' ? [] : [part];
      case 'reasoning':
        return rules.replays(part) ? [part] : [];
      case 'tool_call': {
        const wireId = ids.next(part.id);
        calls.push({ id: part.id, wireId, result: null });
        return [{ type: 'tool_call', id: wireId, name: wireName(part.name), args: sentArguments(part.args) }];
      }
      default:
        throw unknown('message part', (part as { type?: unknown }).type);
    }
  });
  // A message of reasoning alone is refused by every provider.
  return sent.some(({ type }) => type !== 'reasoning') ? { parts: sent, calls, texts: [] } : null;
}

function addText(draft: Draft, text: string): void {
  if (text.trim() !== '') draft.texts.push(text);
}

function addResult(draft: Draft, { id, content, error }: Extract<HistoryItem, { role: 'tool' }>): void {
  const text = resultText(content, error);
  const call = draft.calls.find((candidate) => candidate.id === id && candidate.result === null);
  if (call) call.result = { id: call.wireId, text, error: error !== null };
  // Its call was compacted away or never logged; what it says is still part of the history.
  else draft.texts.push(`Result of tool call ${id}: ${text}`);
}

function resultText(content: unknown, error: string | null): string {
  const text = typeof content === 'string' ? content : content == null ? '' : JSON.stringify(content);
  if (error === null) return text.trim() === '' ? '(no output)' : text;
  return [error.trim() === '' ? 'the tool failed' : error, text].filter((piece) => piece.trim() !== '').join('\n');
}

/** Arguments must be an object to be sent; what the model wrote instead is shown to it under a name that says so. */
function sentArguments(args: unknown): object {
  if (typeof args === 'object' && args !== null && !Array.isArray(args)) return args;
  return { malformed_arguments: typeof args === 'string' ? args : (JSON.stringify(args) ?? '') };
}

function unknown(what: string, value: unknown): ModelError {
  return new ModelError('invalid_request', `the history holds an unknown ${what}: ${JSON.stringify(value)}`, false);
}
