/** Injection tokens of the gateway's module. */

/** `() => TokenBook`: the tokens in force. */
export const TOKENS = Symbol('TOKENS');
/** `SessionLog` as the gateway. */
export const LOG = Symbol('LOG');
/** `SessionCommands`. */
export const COMMANDS = Symbol('COMMANDS');
/** `SessionStates`. */
export const STATES = Symbol('STATES');
