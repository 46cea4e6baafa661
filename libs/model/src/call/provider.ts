import type { ModelError } from '../errors.js';
import type { ModelDelta, ModelRequest } from '../port.js';

/** One attempt at one request. */
export interface ProviderCall {
  readonly request: ModelRequest;
  /** The model's name at the provider. */
  readonly model: string;
  readonly signal: AbortSignal;
  /** To be called whenever anything arrives from the provider, keep-alives included. */
  readonly activity: () => void;
}

/** A model provider: renders requests, reads answers. Knows nothing of retries and time. */
export interface Provider {
  readonly name: string;
  /**
   * Makes one attempt. Ends with `done` once the provider has said that its answer is complete; an answer that stops
   * before simply ends. Closes the connection when the signal fires or the loop over it is left.
   */
  attempt(call: ProviderCall): AsyncIterable<ModelDelta>;
  /** What an error of `attempt` means. */
  explain(error: unknown): ModelError;
}

/** What providers are given besides their configuration. */
export interface ProviderDeps {
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
  readonly prices?: PriceList | undefined;
}

/** Price of a call in US dollars, for providers that do not report one; undefined: not known. */
export type PriceList = (model: string, usage: TokenCounts) => number | undefined;

/** Tokens of one call. */
export interface TokenCounts {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cached_tokens?: number;
}

/** Who is answering, as reasoning parts remember it. */
export interface Answerer {
  readonly provider: string;
  readonly model: string;
}

/** What reading an answer needs to know. */
export interface ReadOptions extends Answerer {
  /** Turns a tool's name on the wire into its own. */
  readonly toolName: (wire: string) => string;
  readonly prices?: PriceList | undefined;
}
