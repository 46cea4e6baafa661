/** The oldest major version of Node that everything runs on: the one that is tested. */
const OLDEST = 24;

/** The process runs on a Node that lacks what the code uses: it would start and then fail at every request. */
export class NodeTooOld extends Error {
  override readonly name = 'NodeTooOld';

  constructor(version: string) {
    super(
      `this needs Node ${OLDEST} or newer, and runs on ${version}; npm ci has installed one: start it with npm, or ` +
        'with npx node in place of node',
    );
  }
}

/** Throws `NodeTooOld` unless the code can run on this version of Node. */
export function requireNode(version: string = process.versions.node): void {
  if (!(Number.parseInt(version, 10) >= OLDEST)) throw new NodeTooOld(version);
}
