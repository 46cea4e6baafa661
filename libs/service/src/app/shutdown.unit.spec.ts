import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { type ProcessLike, stopOnSignals } from './shutdown.js';

class FakeProcess extends EventEmitter implements ProcessLike {
  readonly exits: number[] = [];
  private wake: (() => void) | undefined;

  exit(code: number): void {
    this.exits.push(code);
    this.wake?.();
  }

  async exited(): Promise<void> {
    if (this.exits.length === 0) await new Promise<void>((resolve) => (this.wake = resolve));
  }
}

describe('stopOnSignals', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('stops once and exits 0 on %s', async (signal) => {
    const host = new FakeProcess();
    let stops = 0;
    stopOnSignals({ stop: () => Promise.resolve(void stops++) }, { process: host });
    host.emit(signal);
    await host.exited();
    expect({ stops, exits: host.exits }).toEqual({ stops: 1, exits: [0] });
  });

  it('exits at once on a second signal, but not on the echo of the first', () => {
    const host = new FakeProcess();
    let time = 0;
    const never = { stop: () => new Promise<void>(() => undefined) };
    stopOnSignals(never, { process: host, now: () => time, deadline_ms: 1 });
    host.emit('SIGINT');
    time = 20;
    host.emit('SIGINT');
    expect(host.exits).toEqual([]);
    time = 700;
    host.emit('SIGTERM');
    expect(host.exits).toEqual([130]);
  });

  it('exits 1 and reports when stopping fails', async () => {
    const host = new FakeProcess();
    const errors: unknown[] = [];
    const failure = new Error('stuck');
    stopOnSignals({ stop: () => Promise.reject(failure) }, { process: host, onError: (error) => errors.push(error) });
    host.emit('SIGTERM');
    await host.exited();
    expect({ errors, exits: host.exits }).toEqual({ errors: [failure], exits: [1] });
  });

  it('exits 1 when stopping does not end', async () => {
    const host = new FakeProcess();
    stopOnSignals({ stop: () => new Promise(() => undefined) }, { process: host, deadline_ms: 1 });
    host.emit('SIGTERM');
    await host.exited();
    expect(host.exits).toEqual([1]);
  });

  it('shares one stop between a signal and another cause', async () => {
    const host = new FakeProcess();
    let stops = 0;
    const exit = stopOnSignals({ stop: () => Promise.resolve(void stops++) }, { process: host });
    await exit(1);
    await exit(0);
    expect({ stops, exits: host.exits }).toEqual({ stops: 1, exits: [1] });
  });
});
