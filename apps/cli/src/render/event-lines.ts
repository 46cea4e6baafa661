import type { SessionEvent } from '@longrein/events';
import { oneLine, printable } from './text.js';

/** An event that is a line of its own, as opposed to streamed text. */
export type KnownEvent = Exclude<SessionEvent, { type: 'assistant/chunk' | 'assistant/message' | 'step/start' }>;

/** The line of an event; nothing for what only the machinery needs. */
export function lineOf(event: KnownEvent): string | undefined {
  switch (event.type) {
    case 'session/created':
      return `# session ${event.session_id}${suffix('of', event.payload.parent_id)}`;
    case 'session/forked':
      return `# forked from ${event.payload.from} at seq ${event.payload.boundary}`;
    case 'session/configured':
      return `# agent ${oneLine(event.payload.agent_id)}, generation ${event.payload.generation}`;
    case 'session/model_selected':
      return `# model of ${event.payload.role}: ${oneLine(event.payload.model)}`;
    case 'session/titled':
      return `# ${oneLine(event.payload.title)}`;
    case 'session/compacted':
      return `# compacted: ${oneLine(event.payload.summary)}`;
    case 'session/erased':
      return '# erased';
    case 'session/quarantined':
      return `! quarantined${suffix('by', event.payload.by)}${reason(event.payload.reason)}`;
    case 'session/quarantine_lifted':
      return `! quarantine lifted${suffix('by', event.payload.by)}${reason(event.payload.reason)}`;
    case 'policy/updated':
      return `# policy: ${oneLine(event.payload.patterns.join(' ') || 'no tools')}`;
    case 'input/queued':
      return `· queued${event.payload.wake ? '' : ' for the next step'}: ${oneLine(event.payload.text)}`;
    case 'user/message':
      return `\nyou> ${printable(event.payload.text)}`;
    case 'context/injected':
      return `you, in between> ${printable(event.payload.text)}`;
    case 'tool/call':
      return `→ ${oneLine(event.payload.name)} ${oneLine(event.payload.args)}`;
    case 'tool/result':
      return event.payload.error === null
        ? `← ${oneLine(event.payload.content)}`
        : `← error: ${oneLine(event.payload.error)}`;
    case 'approval/requested':
      return `? ${oneLine(event.payload.name)} ${oneLine(event.payload.args)} waits for approval (call ${oneLine(event.payload.call_id)})`;
    case 'approval/resolved':
      return `? ${event.payload.verdict}${suffix('by', event.payload.by)}${reason(event.payload.reason)}`;
    case 'turn/cancel_requested':
      return `! cancel requested${reason(event.payload.reason)}`;
    case 'turn/stalled':
      return `! turn stalled${reason(event.payload.reason)}`;
    case 'turn/resumed':
      return `! turn resumed (${event.payload.cause})`;
    case 'turn/end':
      return `-- turn ${event.payload.status}${reason(event.payload.reason)}${output(event.payload.structured_output)}`;
    case 'session/compaction_declined':
    case 'utility/usage':
    case 'provider/session_observed':
    case 'turn/start':
    case 'turn/handed_over':
    case 'context/tools':
    case 'tool/started':
    case 'tool/finished':
    case 'step/end':
    case 'budget/reserved':
    case 'budget/settled':
      return undefined;
  }
}

function reason(text: string | undefined): string {
  return text === undefined ? '' : `: ${oneLine(text)}`;
}

function suffix(word: string, value: string | undefined): string {
  return value === undefined ? '' : ` ${word} ${oneLine(value)}`;
}

function output(value: unknown): string {
  return value === undefined ? '' : `\n${oneLine(value)}`;
}
