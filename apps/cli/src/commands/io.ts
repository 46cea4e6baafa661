import { type Settings, type Surroundings, settingsFrom } from '../settings.js';

/** The program's surroundings. */
export interface Io extends Surroundings {
  readonly out: (text: string) => void;
  /** Resolves when whoever reads the output has kept up. */
  readonly drained: () => Promise<void>;
  readonly err: (text: string) => void;
  /** Aborts on Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Options that every command takes. */
export interface CommonOptions {
  readonly url?: string;
  readonly token?: string;
  readonly json?: boolean;
}

/** What a command works with. */
export class Context {
  private constructor(
    readonly io: Io,
    readonly settings: Settings,
    readonly json: boolean,
  ) {}

  static async from(io: Io, options: CommonOptions): Promise<Context> {
    return new Context(io, await settingsFrom(options, io), options.json ?? false);
  }

  /** Prints a result: as JSON when asked to, else as text. */
  print(value: object, text: string): void {
    this.io.out(this.json ? `${JSON.stringify(value)}\n` : text);
  }

  /** Says something that is not the result. */
  note(text: string): void {
    this.io.err(`longrein: ${text}\n`);
  }
}
