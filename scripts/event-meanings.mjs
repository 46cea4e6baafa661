// What each event type means, in one or two sentences, for docs/events.md.
export const EVENT_MEANINGS = {
  'session/created': 'The session exists. Always seq 0. With `fork`, a fork is being copied into it.',
  'session/forked': 'The copy from the parent is complete; from here on the session takes appends.',
  'session/configured':
    'An agent runs in this session from here on, with this specification. From then on only a granted input starts a turn.',
  'session/model_selected': 'A model role of this session points at another model, from the next step on.',
  'session/erased': 'The content up to `head` was erased.',
  'session/quarantined':
    'No loop touches the session from here on: what runs is dropped where it stands, inputs only queue.',
  'session/quarantine_lifted': 'Loops take the session up again: an open turn is resumed, queued inputs start turns.',
  'session/compacted':
    'A summary stands for the history up to `upto_seq`, which the log fills in: the seq before this event.',
  'session/compaction_declined': 'A compaction was due and was not done.',
  'session/titled': 'The session has this title.',
  'policy/updated': 'These patterns say which tools may be called, from here on.',
  'utility/usage': 'What a model call outside of a turn used.',
  'provider/session_observed': "The handle of a provider's own session that a turn ran in.",
  'input/queued':
    'An input is durable. `wake`: it may start a turn, or else rides the next step. `grant`: leave of the registry to start one turn.',
  'turn/cancel_requested':
    'The turn is to stop at its next step boundary; `hard`: at once, without waiting for what runs.',
  'turn/start': 'A turn is open. `input_id`: the input it was started for. `epoch`: of the loop that opened it.',
  'turn/resumed': 'Another process, or the same one after a failure, goes on with the open turn.',
  'turn/handed_over': 'The process that ran the turn gave it up in order; the next owner goes on.',
  'turn/stalled': 'Nobody goes on with the turn until the next waking input, verdict or cancel.',
  'turn/end': 'The turn is closed, in one of five ways.',
  'context/tools': 'Tools and resources that the model is told about, from this step on. Written when they change.',
  'step/start':
    'Step `n` of the turn: one request to the model. `request_digest` covers everything that was sent, so that replay can prove it.',
  'user/message': 'The input that the turn was started for, as the model sees it.',
  'context/injected': 'Another input that rides this step, as the model sees it.',
  'assistant/chunk': 'A piece of text while the model writes. The whole text is in `assistant/message`.',
  'assistant/message': 'The whole answer of a step, in parts.',
  'tool/call':
    'The model asks for a call. Its seq (`call_seq`) identifies the call everywhere else: provider ids repeat.',
  'tool/started': 'Comes before every execution. From here on the call may have run.',
  'tool/finished': 'A call that ran in parallel came back before an earlier one did; its result follows in call order.',
  'tool/result': 'What the model is told about the call. `error` null: it went well.',
  'step/end': 'The step is over: every call has its result.',
  'budget/reserved': 'Money is set aside before a model call, in US dollars.',
  'budget/settled': 'What the call really cost.',
  'approval/requested': 'The call waits for a person.',
  'approval/resolved': 'The verdict on a request.',
  'partition/opened':
    'A replica of the log service begins its term as owner of the partition. The stream sequence of this event is its epoch.',
  'owner/changed':
    'A loop or registry owns the partition. The stream sequence of this event is the epoch of that scope; `epochs` are those of the others.',
  'agent/created': 'The stream exists. Always seq 0.',
  'agent/started': 'The agent is live, in this session. `generation`: the seq of its admission.',
  'agent/disposed': 'The agent is retired.',
  'agent/admitted': 'In `$fleet`: the agent takes its id, its session and one of the places.',
  'agent/released': 'In `$fleet`: id, session and place are free again.',
};
