import type { NatsFrame } from '@longrein/testing';

/** What a test reads of a request to append. */
interface AppendBody {
  readonly session_id: string;
  readonly epoch?: number;
  readonly events: readonly { readonly type: string; readonly payload: Record<string, unknown> }[];
}

/** One request of the loop to append, as it passes on the wire. */
export interface SeenAppend {
  readonly session_id: string;
  readonly epoch: number | undefined;
  /** Its types in order, the calls of a message as one, with the call's id or else the step's number. */
  readonly label: string;
  /** Where the answer goes. */
  readonly reply: string | undefined;
  /** `stored`, or the code of the refusal; undefined while no answer has come back. */
  outcome: string | undefined;
}

const APPEND = /^log\.sessions\.\d+\.append\.loop$/;

/**
 * The append that a frame on its way to the server carries; nothing when it carries none. `steps` holds the number of
 * each session's step between calls: what is not told apart by a call's id is told apart by that.
 */
export function appendIn(
  { subject = '', reply, payload }: NatsFrame,
  steps: Map<string, number>,
): SeenAppend | undefined {
  if (!payload || !APPEND.test(subject)) return undefined;
  const { session_id, epoch, events } = JSON.parse(payload.toString('utf8')) as AppendBody;
  const step = events.find(({ type }) => type === 'step/start');
  if (step) steps.set(session_id, step.payload['n'] as number);
  const label = labelOf(events);
  return {
    session_id,
    epoch,
    label: label.includes('(') ? label : `${label}#${steps.get(session_id)}`,
    reply,
    outcome: undefined,
  };
}

/** How the log answered: `stored`, or the code it refused with. */
export function outcomeIn({ payload }: NatsFrame): string {
  const { error } = JSON.parse(payload?.toString('utf8') ?? '{}') as { error?: { code: string } };
  return error?.code ?? 'stored';
}

function labelOf(events: AppendBody['events']): string {
  const names = events.map(({ type, payload }) => {
    const call = payload['call_id'] ?? (type === 'tool/result' ? payload['id'] : undefined);
    return call === undefined ? type : `${type}(${String(call)})`;
  });
  // The end of a reply's text may ride before its message, or have gone out already: the same append either way.
  const facts = names.filter((name) => name !== 'assistant/chunk');
  return (facts.length > 0 ? facts : names).filter((name, index, all) => name !== all[index - 1]).join('+');
}
