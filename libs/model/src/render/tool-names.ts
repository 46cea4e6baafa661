import { createHash } from 'node:crypto';

/** What both providers accept as a tool's name. */
const ACCEPTED = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * A tool's name as a provider accepts it. Names that it would refuse (too long, a dot, a scrubber's replacement, one
 * the model made up) would otherwise make every later request fail, so they get a stable stand-in.
 */
export function wireName(name: string): string {
  if (ACCEPTED.test(name)) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 55)}_${digest}`;
}

/** Turns a name the model called back into the tool's own. Names of no advertised tool stay as they are. */
export function nameReader(tools: readonly { readonly name: string }[]): (wire: string) => string {
  const names = new Map(tools.map(({ name }) => [wireName(name), name]));
  return (wire) => names.get(wire) ?? wire;
}
