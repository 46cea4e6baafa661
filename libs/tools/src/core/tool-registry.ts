import type { ToolDescription } from '@longrein/events';
import { digest } from '@longrein/session';
import type { RegisteredTool, RejectedRegistration, ToolCatalog, ToolSet } from '../port/index.js';
import type { ParsedRegistration } from './registration.js';
import { jsonBytes } from './storable.js';

/** Most bytes of descriptions one model request can carry: they are one event of the log (`context/tools`). */
export const MAX_TOOLSET_BYTES = 384 * 1024;

/**
 * The catalog's state: registrations in, tools in force out. Which of two registrations with the same visible name is
 * in force depends on their keys alone, never on the order of arrival, so that all replicas agree.
 */
export class ToolRegistry implements ToolCatalog {
  readonly #entries = new Map<string, ParsedRegistration>();
  readonly #listeners = new Set<() => void>();
  #tools: readonly RegisteredTool[] = [];
  #byName = new Map<string, RegisteredTool>();
  #rejected: readonly RejectedRegistration[] = [];
  #digest = digest([[], []]);

  /** Adds or replaces one registration. */
  put(key: string, entry: ParsedRegistration): void {
    this.#entries.set(key, entry);
    this.#settle();
  }

  /** Takes one registration out. */
  remove(key: string): void {
    if (this.#entries.delete(key)) this.#settle();
  }

  /** Replaces everything at once, so that nobody sees a list that is half old and half new. */
  replace(entries: Iterable<readonly [string, ParsedRegistration]>): void {
    this.#entries.clear();
    for (const [key, entry] of entries) this.#entries.set(key, entry);
    this.#settle();
  }

  list(): readonly RegisteredTool[] {
    return this.#tools;
  }

  resolve(visibleName: string): RegisteredTool | undefined {
    return this.#byName.get(visibleName);
  }

  describe(select: (visibleName: string) => boolean = () => true): ToolSet {
    const tools: ToolDescription[] = [];
    const omitted: string[] = [];
    let room = MAX_TOOLSET_BYTES;
    for (const tool of this.#tools) {
      if (!select(tool.visible_name)) continue;
      const description = describeTool(tool);
      const bytes = jsonBytes(description) + 1;
      // Leaving tools out keeps the turn alive; a refused `context/tools` would fail every turn that shows them.
      if (bytes > room) {
        omitted.push(tool.visible_name);
        continue;
      }
      room -= bytes;
      tools.push(description);
    }
    return { tools, digest: digest(tools), omitted };
  }

  rejected(): readonly RejectedRegistration[] {
    return this.#rejected;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #settle(): void {
    const byName = new Map<string, RegisteredTool>();
    const rejected: RejectedRegistration[] = [];
    for (const [key, entry] of [...this.#entries].sort(([a], [b]) => byCodeUnit(a, b))) {
      if ('reason' in entry) {
        rejected.push({ key, reason: entry.reason });
        continue;
      }
      const holder = byName.get(entry.tool.visible_name);
      if (holder === undefined) byName.set(entry.tool.visible_name, entry.tool);
      else rejected.push({ key, reason: duplicateOf(holder) });
    }
    const tools = [...byName.values()].sort((a, b) => byCodeUnit(a.visible_name, b.visible_name));
    const before = this.#digest;
    this.#digest = digest([tools, rejected]);
    this.#tools = tools;
    this.#byName = byName;
    this.#rejected = rejected;
    if (this.#digest !== before) for (const listener of [...this.#listeners]) listener();
  }
}

function describeTool(tool: RegisteredTool): ToolDescription {
  return { name: tool.visible_name, description: tool.description, input_schema: tool.input_schema };
}

function duplicateOf(holder: RegisteredTool): string {
  return `models would see ${JSON.stringify(holder.visible_name)}, the name of ${holder.namespace}.${holder.name}; rename one of them`;
}

/** Orders by UTF-16 code unit, unlike `localeCompare`: the same on every machine. */
function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
