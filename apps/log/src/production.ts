/** Settings that are fit for development only were used with `LONGREIN_ENV=production`. */
export class NotForProduction extends Error {
  override readonly name = 'NotForProduction';
}

const OLDEST = [2, 12] as const;

/**
 * Throws `NotForProduction` unless the server keeps what it acknowledges: three copies, and a release that survived
 * the public failure analyses of JetStream.
 */
export function requireProductionServer(version: string | undefined, replicas: number): void {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    throw new NotForProduction(
      `nats-server ${version ?? 'of unknown version'} is too old; use ${OLDEST.join('.')} or later`,
    );
  }
  if (replicas < 3) {
    throw new NotForProduction(
      `LONGREIN_STREAM_REPLICAS is ${replicas}; production needs 3, so that one node can be lost`,
    );
  }
}
