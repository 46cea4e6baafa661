import { Controller, Get } from '@nestjs/common';
import { refuse } from './refusals.js';

/** Tells who comes to the socket's address without asking for a WebSocket. */
@Controller('agents')
export class SocketPathController {
  @Get(':id/ws')
  explain(): never {
    throw refuse(400, 'not_a_websocket', 'this address is a WebSocket; connect with ws:// or wss://');
  }
}
