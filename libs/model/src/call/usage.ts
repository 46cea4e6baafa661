import type { Usage } from '@longrein/events';
import type { PriceList } from './provider.js';

/** Counts as a provider reports them: anything may be missing or null. */
export interface ReportedUsage {
  readonly prompt?: unknown;
  readonly completion?: unknown;
  readonly cached?: unknown;
  readonly cost?: unknown;
}

/** The usage to log, or undefined when the provider reported none that can be believed. */
export function usageOf(reported: ReportedUsage, model: string, prices?: PriceList): Usage | undefined {
  const prompt_tokens = count(reported.prompt);
  const completion_tokens = count(reported.completion);
  if (prompt_tokens === undefined || completion_tokens === undefined) return undefined;
  const cached_tokens = count(reported.cached);
  const counts = { prompt_tokens, completion_tokens, ...(cached_tokens === undefined ? {} : { cached_tokens }) };
  const cost = amount(reported.cost) ?? amount(prices?.(model, counts));
  return { ...counts, ...(cost === undefined ? {} : { cost }) };
}

function count(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

function amount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
