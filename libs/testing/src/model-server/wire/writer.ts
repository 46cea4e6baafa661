import type { ReplyStep, ScriptedFailure, ScriptedReply, ScriptedUsage } from '../script.js';

/** A call of a reply with everything the script left open filled in. */
export interface WrittenCall {
  readonly id: string;
  readonly name: string;
  /** The arguments, in the pieces in which they are sent. */
  readonly fragments: readonly string[];
}

/** Why a reply ends. */
export type Stop = NonNullable<ScriptedReply['stop']>;

/** Notation of one reply in one wire format: each method returns pieces of the event stream, to be sent one by one. */
export interface WireWriter {
  start(): string[];
  text(text: string): string[];
  reasoning(step: Extract<ReplyStep, { reasoning: string }>): string[];
  redactedReasoning(data: string): string[];
  call(call: WrittenCall): string[];
  error(error: { status: number; message: string }): string[];
  finish(stop: Stop, usage: ScriptedUsage | null): string[];
}

/** An error document as the format has it. */
export type FailureBody = (failure: ScriptedFailure['fail']) => object;

/** One event of a stream. */
export function sse(data: unknown, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

/** A text in at most so many pieces of about the same length; at least one, which may be empty. */
export function fragmentsOf(text: string, count: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / count));
  const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size));
  return pieces.length > 0 ? pieces : [''];
}
