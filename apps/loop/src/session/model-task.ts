import type { ModelParameters } from '@longrein/model';
import type { RenderedRequest } from '@longrein/session';
import { type StepStreamDeps, type StreamedReply, streamStep } from './step-stream.js';
import { TailChunk } from './tail-chunk.js';

/** How a model request ended. */
export type ModelOutcome =
  { readonly reply: StreamedReply['reply']; readonly tail: TailChunk } | { readonly error: unknown };

/** The model request of one step, under way or back. */
export class ModelTask {
  readonly #controller = new AbortController();
  outcome: ModelOutcome | undefined;

  constructor(
    readonly turn_id: string,
    readonly n: number,
  ) {}

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Sends the request; calls back when it is over, with its outcome set. */
  start(request: RenderedRequest, deps: StepStreamDeps, over: () => void): void {
    const { model, system, messages, tools, parameters } = request;
    const sent = {
      model,
      messages,
      tools,
      ...(system !== undefined && { system }),
      ...(parameters && { parameters: parameters as ModelParameters }),
    };
    void streamStep(deps, sent, this.signal)
      .then(
        ({ reply, tail }) => ({ reply, tail: new TailChunk(tail) }),
        (error: unknown) => ({ error }),
      )
      .then((outcome) => {
        this.outcome = outcome;
        over();
      });
  }

  /** Closes the provider's connection; nothing of the answer is used or streamed any more. */
  abort(): void {
    this.#controller.abort(new Error('no longer wanted'));
  }
}
