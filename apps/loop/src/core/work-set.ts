import type { BaseEnvelope } from '@longrein/events';

/** Raised when the document's meaning changes: older ones are rebuilt from the stream. */
export const WORK_SET_VERSION = 2;

/** A queued input that nothing has consumed. */
interface WaitingInput {
  readonly input_id: string;
  /** It may start a turn: waking, or granted. */
  readonly starts: boolean;
  /** The input it carries the text of: consumed together. */
  readonly promotes?: string;
}

/** What one session has to do, or may get to do. */
export interface WorkEntry {
  readonly turn: { readonly turn_id: string; readonly input_id?: string } | null;
  readonly inputs: readonly WaitingInput[];
  /** An operator keeps loops away from it. */
  readonly quarantined?: true;
}

/** A fact as the work set reads it. */
export type Fact = BaseEnvelope & { readonly session_id: string };

const NOTHING: WorkEntry = { turn: null, inputs: [] };

/**
 * The sessions of a partition with an open turn, an unconsumed input or a quarantine: what a new owner has to look at, and no other
 * session. A fold of the partition's facts; facts may come twice. Read leniently: one odd event must not stop a partition.
 */
export class WorkSet {
  readonly #entries: Map<string, WorkEntry>;

  constructor(entries: Iterable<readonly [string, WorkEntry]> = []) {
    this.#entries = new Map(entries);
  }

  /** The set of a saved document, or nothing when another version wrote it. */
  static restore(document: unknown): WorkSet | undefined {
    const saved = document as { version?: unknown; sessions?: Record<string, WorkEntry> } | null | undefined;
    if (saved?.version !== WORK_SET_VERSION || !saved.sessions) return undefined;
    return new WorkSet(Object.entries(saved.sessions));
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Whether an operator keeps loops away from the session. */
  isQuarantined(sessionId: string): boolean {
    return this.#entries.get(sessionId)?.quarantined === true;
  }

  /** Whether the session has an open turn, or an input that may start one, and may be touched. */
  isActionable(sessionId: string): boolean {
    const entry = this.#entries.get(sessionId);
    return (
      entry !== undefined && !entry.quarantined && (entry.turn !== null || entry.inputs.some((input) => input.starts))
    );
  }

  /** Every session that is actionable, in the order in which it got something to do. */
  *actionable(): Generator<string> {
    for (const sessionId of this.#entries.keys()) if (this.isActionable(sessionId)) yield sessionId;
  }

  /** Folds one fact. A fork's copies are history, never work. */
  apply(fact: Fact): void {
    if (fact.copied) return;
    const before = this.#entries.get(fact.session_id) ?? NOTHING;
    const after = evolveEntry(before, fact.type, fact.payload as Record<string, unknown>);
    if (after === before) return;
    if (after.turn === null && after.inputs.length === 0 && !after.quarantined) this.#entries.delete(fact.session_id);
    else this.#entries.set(fact.session_id, after);
  }

  /** As it is saved. */
  toJSON(): { version: number; sessions: Record<string, WorkEntry> } {
    return { version: WORK_SET_VERSION, sessions: Object.fromEntries(this.#entries) };
  }
}

function evolveEntry(entry: WorkEntry, type: string, payload: Record<string, unknown>): WorkEntry {
  const inputId = payload['input_id'];
  switch (type) {
    case 'input/queued':
      return queued(entry, payload);
    case 'turn/start':
      return {
        ...entry,
        turn: { turn_id: String(payload['turn_id']), ...(typeof inputId === 'string' && { input_id: inputId }) },
      };
    case 'turn/end':
      return { ...consumed(entry, entry.turn?.input_id), turn: null };
    case 'user/message':
    case 'context/injected':
      return consumed(entry, inputId);
    case 'session/quarantined':
      return { ...entry, quarantined: true };
    case 'session/quarantine_lifted': {
      const { quarantined: _lifted, ...rest } = entry;
      return rest;
    }
    case 'session/erased':
      return entry.quarantined ? { ...NOTHING, quarantined: true } : NOTHING;
    default:
      return entry;
  }
}

function queued(entry: WorkEntry, payload: Record<string, unknown>): WorkEntry {
  const { input_id, wake, grant } = payload as { input_id?: unknown; wake?: unknown; grant?: { promotes?: string } };
  if (typeof input_id !== 'string' || entry.inputs.some((input) => input.input_id === input_id)) return entry;
  const input: WaitingInput = {
    input_id,
    starts: wake === true || grant !== undefined,
    ...(grant?.promotes !== undefined && { promotes: grant.promotes }),
  };
  return { ...entry, inputs: [...entry.inputs, input] };
}

function consumed(entry: WorkEntry, inputId: unknown): WorkEntry {
  const carrier = entry.inputs.find((input) => input.input_id === inputId);
  if (!carrier) return entry;
  const gone = (input: WaitingInput): boolean => input === carrier || input.input_id === carrier.promotes;
  return { ...entry, inputs: entry.inputs.filter((input) => !gone(input)) };
}
