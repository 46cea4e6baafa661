import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError, EXIT } from './errors.js';

/** Where the gateway of a local `npm start` listens. */
export const DEFAULT_URL = 'http://127.0.0.1:7423';

/** Where `npm start` keeps the token of the local installation, below the directory it runs in. */
const TOKEN_FILE = join('.longrein', 'token');

/** How to reach the gateway. */
export interface Settings {
  /** Without a slash at the end. */
  readonly url: string;
  /** Absent: the gateway will refuse, and say why. */
  readonly token?: string;
}

/** The program's surroundings that settings come from. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** Options first, then environment, then the local installation. */
export async function settingsFrom(
  options: { readonly url?: string; readonly token?: string },
  { env, cwd }: Surroundings,
): Promise<Settings> {
  const url = options.url ?? (env['LONGREIN_URL']?.trim() || DEFAULT_URL);
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new CliError(`${url} is not a gateway's URL; give --url or LONGREIN_URL as ${DEFAULT_URL}`, EXIT.usage);
  }
  const token = options.token ?? (env['LONGREIN_TOKEN']?.trim() || (await localToken(cwd)));
  return { url: url.replace(/\/+$/, ''), ...(token && { token }) };
}

async function localToken(cwd: string): Promise<string> {
  return (await readFile(join(cwd, TOKEN_FILE), 'utf8').catch(() => '')).trim();
}
