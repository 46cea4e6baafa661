import type { ServiceName, Usage } from '@longrein/events';

/** Something a client, or another service, does. */
export type ClientStep =
  /** Queues an input. Waking unless told otherwise. */
  | { readonly inject: { readonly text: string; readonly wake?: boolean; readonly grant?: object } }
  /** Cancels the open turn. */
  | { readonly cancel: { readonly reason?: string; readonly hard?: boolean } }
  /** Answers the oldest standing request for a call. */
  | {
      readonly resolve: { readonly call_id: string; readonly verdict: 'approved' | 'denied'; readonly reason?: string };
    }
  /** Appends any event as any service. */
  | { readonly append: { readonly service: ServiceName; readonly type: string; readonly payload: unknown } }
  /** Waits until the log holds so many (1) events of a type. */
  | { readonly until: { readonly type: string; readonly count?: number } }
  /** Replaces the loop by a new one: in order, or as a crash would. */
  | { readonly restart: 'graceful' | 'crash' };

/** One answer of the model. */
export interface ModelLine {
  /** Deltas of text. */
  readonly text?: readonly string[];
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly args?: unknown }[];
  readonly usage?: Usage;
  /** What happens elsewhere while it streams. */
  readonly meanwhile?: readonly ClientStep[];
  /** Ends as this error instead. */
  readonly fails?: string;
  /** Never ends by itself: whoever waits for it is restarted or cancelled. */
  readonly hangs?: boolean;
}

/** One tool: the same for all of its calls. */
export interface ToolLine {
  readonly concurrency?: 'serial' | 'parallel';
  readonly approval?: 'never' | 'policy' | 'always';
  readonly repeatable?: boolean;
  /** What happens elsewhere while its first call runs. */
  readonly meanwhile?: readonly ClientStep[];
  /** Content of its results; absent: the call's arguments. */
  readonly returns?: unknown;
  /** Fails with this text instead. */
  readonly fails?: string;
}

/** What happens in one session, and nothing about where it runs: every log must lead to the same events. */
export interface Scenario {
  readonly name: string;
  /** Behaviour cases it shows. */
  readonly cases: readonly string[];
  readonly policy?: readonly string[];
  readonly tools?: Readonly<Record<string, ToolLine>>;
  readonly model: readonly ModelLine[];
  /** In order. The run ends after the last one. */
  readonly client: readonly ClientStep[];
}
