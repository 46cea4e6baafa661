import { createHash, timingSafeEqual } from 'node:crypto';
import { type CanActivate, type ExecutionContext, HttpException, Inject, Injectable } from '@nestjs/common';
import { CONFIG } from '@longrein/service';
import type { RegistryConfig } from './config.js';

/** Lets the bearer of the operator's token through. Without a configured token the commands are not mounted at all. */
@Injectable()
export class OperatorGuard implements CanActivate {
  constructor(@Inject(CONFIG) private readonly config: RegistryConfig) {}

  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<{ headers: { authorization?: string } }>();
    const token = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
    const { operator_token } = this.config;
    if (token !== undefined && operator_token !== undefined && isSame(token, operator_token)) return true;
    const message = 'present the token of LONGREIN_OPERATOR_TOKEN: Authorization: Bearer <token>';
    throw new HttpException({ error: { code: 'unauthorized', message } }, 401);
  }
}

function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
