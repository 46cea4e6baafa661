import { type ChildProcess as NodeChild, spawn } from 'node:child_process';
import { isAbsolute, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { boundToParent, killOnExit, projectRoot } from '@longrein/nats-server';

/** How to run a program of ours as a process of its own. */
export interface ChildOptions {
  /** JavaScript file, absolute or from the repository's root, e.g. `apps/log/dist/main.js`. */
  readonly entry: string;
  readonly args?: readonly string[];
  /** Added to this process's environment; `undefined` takes a variable out. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Options for Node itself, e.g. `--conditions=...`. */
  readonly nodeArgs?: readonly string[];
  readonly cwd?: string;
}

/** How a child ended. */
export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What a line must be like: contain a text, match an expression, satisfy a function. */
export type LineMatcher = string | RegExp | ((line: string) => boolean);

const WAIT_MS = 30_000;
const STOP_GRACE_MS = 30_000;
const OUTPUT_IN_ERRORS = 4_000;

/** A program running in a process of its own. It ends with this process at the latest. */
export class ChildProcess {
  readonly pid: number;
  /** Resolves when the process has ended. */
  readonly exited: Promise<ChildExit>;
  private readonly child: NodeChild;
  private readonly out: string[] = [];
  private readonly watchers = new Set<() => void>();
  private text = '';
  private ended: ChildExit | undefined;

  private constructor(private readonly options: ChildOptions) {
    const root = projectRoot();
    const entry = isAbsolute(options.entry) ? options.entry : resolve(root, options.entry);
    const [command, args] = boundToParent(process.execPath, [
      ...(options.nodeArgs ?? []),
      entry,
      ...(options.args ?? []),
    ]);
    this.child = spawn(command, args, {
      cwd: options.cwd ?? root,
      env: environment(options.env ?? {}),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    if (this.child.pid === undefined) throw new Error(`${command} could not be started for ${entry}`);
    this.pid = this.child.pid;
    const lift = killOnExit(this.pid);
    this.exited = new Promise((done) => {
      // 'close' comes after the last line of output, 'exit' may come before it.
      this.child.once('close', (code, signal) => {
        this.ended = { code, signal };
        lift();
        this.tell();
        done(this.ended);
      });
    });
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      stream.setEncoding('utf8').on('data', (part: string) => void (this.text += part));
    }
    createInterface({ input: this.child.stdout! }).on('line', (line) => {
      this.out.push(line);
      this.tell();
    });
  }

  /** Starts the program. Wait for its readiness with `line` or `json`. */
  static start(options: ChildOptions): ChildProcess {
    return new ChildProcess(options);
  }

  /** Lines of standard output so far. */
  get lines(): readonly string[] {
    return this.out;
  }

  /** Standard output and standard error as they came. */
  get output(): string {
    return this.text;
  }

  /** Whether the process still runs. */
  get running(): boolean {
    return this.ended === undefined;
  }

  /** The first line of standard output that matches, past or to come; rejects when the process ends without one. */
  line(matches: LineMatcher, timeoutMs = WAIT_MS): Promise<string> {
    return this.first((line) => (matching(line, matches) ? line : undefined), describeMatcher(matches), timeoutMs);
  }

  /** The first line of standard output that is a JSON object and satisfies `matches`, parsed. */
  json<T extends object>(matches: (value: T) => boolean = () => true, timeoutMs = WAIT_MS): Promise<T> {
    return this.first(
      (line) => {
        const value = jsonObject<T>(line);
        return value !== undefined && matches(value) ? value : undefined;
      },
      'a JSON object',
      timeoutMs,
    );
  }

  /** Sends a signal to the process, if it still runs. */
  signal(signal: NodeJS.Signals): void {
    if (this.running) process.kill(this.pid, signal);
  }

  /** Kills the process without any notice (SIGKILL) and waits until it is gone. */
  async kill(): Promise<ChildExit> {
    this.signal('SIGKILL');
    return this.exited;
  }

  /** Freezes the process: it keeps its connections and does nothing. */
  freeze(): void {
    this.signal('SIGSTOP');
  }

  /** Lets a frozen process run on. */
  thaw(): void {
    this.signal('SIGCONT');
  }

  /** Ends the process in order (SIGTERM) and waits until it is gone; by force after `graceMs`. */
  async stop(graceMs = STOP_GRACE_MS): Promise<ChildExit> {
    this.signal('SIGTERM');
    this.thaw();
    const force = setTimeout(() => this.signal('SIGKILL'), graceMs);
    try {
      return await this.exited;
    } finally {
      clearTimeout(force);
    }
  }

  private first<T>(read: (line: string) => T | undefined, wanted: string, timeoutMs: number): Promise<T> {
    return new Promise((found, reject) => {
      let next = 0;
      const end = (): void => {
        clearTimeout(timer);
        this.watchers.delete(look);
      };
      const look = (): void => {
        for (; next < this.out.length; next++) {
          const value = read(this.out[next]!);
          if (value !== undefined) {
            end();
            return found(value);
          }
        }
        if (this.ended) {
          end();
          reject(this.failure(`ended (${this.ended.signal ?? `code ${this.ended.code}`}) without printing ${wanted}`));
        }
      };
      const timer = setTimeout(() => {
        end();
        reject(this.failure(`did not print ${wanted} within ${timeoutMs} ms`));
      }, timeoutMs);
      this.watchers.add(look);
      look();
    });
  }

  private tell(): void {
    for (const watcher of [...this.watchers]) watcher();
  }

  private failure(what: string): Error {
    return new Error(`${this.options.entry} ${what}. Its output ends:\n${this.text.slice(-OUTPUT_IN_ERRORS)}`);
  }
}

function environment(changes: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  const merged: NodeJS.ProcessEnv = { ...process.env, ...changes };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined));
}

function matching(line: string, matcher: LineMatcher): boolean {
  if (typeof matcher === 'string') return line.includes(matcher);
  return matcher instanceof RegExp ? matcher.test(line) : matcher(line);
}

function describeMatcher(matcher: LineMatcher): string {
  return typeof matcher === 'function' ? 'the expected line' : `a line with ${String(matcher)}`;
}

function jsonObject<T extends object>(line: string): T | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as T;
  } catch {
    return undefined;
  }
}
