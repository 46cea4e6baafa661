import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { boundToParent } from '@longrein/nats-server';
import { ChildProcess } from './child-process.js';
import { withProcesses } from './with-processes.js';

const directory = mkdtempSync(join(tmpdir(), 'longrein-child-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let files = 0;
function program(source: string): string {
  const file = join(directory, `program-${files++}.mjs`);
  writeFileSync(file, source);
  return file;
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Resolves once the kernel has stopped the process; elsewhere than on Linux there is nothing to ask. */
async function stopped(pid: number): Promise<void> {
  if (process.platform !== 'linux') return;
  const state = (): string | undefined => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.[0];
  while (state() !== 'T') await new Promise((resolve) => setImmediate(resolve));
}

const SERVER = `
  process.on('SIGTERM', () => { console.log('bye'); process.exit(3); });
  console.log('starting');
  console.log(JSON.stringify({ ready: true, mode: process.env.MODE ?? null, home: process.env.HOME ?? null, args: process.argv.slice(2) }));
  console.error('to the error stream');
  setInterval(() => undefined, 1000);
`;

describe('ChildProcess', () => {
  const processes = withProcesses();

  it('runs a program with its arguments and environment and waits for its ready message', async () => {
    const child = processes.start({ entry: program(SERVER), args: ['--x'], env: { MODE: 'm', HOME: undefined } });
    expect(await child.json<{ ready?: boolean }>((value) => value.ready === true)).toEqual({
      ready: true,
      mode: 'm',
      home: null,
      args: ['--x'],
    });
    expect(await child.line(/^start/)).toBe('starting');
    expect(await child.stop()).toEqual({ code: 3, signal: null });
    expect(child.lines.at(-1)).toBe('bye');
    expect(child.output).toContain('to the error stream');
  });

  it('kills by pid without notice', async () => {
    const child = processes.start({ entry: program(SERVER) });
    await child.line('starting');
    expect(await child.kill()).toEqual({ code: null, signal: 'SIGKILL' });
    expect(child.lines).not.toContain('bye');
    expect(alive(child.pid)).toBe(false);
  });

  it('freezes, thaws, and stops a frozen one', async () => {
    const counting = `
      process.stdin.resume(); let n = 0;
      process.on('SIGUSR2', () => console.log('got ' + ++n));
      console.log('ready'); setInterval(() => undefined, 1000);`;
    const child = processes.start({ entry: program(counting) });
    await child.line('ready');
    child.freeze();
    await stopped(child.pid);
    child.signal('SIGUSR2');
    expect(child.lines).toEqual(['ready']);
    child.thaw();
    await child.line('got 1');
    child.freeze();
    expect(await child.stop()).toEqual({ code: null, signal: 'SIGTERM' });
  });

  it('reports the output of a program that ends before it is ready, or does not get ready in time', async () => {
    const failing = processes.start({ entry: program(`console.error('no port'); process.exit(7);`) });
    await expect(failing.json()).rejects.toThrow(/code 7[^]*no port/);
    const silent = processes.start({ entry: program(SERVER) });
    await expect(silent.line('never said', 50)).rejects.toThrow(/never said[^]*50 ms/);
  });

  // Only Linux lets the kernel end a child with its parent.
  (process.platform === 'linux' ? it : it.skip)(
    'does not outlive a parent that is killed',
    async () => {
      // The outer program starts the inner one by the very command the harness uses; both write to the same pipe, so
      // its end, for which `kill` waits, comes only when both are gone.
      const [command, args] = boundToParent(process.execPath, [program(SERVER)]);
      const outer = processes.start({
        entry: program(`
        import { spawn } from 'node:child_process';
        spawn(${JSON.stringify(command)}, ${JSON.stringify(args)}, { stdio: ['ignore', 'inherit', 'inherit'], detached: true });
        console.log('outer');
        setInterval(() => undefined, 1000);`),
      });
      await outer.line('outer');
      await outer.json((value) => 'ready' in value);
      expect(await outer.kill()).toEqual({ code: null, signal: 'SIGKILL' });
    },
    15_000,
  );

  it('says which program could not be run', async () => {
    const child = ChildProcess.start({ entry: join(directory, 'missing.mjs') });
    await expect(child.line('ready')).rejects.toThrow(/missing\.mjs ended/);
  });
});
