import { Controller, Get, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Registry } from 'prom-client';
import { HEALTH, METRICS } from '../app/tokens.js';
import type { Health, HealthReport } from './health.js';
import { exposition } from './metrics.js';

/** Probes and metrics. Everything is answered from memory. */
@Controller()
export class OpsController {
  constructor(
    @Inject(HEALTH) private readonly health: Health,
    @Inject(METRICS) private readonly metrics: Registry,
  ) {}

  @Get('healthz')
  healthz(@Res() reply: FastifyReply): void {
    answer(reply, this.health.alive());
  }

  @Get('readyz')
  readyz(@Res() reply: FastifyReply): void {
    answer(reply, this.health.ready());
  }

  @Get('metrics')
  async metricsText(@Res() reply: FastifyReply): Promise<void> {
    const { contentType, text } = await exposition(this.metrics);
    void reply.header('content-type', contentType).send(text);
  }
}

function answer(reply: FastifyReply, report: HealthReport): void {
  void reply
    .status(report.ok ? 200 : 503)
    .header('cache-control', 'no-store')
    .send({ status: report.ok ? 'ok' : 'unavailable', checks: report.checks });
}
