import type { ToolDefinition } from '../port/index.js';

/**
 * Splits a message's calls into groups that run one after the other: adjacent calls to parallel tools form one group,
 * a serial call is a group of its own. Nothing crosses a serial call: `P P S P P` gives `[P P] [S] [P P]`. A call
 * whose tool is unknown counts as serial.
 */
export function groupCalls<Call>(
  calls: readonly Call[],
  concurrencyOf: (call: Call) => ToolDefinition['concurrency'] | undefined,
): Call[][] {
  const groups: Call[][] = [];
  let open: Call[] | undefined;
  for (const call of calls) {
    if (concurrencyOf(call) !== 'parallel') {
      groups.push([call]);
      open = undefined;
    } else if (open) {
      open.push(call);
    } else {
      open = [call];
      groups.push(open);
    }
  }
  return groups;
}
