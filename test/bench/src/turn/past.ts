import type { NewEvent } from '@longrein/log';
import { LogClient } from '@longrein/log/client';
import { PARTITIONS, type TurnDeployment } from './deployment.js';
import { QUESTION, TEXT_DELTAS, TOOL } from './script.js';

const ANSWER = Array.from({ length: TEXT_DELTAS }, (_, index) => `word ${index} `).join('');

/** Turns in one append. */
const TURNS = 5;

/**
 * Gives sessions of one partition a past of so many turns each, as a loop would have left it but for the queued inputs.
 * Call before a loop runs.
 */
export async function writePast(
  { nc, client }: TurnDeployment,
  partition: number,
  sessions: readonly { readonly id: string; readonly turns: number }[],
): Promise<void> {
  const loop = new LogClient(nc, { service: 'loop', partitions: PARTITIONS });
  try {
    const { epoch } = await loop.own(partition, { scope: 'loop', owner: 'past' });
    for (const { id, turns } of sessions) {
      let { last_seq } = await client.create(id);
      for (let turn = 0; turn < turns; turn += TURNS) {
        const events: NewEvent[] = [];
        for (let i = turn; i < Math.min(turns, turn + TURNS); i++) {
          events.push(...pastTurn(`${id}/${i}`, last_seq + 1 + events.length, epoch));
        }
        ({ seq: last_seq } = await loop.append(id, { events, epoch, since: last_seq }));
      }
    }
  } finally {
    loop.close();
  }
}

/** The events of a turn that begins at this seq. */
function pastTurn(turn_id: string, first: number, epoch: number): NewEvent[] {
  const input_id = `${turn_id}/input`;
  const call = { id: `call_${first}`, name: TOOL, args: { on: 'it' } };
  const call_seq = first + 4;
  const answer = { type: 'text', text: ANSWER };
  const step = (n: number) => ({ n, model: 'openai/scripted', request_digest: `sha256:${'0'.repeat(64)}` });
  const usage = { prompt_tokens: 100, completion_tokens: 20 };
  const events: readonly (readonly [type: string, payload: unknown])[] = [
    ['turn/start', { turn_id, agent: 'default', input_id, epoch }],
    ['step/start', step(1)],
    ['user/message', { text: QUESTION, input_id }],
    ['assistant/message', { parts: [answer, { type: 'tool_call', ...call }] }],
    ['tool/call', call],
    ['tool/started', { call_seq, call_id: call.id, attempt: 1, epoch }],
    ['tool/result', { id: call.id, call_seq, content: 'it is done', error: null }],
    ['step/end', { n: 1, usage }],
    ['step/start', step(2)],
    ['assistant/message', { parts: [answer] }],
    ['step/end', { n: 2, usage }],
    ['turn/end', { turn_id, status: 'completed' }],
  ];
  return events.map(([type, payload]) => ({ type, payload }));
}
