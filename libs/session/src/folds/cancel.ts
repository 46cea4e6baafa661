import type { PayloadOf } from '@longrein/events';
import type { CancelState } from './state.js';

/** A cancel on top of an earlier one: the latest reason that was given wins, and a hard cancel stays hard. */
export function withCancel(
  standing: CancelState | null | undefined,
  { reason, hard }: PayloadOf<'turn/cancel_requested'>,
  seq: number,
): CancelState {
  const said = reason ?? standing?.reason;
  return { ...(said === undefined ? {} : { reason: said }), hard: (standing?.hard ?? false) || (hard ?? false), seq };
}
