import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A directory in use by this process. */
export interface DataDir {
  readonly path: string;
  /** Where the NATS server keeps its streams. */
  readonly natsDir: string;
  /** The bearer token of this installation: made once, kept readable for the owner only. */
  token(): Promise<string>;
  /** Lets other processes use the directory. */
  release(): Promise<void>;
}

/** Another process runs on the directory: two servers on one store would destroy it. */
export class DataDirInUse extends Error {
  override readonly name = 'DataDirInUse';

  constructor(path: string, pid: number) {
    super(
      `${path} is in use by process ${pid}; stop that one first (Ctrl-C where it runs), or set LONGREIN_DATA_DIR to ` +
        'another directory',
    );
  }
}

/** Takes a directory for this process, making it where there is none. Throws `DataDirInUse`. */
export async function takeDataDir(path: string): Promise<DataDir> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const lock = join(path, 'pid');
  await takeLock(path, lock);
  return {
    path,
    natsDir: join(path, 'nats'),
    token: () => tokenIn(join(path, 'token')),
    release: () => rm(lock, { force: true }),
  };
}

async function takeLock(path: string, lock: string): Promise<void> {
  // Linked in one move: a lock that is seen names its holder, and one without a holder is left over.
  const written = `${lock}.${process.pid}`;
  await writeFile(written, `${process.pid}\n`);
  try {
    while (!(await linked(written, lock))) {
      const holder = Number(await readFile(lock, 'utf8').catch(() => ''));
      if (Number.isInteger(holder) && holder > 0 && holder !== process.pid && isAlive(holder)) {
        throw new DataDirInUse(path, holder);
      }
      await rm(lock, { force: true });
    }
  } finally {
    await rm(written, { force: true });
  }
}

async function linked(file: string, as: string): Promise<boolean> {
  try {
    await link(file, as);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function tokenIn(file: string): Promise<string> {
  const kept = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (kept.length >= 16) return kept;
  const made = randomBytes(24).toString('base64url');
  await writeFile(file, `${made}\n`, { mode: 0o600 });
  return made;
}
