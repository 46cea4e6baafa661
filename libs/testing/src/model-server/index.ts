export { type DemoOptions, demoModel } from './demo.js';
export type { Outcome, RecordedRequest } from './exchange.js';
export {
  calling,
  type ReplyStep,
  saying,
  type Scripted,
  type ScriptedFailure,
  type ScriptedReply,
  type ScriptedUsage,
  scriptFile,
} from './script.js';
export { ModelServer, type ModelServerOptions, type ScriptFunction } from './server.js';
export type { RequestView, ViewedCall, ViewedMessage, WireFormat } from './view.js';
export { checkAnthropic } from './strict/anthropic.js';
export { checkOpenAi } from './strict/openai.js';
