/**
 * Call ids as they are sent. Providers refuse an id that another call of the history carries, and each other's
 * notations; their ids repeat all the same. An id that is acceptable and new stays; any other is replaced by one made
 * from the call's position, which is the same at every rendering.
 */
export class CallIds {
  readonly #accepted: RegExp;
  readonly #used = new Set<string>();
  #position = 0;

  constructor(accepted: RegExp) {
    this.#accepted = accepted;
  }

  /** The id to send for the next call of the history. */
  next(id: string): string {
    this.#position += 1;
    let sent = id;
    for (let n = 0; !this.#accepted.test(sent) || this.#used.has(sent); n++) {
      sent = n === 0 ? `call_${this.#position}` : `call_${this.#position}_${n}`;
    }
    this.#used.add(sent);
    return sent;
  }
}
