import type { Server } from 'node:http';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { TokenStore } from '../auth/token-store.js';
import { readJsonStrictly } from '../http/json-body.js';
import { SocketServer } from '../socket/socket-server.js';
import { Steering } from '../socket/steering.js';
import { EventStreams } from '../sse/event-stream.js';
import { CLIENTS, STREAMS } from '../tokens.js';
import { LiveClients } from './live-clients.js';

/** Attaches the sockets to the service's HTTP server, and ends all that stays open when the service stops. */
@Injectable()
export class Sockets implements OnApplicationBootstrap, OnModuleDestroy {
  constructor(
    @Inject(SocketServer) private readonly sockets: SocketServer,
    @Inject(Steering) private readonly steering: Steering,
    @Inject(STREAMS) private readonly streams: EventStreams,
    @Inject(CLIENTS) private readonly clients: LiveClients,
    @Inject(TokenStore) private readonly tokens: TokenStore,
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
  ) {}

  onApplicationBootstrap(): void {
    this.tokens.onChange(() => this.clients.recheck());
    this.steering.start();
    const { httpAdapter } = this.host;
    readJsonStrictly(httpAdapter.getInstance<FastifyInstance>());
    this.sockets.attach(httpAdapter.getHttpServer() as Server);
  }

  onModuleDestroy(): void {
    this.tokens.stop();
    this.sockets.stop();
    this.streams.stop();
    this.steering.stop();
  }
}
