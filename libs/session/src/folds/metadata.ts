import type { SessionEvent } from '@longrein/events';
import type { SessionState } from './state.js';

/** The parts of the state that one event sets as a whole. */
export type Metadata = Pick<
  SessionState,
  | 'parent_id'
  | 'erased'
  | 'title'
  | 'quarantine'
  | 'policy'
  | 'configuration'
  | 'models'
  | 'tools'
  | 'compaction'
  | 'last_turn'
  | 'turns'
>;

/** What `event` sets anew: the newest title, policy, configuration, model and tools are the ones in force. */
export function evolveMetadata(state: SessionState, event: SessionEvent): Partial<Metadata> {
  const { seq } = event;
  switch (event.type) {
    case 'session/created':
      return { parent_id: event.payload.parent_id ?? event.payload.fork?.from ?? null };
    case 'session/forked':
      // What kept loops away from the parent is the parent's.
      return { parent_id: event.payload.from, quarantine: null };
    case 'session/erased':
      return { erased: true, title: null, tools: null };
    case 'session/quarantined':
      return { quarantine: { ...event.payload, seq } };
    case 'session/quarantine_lifted':
      return { quarantine: null };
    case 'session/titled':
      return { title: event.payload.title };
    case 'policy/updated':
      return { policy: { patterns: event.payload.patterns, seq } };
    case 'session/configured':
      return { configuration: { ...event.payload, seq } };
    case 'session/model_selected':
      return { models: { ...state.models, [event.payload.role]: event.payload.model } };
    case 'context/tools': {
      const { digest, tools, resources } = event.payload;
      return { tools: { digest, tools, resources: resources ?? [], seq } };
    }
    case 'session/compacted':
      return { compaction: { seq, upto_seq: event.payload.upto_seq ?? seq - 1 } };
    case 'turn/end':
      return {
        turns: state.turns + 1,
        last_turn: { turn_id: event.payload.turn_id, status: event.payload.status, seq },
      };
    default:
      return {};
  }
}
