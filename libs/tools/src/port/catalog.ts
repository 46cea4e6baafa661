import type { RegisteredTool, ToolSet } from './definition.js';

/** A registration that is not in force, and why. It is reported and otherwise ignored. */
export interface RejectedRegistration {
  /** `<namespace>.<name>`, as found in the bucket. */
  readonly key: string;
  /** One sentence for the tool's author. */
  readonly reason: string;
}

/** The tools that exist right now. One bad registration never affects another. */
export interface ToolCatalog {
  /** Tools in force, ordered by visible name (code units), so that every replica shows models the same list. */
  list(): readonly RegisteredTool[];
  /** The tool a model means, or nothing when no such tool is registered. */
  resolve(visibleName: string): RegisteredTool | undefined;
  /**
   * What a model is told: the tools in force whose visible name `select` admits (absent: all). Equal tools give an
   * equal digest, on every replica and after every restart.
   */
  describe(select?: (visibleName: string) => boolean): ToolSet;
  /** Registrations that are not in force. */
  rejected(): readonly RejectedRegistration[];
  /** Calls back after the list changed. The returned function ends it. Listeners must not throw. */
  onChange(listener: () => void): () => void;
}
