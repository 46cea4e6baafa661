/** KV bucket of the registrations; its stream is `KV_LONGREIN_TOOLS`. */
export const TOOLS_BUCKET = 'LONGREIN_TOOLS';

/** Key of a registration. A put is a plain publish to `$KV.LONGREIN_TOOLS.<key>`. */
export function registrationKey(namespace: string, name: string): string {
  return `${namespace}.${name}`;
}

/** Where a tool's process answers calls. */
export function callSubject(namespace: string, name: string): string {
  return `tools.${namespace}.${name}.call`;
}

/** Queue group of a tool's replicas: one of them gets each call. */
export const TOOL_QUEUE = 'tool';
