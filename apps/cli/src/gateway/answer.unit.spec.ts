import { describe, expect, it } from '@jest/globals';
import type { EventEnvelope } from '@longrein/events';
import { type Answer, AnswerWatch } from './answer.js';

function answers(inputId: string, events: [string, object, true?][]): (Answer | undefined)[] {
  const watch = new AnswerWatch(inputId);
  return events.map(([type, payload, copied], seq) => {
    const event: EventEnvelope = { id: `e${seq}`, session_id: 's', seq, at: '', type, payload, v: 1 };
    return watch.take(copied ? { ...event, copied } : event);
  });
}

const said = (text: string): [string, object] => ['assistant/message', { parts: [{ type: 'text', text }] }];
const end = (turn_id: string, status = 'completed'): [string, object] => ['turn/end', { turn_id, status }];

describe('AnswerWatch', () => {
  it('gives the last message of the turn that the input started, not of the one before', () => {
    const found = answers('mine', [
      ['turn/start', { turn_id: 't1', agent: 's', input_id: 'other', epoch: 0 }],
      ['user/message', { text: 'x', input_id: 'other' }],
      said('not for me'),
      end('t1'),
      ['turn/start', { turn_id: 't2', agent: 's', input_id: 'mine', epoch: 0 }],
      ['user/message', { text: 'y', input_id: 'mine' }],
      said('let me see'),
      said('here it is'),
      end('t2'),
    ]);
    expect(found.filter(Boolean)).toEqual([
      { input_id: 'mine', turn_id: 't2', status: 'completed', text: 'here it is' },
    ]);
    expect(found.at(-1)).toBeDefined();
  });

  it('follows a steer into the turn that was open, also one whose start was not seen', () => {
    expect(
      answers('mine', [['context/injected', { text: 'y', input_id: 'mine' }], said('ok'), end('t1', 'cancelled')]).at(
        -1,
      ),
    ).toEqual({ input_id: 'mine', turn_id: 't1', status: 'cancelled', text: 'ok' });
  });

  it('knows a turn that refused the input before it became a message', () => {
    const [, answer] = answers('mine', [
      ['turn/start', { turn_id: 't1', agent: 's', input_id: 'mine', epoch: 0 }],
      end('t1', 'rejected'),
    ]);
    expect(answer).toEqual({ input_id: 'mine', turn_id: 't1', status: 'rejected', text: '' });
  });

  it('follows an agent’s input into the granted one that carries its text', () => {
    const grant = { agent_turn_id: 'a1', generation: 1, promotes: 'mine' };
    expect(
      answers('mine', [
        ['input/queued', { input_id: 'granted', text: 'y', wake: true, grant }],
        ['turn/start', { turn_id: 'a1', agent: 's', input_id: 'granted', epoch: 0, grant }],
        said('done'),
        end('a1'),
      ]).at(-1),
    ).toEqual({ input_id: 'mine', turn_id: 'a1', status: 'completed', text: 'done' });
  });

  it('ignores what a fork copied', () => {
    expect(answers('mine', [['user/message', { text: 'y', input_id: 'mine' }, true], end('t1')])).toEqual([
      undefined,
      undefined,
    ]);
  });
});
