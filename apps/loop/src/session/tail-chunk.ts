import { randomUUID } from 'node:crypto';

/**
 * The end of a reply's text, which goes into the same append as the reply. Whatever becomes of a try, its text is
 * stored once: the next one carries the same id, is looked for from the same seq on, and leaves out what is stored.
 */
export class TailChunk {
  readonly #id = randomUUID();
  #since: number | undefined;
  #stored = false;

  constructor(private readonly text: string) {}

  /** The event, while it is owed. */
  get events(): readonly { readonly type: string; readonly payload: unknown; readonly event_id: string }[] {
    if (this.#stored || this.text === '') return [];
    return [{ type: 'assistant/chunk', payload: { text: this.text }, event_id: this.#id }];
  }

  /** From where on a retry has to be recognised; `now`: the position of the first try. */
  since(now: number): number {
    return (this.#since ??= now);
  }

  /** It is in the log. */
  stored(): void {
    this.#stored = true;
  }
}
