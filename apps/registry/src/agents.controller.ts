import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post, UseGuards } from '@nestjs/common';
import { checked } from '@longrein/service';
import { disposeRequest, forSessionRequest, getRequest, injectRequest, spawnRequest } from './commands.js';
import { answering } from './http-errors.js';
import { OperatorGuard } from './operator.guard.js';
import { Registry } from './registry.js';

/** The registry's commands over HTTP. Bodies are those of the NATS commands; ids in paths fill theirs. */
@Controller()
@UseGuards(OperatorGuard)
export class AgentsController {
  constructor(@Inject(Registry) private readonly registry: Registry) {}

  @Post('agents')
  spawn(@Body() body: unknown): Promise<unknown> {
    return answering(() => this.registry.spawn(checked(spawnRequest, body)));
  }

  @Get('agents')
  list(): Promise<unknown> {
    return answering(async () => ({ agents: await this.registry.list() }));
  }

  @Get('agents/:agent_id')
  get(@Param() params: unknown): Promise<unknown> {
    return answering(() => this.registry.get(checked(getRequest, params).agent_id));
  }

  @Delete('agents/:agent_id')
  dispose(@Param() params: object, @Body() body: object | undefined): Promise<unknown> {
    return answering(() => this.registry.dispose(checked(disposeRequest, { ...body, ...params })));
  }

  @Get('sessions/:session_id/agent')
  forSession(@Param() params: unknown): Promise<unknown> {
    return answering(async () => ({
      agent: await this.registry.forSession(checked(forSessionRequest, params).session_id),
    }));
  }

  @Post('sessions/:session_id/inject')
  @HttpCode(202)
  inject(@Param() params: object, @Body() body: object | undefined): Promise<unknown> {
    return answering(() => this.registry.inject(checked(injectRequest, { ...body, ...params })));
  }
}
