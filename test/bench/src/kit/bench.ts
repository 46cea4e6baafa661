/** How a bench is run. */
export interface BenchOptions {
  /** Fewer rounds and less data: shows that everything works and roughly where the figures lie. */
  readonly quick: boolean;
  /** Says on stderr what is being measured. */
  readonly progress: (what: string) => void;
}

/** A line of the table for people. */
export interface Row {
  readonly what: string;
  readonly value: string;
  /** What `value` was measured against. */
  readonly against?: string;
  readonly ratio?: number;
  /** The ratio to reach, e.g. `>= 0.35`. */
  readonly goal?: Goal;
}

/** Where a ratio should lie. */
export interface Goal {
  readonly least?: number;
  readonly most?: number;
}

/** What a bench found. */
export interface BenchResult {
  /** What the figures mean: sizes, windows, versions. */
  readonly conditions: readonly string[];
  readonly rows: readonly Row[];
  /** The last line of the output, for programs. */
  readonly json: Readonly<Record<string, number | string>>;
}

/** One bench: a name on the command line and what it measures. */
export interface Bench {
  readonly name: string;
  readonly description: string;
  run(options: BenchOptions): Promise<BenchResult>;
}
