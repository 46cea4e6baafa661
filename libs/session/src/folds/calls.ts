import type { AssistantPart, PayloadOf, SessionEvent } from '@longrein/events';
import type { OpenCall } from './state.js';

/** Calls that an assistant message asks for, none of them logged as `tool/call` yet. */
export function callsOf(parts: readonly AssistantPart[]): OpenCall[] {
  return parts.flatMap((part) =>
    part.type === 'tool_call' ? [newCall(null, { id: part.id, name: part.name, args: part.args })] : [],
  );
}

/** What the events of a step say about its calls. Everything after `tool/call` matches by `call_seq`. */
export function evolveCalls(calls: readonly OpenCall[], event: SessionEvent): readonly OpenCall[] {
  switch (event.type) {
    case 'assistant/message':
      // A call of an earlier step that has no answer yet is still owed one.
      return [...calls.filter((call) => !call.answered), ...callsOf(event.payload.parts)];
    case 'tool/call':
      return number(calls, event.seq, event.payload);
    case 'tool/started': {
      const { call_seq, attempt, epoch } = event.payload;
      return change(calls, call_seq, { started: { attempt, epoch, seq: event.seq } });
    }
    case 'tool/finished': {
      const { call_seq, content, error } = event.payload;
      return change(calls, call_seq, { finished: { content: content ?? null, error } });
    }
    case 'tool/result':
      return change(calls, event.payload.call_seq, { answered: true });
    case 'step/end':
      return calls.filter((call) => !call.answered);
    default:
      return calls;
  }
}

function newCall(callSeq: number | null, { id, name, args }: PayloadOf<'tool/call'>): OpenCall {
  return { call_seq: callSeq, id, name, args: args ?? null, started: null, finished: null, answered: false };
}

/** The message's calls are logged in its order, so the first one without a seq and with this id is meant. */
function number(calls: readonly OpenCall[], seq: number, payload: PayloadOf<'tool/call'>): readonly OpenCall[] {
  const index = calls.findIndex((call) => call.call_seq === null && call.id === payload.id);
  if (index < 0) return [...calls, newCall(seq, payload)];
  return calls.map((call, at) => (at === index ? newCall(seq, payload) : call));
}

function change(calls: readonly OpenCall[], callSeq: number, fields: Partial<OpenCall>): readonly OpenCall[] {
  return calls.map((call) => (call.call_seq === callSeq ? { ...call, ...fields } : call));
}
