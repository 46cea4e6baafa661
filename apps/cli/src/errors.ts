/** How the program ends. Documented in its help. */
export const EXIT = {
  ok: 0,
  /** Anything that has no code of its own. */
  failed: 1,
  /** The command line, or something it names, is not valid. */
  usage: 2,
  /** The gateway, or a service behind it, cannot be reached. */
  unreachable: 3,
  /** No token, a wrong one, or one that may not do this. */
  refused: 4,
  /** The session does not exist. */
  unknown_session: 5,
  /** `--wait`: the turn ended otherwise than completed. */
  turn_not_completed: 6,
  /** Ended by Ctrl-C. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure that the user is told about in one line. */
export class CliError extends Error {
  override readonly name = 'CliError';

  constructor(
    message: string,
    readonly exitCode: ExitCode = EXIT.failed,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What a connection problem says, from wherever in the chain of causes it is said best. */
export function causeOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && typeof cause.code === 'string' && !cause.message) return cause.code;
    if (!(cause.cause instanceof Error) && cause.message) return cause.message;
  }
  return String(error);
}
