/** Injection tokens of the gateway's module. */

/** `Authenticator`. */
export const AUTHENTICATOR = Symbol('AUTHENTICATOR');
/** `Limits` of the tokens. */
export const LIMITS = Symbol('LIMITS');
/** `LiveClients`: who is connected to this replica. */
export const CLIENTS = Symbol('CLIENTS');
/** `RegistryService`. */
export const REGISTRY = Symbol('REGISTRY');
/** `EventStreams`: clients that follow a session over HTTP. */
export const STREAMS = Symbol('STREAMS');
/** `SessionLog` as the gateway. */
export const LOG = Symbol('LOG');
/** `SessionCommands`. */
export const COMMANDS = Symbol('COMMANDS');
/** `SessionStates`. */
export const STATES = Symbol('STATES');
