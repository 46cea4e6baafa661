import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from '@longrein/service';
import { TokenBook } from './token-book.js';
import { type TokenRule, parseTokenRules } from './token-rules.js';

/** Where tokens come from: fixed ones, a file that may change, or both. */
export interface TokenSources {
  readonly fixed: readonly TokenRule[];
  /** Path of a file with a JSON array of token rules. */
  readonly file?: string;
}

/** The tokens file cannot be used. */
export class TokensFileError extends Error {
  override readonly name = 'TokensFileError';

  constructor(path: string, problem: string, options?: ErrorOptions) {
    super(`the tokens file ${path} ${problem}; it must hold a JSON array of {"token", ...}`, options);
  }
}

/**
 * The tokens in force. Follows the file: what it says takes effect when it changes. A file that cannot be used, e.g. one
 * written half, changes nothing and is reported: a slip of the pen must not lock every client out.
 */
export class TokenStore {
  #book: TokenBook;
  #text: string | undefined;
  #watcher: FSWatcher | undefined;
  #reading: Promise<void> | undefined;
  #again = false;
  readonly #listeners = new Set<() => void>();

  constructor(
    private readonly sources: TokenSources,
    private readonly logger: Pick<Logger, 'error' | 'info'>,
  ) {
    this.#book = new TokenBook(sources.fixed);
  }

  /** The tokens in force at this moment. */
  get book(): TokenBook {
    return this.#book;
  }

  /** Calls `listener` whenever other tokens are in force. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Reads the file and follows it from then on. Rejects with `TokensFileError` when it cannot be used. */
  async start(): Promise<void> {
    const { file } = this.sources;
    if (file === undefined) return;
    // The directory, because files are replaced more often than written: by editors, and by mounted secrets.
    this.#watcher = watch(dirname(file), () => void this.reload());
    this.#watcher.on('error', (error) => this.logger.error({ err: error }, `cannot watch ${file} any more`));
    try {
      await this.#read(file);
    } catch (error) {
      this.stop();
      throw error;
    }
  }

  /** Reads the file again. Resolves when what it says now is in force, or was refused and reported. */
  reload(): Promise<void> {
    this.#again = true;
    return (this.#reading ??= this.#readWhileChanging().finally(() => (this.#reading = undefined)));
  }

  stop(): void {
    this.#watcher?.close();
  }

  async #readWhileChanging(): Promise<void> {
    const { file } = this.sources;
    while (this.#again && file !== undefined) {
      this.#again = false;
      await this.#read(file).catch((error: unknown) =>
        this.logger.error({ err: error }, 'the tokens that were in force stay in force'),
      );
    }
  }

  async #read(file: string): Promise<void> {
    const text = await readFile(file, 'utf8').catch((error: unknown) => {
      throw new TokensFileError(file, `cannot be read: ${(error as Error).message}`, { cause: error });
    });
    if (text === this.#text) return;
    const parsed = parseTokenRules(text);
    if ('problem' in parsed) throw new TokensFileError(file, parsed.problem);
    this.#text = text;
    this.#book = new TokenBook([...this.sources.fixed, ...parsed.rules]);
    this.logger.info({ tokens: parsed.rules.length }, `tokens of ${file} are in force`);
    for (const listener of this.#listeners) listener();
  }
}
