import { randomUUID } from 'node:crypto';
import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query, Req, UseGuards } from '@nestjs/common';
import { type EventPage, MAX_PAGE, type SessionLog, SessionStates } from '@longrein/log';
import { history, inbox, openTurn, pendingApprovals, policy, spend, status, title, usage } from '@longrein/session';
import { z } from 'zod';
import { SessionCommands } from '../sessions/session-commands.js';
import { COMMANDS, LOG, STATES } from '../tokens.js';
import { AccessGuard, type AuthorisedRequest, Needs } from './access.guard.js';
import { answer, parse } from './refusals.js';

const created = z.object({ session_id: z.string().optional() });
const input = z.object({
  text: z.string(),
  wake: z.boolean().default(true),
  input_id: z.string().min(1).max(256).optional(),
});
const cancel = z.object({ reason: z.string().max(4096).optional() });
const verdict = z.object({
  call_id: z.string().min(1).max(256),
  request_seq: z.int().nonnegative().optional(),
  verdict: z.enum(['approved', 'denied']),
  reason: z.string().max(4096).optional(),
});
const page = z.object({
  from_seq: z.coerce.number().int().nonnegative().default(0),
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(1000),
  facts_only: z.enum(['true', 'false']).default('false'),
});

/** Sessions over plain HTTP: create, inspect, read, speak, decide, cancel. */
@Controller('sessions')
@UseGuards(AccessGuard)
export class SessionsController {
  constructor(
    @Inject(LOG) private readonly log: SessionLog,
    @Inject(COMMANDS) private readonly commands: SessionCommands,
    @Inject(STATES) private readonly states: SessionStates,
  ) {}

  @Post()
  @Needs('steer')
  async create(@Body() body: unknown): Promise<object> {
    const { session_id = randomUUID() } = parse(created, body ?? {});
    const { created: isNew, last_seq } = await answer(() => this.commands.open(session_id));
    return { session_id, created: isNew, last_seq };
  }

  @Get(':id')
  @Needs('read')
  async show(@Param('id') id: string): Promise<object> {
    const state = await answer(() => this.states.current(id));
    const turn = openTurn(state);
    return {
      session_id: id,
      status: status(state),
      title: title(state),
      last_seq: state.last_seq,
      turn: turn && { turn_id: turn.turn_id, start_seq: turn.start_seq },
      pending_approvals: pendingApprovals(state),
      inbox: inbox(state),
      policy: policy(state),
      usage: usage(state),
      spend: spend(state),
      messages: history(state).length,
      agent: state.configuration && {
        agent_id: state.configuration.agent_id,
        generation: state.configuration.generation,
      },
    };
  }

  @Get(':id/events')
  @Needs('read')
  async events(@Param('id') id: string, @Query() query: unknown): Promise<EventPage> {
    const { facts_only, ...range } = parse(page, query);
    return answer(() => this.log.read(id, { ...range, facts_only: facts_only === 'true' }));
  }

  @Post(':id/inputs')
  @Needs('steer')
  @HttpCode(202)
  async inject(@Param('id') id: string, @Body() body: unknown): Promise<object> {
    const request = parse(input, body);
    return answer(async () => this.commands.inject(id, request, await this.commands.lastSeq(id)));
  }

  @Post(':id/verdicts')
  @HttpCode(202)
  @Needs('approve')
  async decide(@Param('id') id: string, @Body() body: unknown, @Req() { access }: AuthorisedRequest): Promise<object> {
    const decision = { session_id: id, ...parse(verdict, body), by: access.name };
    return answer(() => this.commands.resolve(decision));
  }

  @Post(':id/cancel')
  @Needs('steer')
  @HttpCode(202)
  async cancel(@Param('id') id: string, @Body() body: unknown): Promise<object> {
    const { reason } = parse(cancel, body ?? {});
    await answer(() => this.commands.cancel(id, reason));
    return {};
  }
}
