import type { Clock } from '@longrein/clock';
import type { ReadArguments } from './argument-reader.js';
import { readCall, type CallRequest } from './call-request.js';
import type { DedupeStore } from './dedupe.js';
import type { EpochFence } from './epoch-fence.js';
import { Execution } from './execution.js';
import { contentReply, errorReply, thrownReply, type ToolReply } from './reply.js';
import { messageOf } from '../core/index.js';

/** What a handler knows about its call. */
export interface ToolContext {
  readonly session_id: string;
  readonly turn_id: string;
  /** The provider's id; not unique. Use `key` to recognise a call. */
  readonly call_id: string;
  readonly call_seq: number;
  /** The tool's name as the model sees it. */
  readonly name: string;
  /** Idempotency key: the same for every attempt at the same call. */
  readonly key: string;
  /** From 1. Above 1, an earlier attempt may have run in whole or in part. */
  readonly attempt: number;
  /** Epoch of the loop that calls. */
  readonly epoch: number;
  /** Nobody waits for the result after this time. */
  readonly not_after: Date;
  /** Aborted at `not_after`. */
  readonly signal: AbortSignal;
}

/** Parts of a runner. */
export interface RunnerParts {
  readonly readArguments: ReadArguments;
  readonly handler: (args: never, context: ToolContext) => unknown;
  readonly fence: EpochFence;
  readonly clock: Clock;
  readonly dedupe: DedupeStore | undefined;
  /** Largest content, in bytes of JSON. */
  readonly maxBytes: number;
}

/** From a call's bytes to its reply: the protocol's checks around an author's handler. Never throws. */
export class ToolRunner {
  readonly #parts: RunnerParts;
  readonly #running = new Map<string, Execution>();

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  /** Answers one call. */
  async handle(body: Uint8Array): Promise<ToolReply> {
    const call = readCall(body);
    if ('invalid' in call) return errorReply(call.invalid);
    const refusal = this.#refuse(call);
    if (refusal !== undefined) return errorReply(refusal);
    const args = this.#parts.readArguments(call.args);
    if ('invalid' in args) return errorReply(args.invalid);
    const deadline = Date.parse(call.not_after);
    return this.#execution(call, args.value, deadline).wait(
      deadline,
      errorReply(`The call ran past its time limit, ${call.not_after}; the tool was told to stop.`),
    );
  }

  #refuse(call: CallRequest): string | undefined {
    if (Date.parse(call.not_after) <= this.#parts.clock.now()) {
      return `The call arrived after its time limit, ${call.not_after}. It has not run.`;
    }
    const higher = this.#parts.fence.staleness(call.session_id, call.epoch);
    if (higher === undefined) return undefined;
    return `The call comes from a superseded owner (epoch ${call.epoch}, ${higher} is known). It has not run.`;
  }

  #execution(call: CallRequest, args: unknown, deadline: number): Execution {
    const { clock, dedupe } = this.#parts;
    if (!dedupe) return new Execution(clock, deadline, (signal) => this.#run(call, args, signal));
    const running = this.#running.get(call.key);
    if (running) {
      running.extend(deadline);
      return running;
    }
    const execution = new Execution(clock, deadline, (signal) => this.#runOnce(dedupe, call, args, signal));
    this.#running.set(call.key, execution);
    void execution.result.finally(() => this.#running.delete(call.key));
    return execution;
  }

  // Errors are not kept: an attempt that failed may be tried again.
  async #runOnce(store: DedupeStore, call: CallRequest, args: unknown, signal: AbortSignal): Promise<ToolReply> {
    try {
      const known = await store.get(call.key);
      if (known) return { content: known.content };
    } catch (error) {
      // Running now could repeat the effect, which is what the author asked to rule out.
      return errorReply(
        `The tool could not look up whether it has run already: ${messageOf(error)}. It has not run now.`,
      );
    }
    const reply = await this.#run(call, args, signal);
    if (!('content' in reply)) return reply;
    try {
      await store.put(call.key, { content: reply.content });
    } catch (error) {
      return errorReply(`The tool has run, but its result could not be kept: ${messageOf(error)}`);
    }
    return reply;
  }

  async #run(call: CallRequest, args: unknown, signal: AbortSignal): Promise<ToolReply> {
    const { session_id, turn_id, call_id, call_seq, name, key, attempt, epoch } = call;
    const identity = { session_id, turn_id, call_id, call_seq, name, key, attempt, epoch };
    try {
      const context: ToolContext = { ...identity, not_after: new Date(call.not_after), signal };
      return contentReply(await this.#parts.handler(args as never, context), this.#parts.maxBytes);
    } catch (error) {
      return thrownReply(error);
    }
  }
}
