import type { Checkpoint } from './event-log.js';

/**
 * The stream does not hold what a checkpoint says: it was restored from an older copy, or replaced. Consuming on would
 * diverge silently, so the consumer stops with this.
 */
export class CheckpointMismatch extends Error {
  override readonly name = 'CheckpointMismatch';

  constructor(
    readonly checkpoint: Checkpoint,
    readonly found: string,
  ) {
    super(
      `stream ${checkpoint.stream} holds ${found} where the checkpoint has event ${checkpoint.event_id} ` +
        `(sequence ${checkpoint.sequence}); rebuild this consumer from the start of the stream`,
    );
  }
}
