/** No NATS server could be found or provided. The message says what was tried and what to install. */
export class NatsServerMissingError extends Error {
  override readonly name = 'NatsServerMissingError';
}

/** A NATS server ended, or refused to become ready. The message carries the tail of its log. */
export class NatsServerFailedError extends Error {
  override readonly name = 'NatsServerFailedError';
}
