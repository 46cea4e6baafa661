import type { ToolTraits } from '../decisions/types.js';

const DEFAULTS: ToolTraits = { mutating: false, approval: 'never', concurrency: 'serial', repeatable: true };

/** Traits of a tool: reading, never asking, serial, repeatable, unless told otherwise. */
export function traitsOf(some: Partial<ToolTraits> = {}): ToolTraits {
  return { ...DEFAULTS, ...some };
}

/** Tools of generated sessions, by name; every other name is not registered. */
export const TOOLS: Readonly<Record<string, ToolTraits>> = {
  read: traitsOf({ concurrency: 'parallel' }),
  search: traitsOf({ concurrency: 'parallel' }),
  write: traitsOf({ mutating: true, approval: 'policy' }),
  ask: traitsOf({ concurrency: 'parallel', approval: 'always' }),
  pay: traitsOf({ mutating: true, repeatable: false }),
};
