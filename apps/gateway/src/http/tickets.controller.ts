import { Body, Controller, Inject, Post, Req, UseGuards } from '@nestjs/common';
import { isValidId } from '@longrein/events';
import { z } from 'zod';
import type { Authenticator } from '../auth/authenticator.js';
import { capability } from '../auth/token-rules.js';
import type { Ticket } from '../auth/tickets.js';
import { AUTHENTICATOR } from '../tokens.js';
import { AccessGuard, type AuthorisedRequest } from './access.guard.js';
import { answer, parse } from './refusals.js';

const order = z.object({
  agent_id: z.custom<string>(isValidId, 'must be 1-128 characters of A-Z a-z 0-9 _ -'),
  /** Default: all that the token has. */
  capabilities: z.array(capability).min(1).optional(),
});

/** Tickets for browsers, which cannot send a token when they open a socket or an event stream. */
@Controller('tickets')
@UseGuards(AccessGuard)
export class TicketsController {
  constructor(@Inject(AUTHENTICATOR) private readonly authenticator: Authenticator) {}

  @Post()
  async issue(@Body() body: unknown, @Req() { access }: AuthorisedRequest): Promise<Ticket> {
    const { agent_id, capabilities } = parse(order, body);
    return answer(() => this.authenticator.tickets.issue(agent_id, access, capabilities));
  }
}
