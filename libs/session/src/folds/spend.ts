import type { SessionEvent, Usage } from '@longrein/events';
import type { OpenTurn, SpendState, SpendTotals } from './state.js';

const NOTHING: SpendTotals = { requests: 0, prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0, cost: 0 };

/** The bill of a session that made no request. */
export const NO_BILL: SpendState = { steps: NOTHING, utility: { title: NOTHING, compaction: NOTHING }, by_model: {} };

/** A step whose start is not in the log is billed to this model. */
const UNKNOWN_MODEL = 'unknown/unknown';

/** Steps, utility requests, and both by model. `turn` is the turn that was open before `event`. */
export function evolveSpend(spend: SpendState, event: SessionEvent, turn: OpenTurn | null): SpendState {
  switch (event.type) {
    case 'step/end': {
      const { usage } = event.payload;
      const by_model = billed(spend, turn?.step?.model ?? UNKNOWN_MODEL, usage);
      return { ...spend, steps: sum(spend.steps, usage), by_model };
    }
    case 'utility/usage': {
      const { purpose, model, usage } = event.payload;
      const utility = { ...spend.utility, [purpose]: sum(spend.utility[purpose], usage) };
      return { ...spend, utility, by_model: billed(spend, model, usage) };
    }
    default:
      return spend;
  }
}

/** Everything together. */
export function totalSpend({ steps, utility }: SpendState): SpendTotals {
  return [utility.title, utility.compaction].reduce(
    (total, part) => ({
      requests: total.requests + part.requests,
      prompt_tokens: total.prompt_tokens + part.prompt_tokens,
      completion_tokens: total.completion_tokens + part.completion_tokens,
      cached_tokens: total.cached_tokens + part.cached_tokens,
      cost: total.cost + part.cost,
    }),
    steps,
  );
}

function billed(spend: SpendState, model: string, usage: Usage | undefined): SpendState['by_model'] {
  return { ...spend.by_model, [model]: sum(spend.by_model[model] ?? NOTHING, usage) };
}

function sum(total: SpendTotals, usage: Usage | undefined): SpendTotals {
  return {
    requests: total.requests + 1,
    prompt_tokens: total.prompt_tokens + (usage?.prompt_tokens ?? 0),
    completion_tokens: total.completion_tokens + (usage?.completion_tokens ?? 0),
    cached_tokens: total.cached_tokens + (usage?.cached_tokens ?? 0),
    cost: total.cost + (usage?.cost ?? 0),
  };
}
