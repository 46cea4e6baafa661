import type { WebSocket } from 'ws';

/** Where a client's frames go. */
export interface FrameSink {
  readonly isOpen: boolean;
  /** Bytes on their way to the kernel. */
  readonly waiting: number;
  /** Sends a frame behind what is on its way; `done` once the kernel has it, or the connection is gone. */
  write(frame: object, done?: () => void): void;
}

/** Frames as messages of a WebSocket. */
export class WebSocketSink implements FrameSink {
  constructor(private readonly socket: WebSocket) {}

  get isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  get waiting(): number {
    return this.socket.bufferedAmount;
  }

  write(frame: object, done?: () => void): void {
    this.socket.send(JSON.stringify(frame), () => done?.());
  }
}
