import { InProcessTools } from '@longrein/tools/memory';

/** Traits of a scripted tool that tests care about. */
interface Traits {
  readonly concurrency?: 'serial' | 'parallel';
  readonly repeatable?: boolean;
  readonly approval?: 'never' | 'policy' | 'always';
  readonly mutating?: boolean;
}

/** Tools whose handlers take any arguments. */
export function scriptedTools(
  handlers: Readonly<Record<string, (args: Record<string, unknown>, signal?: AbortSignal) => unknown>>,
  traits: Readonly<Record<string, Traits>> = {},
): InProcessTools {
  const tools = new InProcessTools();
  for (const [name, handler] of Object.entries(handlers)) {
    const definition = { name, description: `The tool ${name}.`, input_schema: { type: 'object' }, ...traits[name] };
    tools.add(definition, ((args: Record<string, unknown>, _call: unknown, signal?: AbortSignal) =>
      handler(args, signal)) as never);
  }
  return tools;
}
