import { describe, expect, it } from '@jest/globals';
import { Inbound } from './inbound.js';

class FakeSocket {
  isPaused = false;
  pauses = 0;

  pause(): void {
    this.isPaused = true;
    this.pauses++;
  }

  resume(): void {
    this.isPaused = false;
  }
}

describe('Inbound', () => {
  it('does the work in order, and leaves further frames in the network while too many wait', async () => {
    const socket = new FakeSocket();
    const inbound = new Inbound(socket);
    const done: number[] = [];
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    let idle = Promise.resolve();
    for (let i = 0; i < 64; i++) {
      expect(socket.isPaused).toBe(false);
      idle = inbound.push(1, async () => {
        await gate;
        done.push(i);
      });
    }
    expect(socket.isPaused).toBe(true);
    open();
    await idle;
    expect(done).toEqual(Array.from({ length: 64 }, (_, i) => i));
    expect(socket).toMatchObject({ isPaused: false, pauses: 1 });
  });

  it('counts bytes too', async () => {
    const socket = new FakeSocket();
    const inbound = new Inbound(socket);
    const idle = inbound.push(3 * 1024 * 1024, async () => undefined);
    expect(socket.isPaused).toBe(true);
    await idle;
    expect(socket.isPaused).toBe(false);
  });
});
