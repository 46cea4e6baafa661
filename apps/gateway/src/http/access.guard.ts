import { type CanActivate, type ExecutionContext, Inject, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { isValidId } from '@longrein/events';
import type { FastifyReply } from 'fastify';
import type { Authenticator } from '../auth/authenticator.js';
import { LimitExceeded, type Limits } from '../auth/limits.js';
import type { Access } from '../auth/token-book.js';
import type { Capability } from '../auth/token-rules.js';
import { AUTHENTICATOR, LIMITS } from '../tokens.js';
import { answer, refuse } from './refusals.js';

/** A request that the guard has let in. */
export interface AuthorisedRequest {
  /** What its sender may do with the session that it names. */
  access: Access;
}

interface Request extends Partial<AuthorisedRequest> {
  readonly headers: { readonly authorization?: string };
  readonly params: { readonly id?: string };
  readonly query: { readonly ticket?: unknown };
  readonly body?: { readonly session_id?: unknown; readonly agent_id?: unknown } | undefined;
}

const NEEDS = 'needs';
const TICKETS = 'tickets';

/** The capability that a route needs for the session it names; without it, any access to that session will do. */
export const Needs = (capability: Capability): MethodDecorator & ClassDecorator => SetMetadata(NEEDS, capability);

/** Lets a route be reached with `?ticket=` as well. */
export const TakesTickets = (): MethodDecorator => SetMetadata(TICKETS, true);

/** Lets requests in whose token is good for the session they name and has the capability that the route needs. */
@Injectable()
export class AccessGuard implements CanActivate {
  readonly #reflector = new Reflector();

  constructor(
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(LIMITS) private readonly limits: Limits,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const named = request.params.id ?? request.body?.session_id ?? request.body?.agent_id;
    const id = typeof named === 'string' ? named : '';
    const access = await answer(() => this.#identify(context, request, id));
    if (!access) throw refuse(401, 'unauthorized', 'present a token for this session: Authorization: Bearer <token>');
    const capability = this.#metadata<Capability>(context, NEEDS);
    if (capability && !access.capabilities.has(capability)) {
      throw refuse(403, 'forbidden', `this needs the capability ${capability}`);
    }
    const isNameable: boolean = id === '' || isValidId(id);
    if (!isNameable) {
      throw refuse(400, 'invalid_id', `session id ${id.slice(0, 130)} must be 1-128 characters of A-Z a-z 0-9 _ -`);
    }
    await answer(async () => this.#take(access, context));
    request.access = access;
    return true;
  }

  async #identify(context: ExecutionContext, request: Request, id: string): Promise<Access | undefined> {
    const { authorization } = request.headers;
    const { ticket } = request.query;
    const taken = this.#metadata<boolean>(context, TICKETS) === true && typeof ticket === 'string';
    return this.authenticator.identify({ authorization, ticket: taken ? ticket : undefined }, id);
  }

  #take(access: Access, context: ExecutionContext): void {
    try {
      this.limits.take(access);
    } catch (error) {
      if (error instanceof LimitExceeded && error.retry_after_s !== undefined) {
        const reply = context.switchToHttp().getResponse<FastifyReply>();
        void reply.header('retry-after', String(Math.ceil(error.retry_after_s)));
      }
      throw error;
    }
  }

  #metadata<Value>(context: ExecutionContext, key: string): Value | undefined {
    return this.#reflector.getAllAndOverride<Value | undefined>(key, [context.getHandler(), context.getClass()]);
  }
}
