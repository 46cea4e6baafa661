import type { SessionEvent } from '@longrein/events';
import type { UsageTotals } from './state.js';

/** A session that made no request. */
export const NO_USAGE: UsageTotals = { prompt_tokens: 0, completion_tokens: 0, cost: 0, steps: 0 };

/** Sums over every `step/end` of the log. One without usage is a step of zero. */
export function evolveUsage(total: UsageTotals, event: SessionEvent): UsageTotals {
  if (event.type !== 'step/end') return total;
  const { usage } = event.payload;
  return {
    prompt_tokens: total.prompt_tokens + (usage?.prompt_tokens ?? 0),
    completion_tokens: total.completion_tokens + (usage?.completion_tokens ?? 0),
    cost: total.cost + (usage?.cost ?? 0),
    steps: total.steps + 1,
  };
}
