import { Controller, Get, Inject, Param, Req, UseGuards } from '@nestjs/common';
import { matchesAny } from '@longrein/session';
import type { Authenticator } from '../auth/authenticator.js';
import { Limits } from '../auth/limits.js';
import { type FleetMember, RegistryService } from '../services/registry.js';
import { AUTHENTICATOR, LIMITS, REGISTRY } from '../tokens.js';
import { AccessGuard, Needs } from './access.guard.js';
import { answer, refuse } from './refusals.js';

/** The fleet over plain HTTP, each agent with the status that its session's log says. */
@Controller('agents')
export class FleetController {
  constructor(
    @Inject(REGISTRY) private readonly registry: RegistryService,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(LIMITS) private readonly limits: Limits,
  ) {}

  /** Those of the live agents that the token covers. */
  @Get()
  async list(@Req() request: { headers: { authorization?: string } }): Promise<{ agents: readonly FleetMember[] }> {
    const token = this.authenticator.tokens.book.token(request.headers.authorization);
    if (!token) throw refuse(401, 'unauthorized', 'present a token: Authorization: Bearer <token>');
    const { agents: patterns, capabilities, limits } = token.rule;
    if (!capabilities.includes('read')) throw refuse(403, 'forbidden', 'this needs the capability read');
    return answer(async () => {
      this.limits.take({ token_id: token.id, capabilities: new Set(capabilities), limits });
      const agents = await this.registry.list();
      return { agents: agents.filter(({ agent_id }) => matchesAny(patterns, agent_id)) };
    });
  }

  @Get(':id')
  @UseGuards(AccessGuard)
  @Needs('read')
  async show(@Param('id') id: string): Promise<FleetMember> {
    const agent = await answer(() => this.registry.find(id));
    if (!agent) throw refuse(404, 'agent_not_found', `no live agent is called ${id}`);
    return agent;
  }
}
