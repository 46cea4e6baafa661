import { Controller, Get, Headers, Inject, Param, Query, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { SessionCommands } from '../sessions/session-commands.js';
import { EventStreams } from '../sse/event-stream.js';
import { COMMANDS, STREAMS } from '../tokens.js';
import { AccessGuard, type AuthorisedRequest, Needs, TakesTickets } from './access.guard.js';
import { answer, parse } from './refusals.js';

const place = z.object({
  /** Seq of the last event the client has; a browser sends it by itself when it reconnects. */
  'last-event-id': z
    .string()
    .regex(/^\d{1,15}$/, 'must be a seq')
    .transform(Number)
    .optional(),
  from_seq: z
    .string()
    .regex(/^\d{1,15}$/, 'must be a seq')
    .transform(Number)
    .default(0),
});

/** A session as Server-Sent Events, for clients without WebSocket. */
@Controller('sessions')
export class StreamController {
  constructor(
    @Inject(COMMANDS) private readonly commands: SessionCommands,
    @Inject(STREAMS) private readonly streams: EventStreams,
  ) {}

  @Get(':id/stream')
  @UseGuards(AccessGuard)
  @Needs('read')
  @TakesTickets()
  async stream(
    @Param('id') sessionId: string,
    @Headers() headers: object,
    @Query() query: object,
    @Req() { access }: AuthorisedRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { 'last-event-id': last, from_seq } = parse(place, { ...query, ...headers });
    await answer(async () => {
      const lastSeq = await this.commands.lastSeq(sessionId);
      const fromSeq = last === undefined ? from_seq : last + 1;
      if (reply.raw.destroyed) return;
      this.streams.serve(reply.raw, { sessionId, fromSeq, lastSeq, access });
      reply.hijack();
    });
  }
}
