import type { ScriptedReply, ScriptedUsage } from './script.js';

/** Usage of a reply whose script names none: about a token for four characters, never 0, the same at every run. */
export function scriptedDefaultUsage(body: unknown, { steps }: ScriptedReply): ScriptedUsage {
  const { messages } = body as { messages?: unknown };
  return { prompt_tokens: tokens(JSON.stringify(messages)), completion_tokens: tokens(JSON.stringify(steps)) };
}

function tokens(text: string): number {
  return Math.ceil(text.length / 4);
}
