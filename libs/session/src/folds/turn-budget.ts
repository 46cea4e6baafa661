import type { SessionEvent } from '@longrein/events';
import type { TurnBudget } from './state.js';

/** A turn that has spent nothing. */
export const NO_SPEND: TurnBudget = { spent: 0, reserved: {}, settled: 0 };

/** What a turn spent and reserved. A settlement replaces the reservation of its purpose. */
export function evolveTurnBudget(budget: TurnBudget, event: SessionEvent): TurnBudget {
  switch (event.type) {
    case 'step/end':
      return { ...budget, spent: budget.spent + (event.payload.usage?.cost ?? 0) };
    case 'budget/reserved': {
      const { purpose, amount } = event.payload;
      return { ...budget, reserved: { ...budget.reserved, [purpose]: (budget.reserved[purpose] ?? 0) + amount } };
    }
    case 'budget/settled': {
      const { [event.payload.purpose]: _settled, ...reserved } = budget.reserved;
      return { ...budget, reserved, settled: budget.settled + event.payload.amount };
    }
    default:
      return budget;
  }
}
