import type { Clock } from '@longrein/clock';
import type { WebSocket } from 'ws';

/**
 * Pings a client until the signal aborts, and breaks the connection when a ping is still unanswered at the next one: a
 * client that vanished without a word. Clients answer by themselves, their protocol library does it.
 */
export function keepAlive(socket: WebSocket, clock: Clock, intervalMs: number, signal: AbortSignal): void {
  let answered = true;
  socket.on('pong', () => {
    answered = true;
  });
  const tick = (): void => {
    // While the gateway itself does not read from the client, it cannot see its answer.
    if (!answered && !socket.isPaused) {
      socket.terminate();
      return;
    }
    answered = false;
    socket.ping();
    cancel = clock.setTimeout(tick, intervalMs);
  };
  let cancel = clock.setTimeout(tick, intervalMs);
  signal.addEventListener('abort', () => cancel(), { once: true });
}
