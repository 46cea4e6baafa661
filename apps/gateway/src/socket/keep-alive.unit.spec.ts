import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { VirtualClock } from '@longrein/testing';
import type { WebSocket } from 'ws';
import { DEFAULT_SOCKET_LIMITS } from '../config.js';
import { keepAlive } from './keep-alive.js';

class FakeSocket extends EventEmitter {
  pings = 0;
  isTerminated = false;
  isPaused = false;

  ping(): void {
    this.pings++;
  }

  terminate(): void {
    this.isTerminated = true;
  }
}

function alive() {
  const clock = new VirtualClock();
  const socket = new FakeSocket();
  const ended = new AbortController();
  keepAlive(socket as unknown as WebSocket, clock, DEFAULT_SOCKET_LIMITS.ping_interval_ms, ended.signal);
  return { clock, socket, ended };
}

describe('keepAlive', () => {
  it('WSP-08 pings every 20 s, and no more once the connection has ended', async () => {
    const { clock, socket, ended } = alive();
    await clock.advance(19_999);
    expect(socket.pings).toBe(0);
    for (let i = 1; i <= 10; i++) {
      await clock.advance(20_000);
      expect(socket.pings).toBe(i);
      socket.emit('pong');
    }
    ended.abort();
    expect(clock.pending).toBe(0);
    await clock.advance(3_600_000);
    expect(socket).toMatchObject({ pings: 10, isTerminated: false });
  });

  it('breaks a connection whose client does not answer, unless the gateway itself does not read', async () => {
    const { clock, socket } = alive();
    await clock.advance(20_000);
    socket.isPaused = true;
    await clock.advance(20_000);
    expect(socket.isTerminated).toBe(false);
    socket.isPaused = false;
    await clock.advance(20_000);
    expect(socket.isTerminated).toBe(true);
    expect(clock.pending).toBe(0);
  });
});
