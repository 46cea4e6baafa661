import type { AssistantPart, EventEnvelope, PayloadOf } from '@longrein/events';
import { derivedRequestDigest, evolve, initialState } from '@longrein/session';

type Fields = Record<string, unknown>;

/** Everything that is wrong with a session's log, in words; nothing for a sound one. `settled`: no turn may be open. */
export function violations(events: readonly EventEnvelope[], { settled }: { settled: boolean }): string[] {
  return [
    ...gaps(events),
    ...turns(events, settled),
    ...calls(events, settled),
    ...inputs(events, settled),
    ...digests(events),
  ];
}

function gaps(events: readonly EventEnvelope[]): string[] {
  return events.flatMap(({ seq }, index) => (seq === index ? [] : [`seq ${seq} at place ${index}`]));
}

/** At most one turn is open, each ends once, and nothing of a step stands outside of one. */
function turns(events: readonly EventEnvelope[], settled: boolean): string[] {
  const wrong: string[] = [];
  let open: unknown;
  for (const { type, payload, seq } of events) {
    const { turn_id } = payload as Fields;
    if (type === 'turn/start') {
      if (open !== undefined) wrong.push(`turn/start at ${seq} while ${String(open)} is open`);
      open = turn_id;
    } else if (type === 'turn/end') {
      if (open !== turn_id) wrong.push(`turn/end of ${String(turn_id)} at ${seq} while ${String(open)} is open`);
      open = undefined;
    } else if (/^(step|tool|assistant|context|user|approval)\//.test(type) && open === undefined) {
      wrong.push(`${type} at ${seq} outside of a turn`);
    }
  }
  if (settled && open !== undefined) wrong.push(`turn ${String(open)} was never closed`);
  return wrong;
}

/** Every call of a message has its `tool/call`, and one result, in the order of the message. */
function calls(events: readonly EventEnvelope[], settled: boolean): string[] {
  const wrong: string[] = [];
  const asked: string[] = [];
  const logged: number[] = [];
  const answered: number[] = [];
  for (const { type, payload, seq } of events) {
    const fields = payload as Fields;
    if (type === 'assistant/message') {
      for (const part of fields['parts'] as AssistantPart[]) if (part.type === 'tool_call') asked.push(part.id);
    }
    if (type === 'tool/call') logged.push(seq);
    if (type === 'tool/started' && answered.includes(fields['call_seq'] as number)) {
      wrong.push(`call ${String(fields['call_seq'])} started at ${seq} after its result`);
    }
    if (type === 'tool/result') answered.push(fields['call_seq'] as number);
  }
  if (new Set(answered).size !== answered.length) wrong.push(`results twice: ${answered.join(' ')}`);
  if (answered.some((call, index) => call !== logged[index])) {
    wrong.push(`results ${answered.join(' ')} are not in the order of the calls ${logged.join(' ')}`);
  }
  if (settled && (asked.length !== logged.length || logged.length !== answered.length)) {
    wrong.push(`${asked.length} calls asked for, ${logged.length} logged, ${answered.length} answered`);
  }
  return wrong;
}

/** Each input enters the history once; a waking one is consumed in the end. */
function inputs(events: readonly EventEnvelope[], settled: boolean): string[] {
  const wrong: string[] = [];
  const waking = new Set<unknown>();
  const consumed: unknown[] = [];
  const started = new Set<unknown>();
  for (const { type, payload } of events) {
    const { input_id, wake } = payload as Fields;
    if (type === 'input/queued' && wake) waking.add(input_id);
    if (type === 'user/message' || type === 'context/injected') consumed.push(input_id);
    if (type === 'turn/start') started.add(input_id);
  }
  if (new Set(consumed).size !== consumed.length) wrong.push(`inputs twice in the history: ${consumed.join(' ')}`);
  const lost = [...waking].filter((id) => !consumed.includes(id) && !started.has(id));
  if (settled && lost.length > 0) wrong.push(`waking inputs lost: ${lost.join(' ')}`);
  return wrong;
}

/** The digest of each request is that of the history as stored, unless its claim is stored in part. */
function digests(events: readonly EventEnvelope[]): string[] {
  const wrong: string[] = [];
  let state = initialState();
  let step: (PayloadOf<'step/start'> & { seq: number; batch: string }) | undefined;
  for (const event of events) {
    state = evolve(state, event);
    if (event.type === 'step/start') {
      step = { ...(event.payload as PayloadOf<'step/start'>), seq: event.seq, batch: event.batch?.id ?? event.id };
    }
    const last = event.batch === undefined || event.batch.index === event.batch.count - 1;
    if (step && last && (event.batch?.id ?? event.id) === step.batch) {
      const derived = derivedRequestDigest(state, step);
      if (derived !== step.request_digest) wrong.push(`the digest of step/start at ${step.seq} is not the history's`);
      step = undefined;
    }
  }
  return wrong;
}
