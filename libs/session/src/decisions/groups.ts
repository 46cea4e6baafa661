import type { OpenCall } from '../folds/state.js';
import type { ToolTraits } from './types.js';

/**
 * Calls of one message as they run: adjacent calls to parallel tools together, every other call alone, in call order.
 * Tools are serial unless they say otherwise; nothing crosses a serial call.
 */
export function callGroups<Call extends Pick<OpenCall, 'name'>>(
  calls: readonly Call[],
  traits: (name: string) => ToolTraits | undefined,
): Call[][] {
  const groups: Call[][] = [];
  let joinable = false;
  for (const call of calls) {
    const parallel = traits(call.name)?.concurrency === 'parallel';
    if (parallel && joinable) groups.at(-1)?.push(call);
    else groups.push([call]);
    joinable = parallel;
  }
  return groups;
}
