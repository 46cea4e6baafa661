import type { IncomingHttpHeaders } from 'node:http';
import type { ScriptedUsage } from './script.js';
import { checkAnthropic } from './strict/anthropic.js';
import { checkOpenAi } from './strict/openai.js';
import type { WireFormat } from './view.js';
import { anthropicFailure, AnthropicWriter } from './wire/anthropic.js';
import { openAiFailure, OpenAiWriter } from './wire/openai.js';
import type { FailureBody, WireWriter } from './wire/writer.js';

/** Everything that differs between the wire formats. */
export interface Format {
  readonly name: WireFormat;
  readonly callIdPrefix: string;
  authorized(headers: IncomingHttpHeaders): boolean;
  /** Throws `Refused` for a request real providers refuse. */
  check(body: unknown): void;
  writer(id: string, model: string, usage: ScriptedUsage | null): WireWriter;
  readonly failure: FailureBody;
}

/** Formats by path. */
export const FORMATS: Readonly<Record<string, Format>> = {
  '/v1/chat/completions': {
    name: 'openai',
    callIdPrefix: 'call_',
    authorized: ({ authorization }) => /^Bearer \S+$/.test(authorization ?? ''),
    check: checkOpenAi,
    writer: (id, model) => new OpenAiWriter(id, model),
    failure: openAiFailure,
  },
  '/v1/messages': {
    name: 'anthropic',
    callIdPrefix: 'toolu_',
    authorized: (headers) =>
      Boolean(headers['x-api-key'] ?? headers.authorization) && Boolean(headers['anthropic-version']),
    check: checkAnthropic,
    writer: (id, model, usage) => new AnthropicWriter(id, model, usage),
    failure: anthropicFailure,
  },
};
