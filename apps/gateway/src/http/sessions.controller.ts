import { randomUUID } from 'node:crypto';
import { Body, Controller, Get, HttpCode, HttpException, Inject, Param, Post, Query, UseGuards } from '@nestjs/common';
import { MAX_PAGE, type EventPage, type SessionLog, isLogError } from '@longrein/log';
import { history, inbox, openTurn, pendingApprovals, policy, spend, status, title, usage } from '@longrein/session';
import { z } from 'zod';
import { FrameError } from '../protocol/server-frames.js';
import { SessionCommands } from '../sessions/session-commands.js';
import { SessionStates } from '../sessions/session-states.js';
import { COMMANDS, LOG, STATES } from '../tokens.js';
import { BearerGuard, refuse } from './bearer.guard.js';

const created = z.object({ session_id: z.string().optional() });
const input = z.object({
  text: z.string(),
  wake: z.boolean().default(true),
  input_id: z.string().min(1).max(256).optional(),
});
const cancel = z.object({ reason: z.string().max(4096).optional() });
const page = z.object({
  from_seq: z.coerce.number().int().nonnegative().default(0),
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(1000),
  facts_only: z.enum(['true', 'false']).default('false'),
});

/** Sessions over plain HTTP: create, inspect, read, speak, cancel. */
@Controller('sessions')
@UseGuards(BearerGuard)
export class SessionsController {
  constructor(
    @Inject(LOG) private readonly log: SessionLog,
    @Inject(COMMANDS) private readonly commands: SessionCommands,
    @Inject(STATES) private readonly states: SessionStates,
  ) {}

  @Post()
  async create(@Body() body: unknown): Promise<object> {
    const { session_id = randomUUID() } = parse(created, body ?? {});
    const { created: isNew, last_seq } = await answer(() => this.commands.open(session_id));
    return { session_id, created: isNew, last_seq };
  }

  @Get(':id')
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
  async events(@Param('id') id: string, @Query() query: unknown): Promise<EventPage> {
    const { facts_only, ...range } = parse(page, query);
    return answer(() => this.log.read(id, { ...range, facts_only: facts_only === 'true' }));
  }

  @Post(':id/inputs')
  @HttpCode(202)
  async inject(@Param('id') id: string, @Body() body: unknown): Promise<object> {
    const request = parse(input, body);
    return answer(async () => this.commands.inject(id, request, await this.commands.lastSeq(id)));
  }

  @Post(':id/cancel')
  @HttpCode(202)
  async cancel(@Param('id') id: string, @Body() body: unknown): Promise<object> {
    const { reason } = parse(cancel, body ?? {});
    await answer(() => this.commands.cancel(id, reason));
    return {};
  }
}

const STATUS: Readonly<Record<string, number>> = {
  unknown_session: 404,
  bad_frame: 400,
  invalid_event: 400,
  too_large: 413,
  conflict: 409,
  not_running: 409,
  unavailable: 503,
  moved: 503,
  storage_full: 507,
};

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw refuse(400, 'bad_request', `${issue?.path.join('.') || 'body'}: ${issue?.message ?? 'not understood'}`);
}

async function answer<Result>(action: () => Promise<Result>): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof HttpException) throw error;
    if (isLogError(error) || error instanceof FrameError) {
      throw refuse(STATUS[error.code] ?? 500, error.code, error.message);
    }
    throw error;
  }
}
