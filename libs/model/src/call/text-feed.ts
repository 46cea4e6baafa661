/**
 * Text that arrives in pieces. A piece may end within a surrogate pair; half a pair is held back until the other half
 * comes, so that every piece handed on is well-formed and the pieces together are exactly the text.
 */
export class TextFeed {
  #held = '';
  #text = '';

  /** Everything handed on so far. */
  get text(): string {
    return this.#text;
  }

  /** What can be handed on now; may be empty. */
  push(piece: string): string {
    const all = this.#held + piece;
    const last = all.charCodeAt(all.length - 1);
    const split = last >= 0xd800 && last <= 0xdbff;
    this.#held = split ? all.slice(-1) : '';
    return this.#take(split ? all.slice(0, -1) : all);
  }

  /** What was held back, when nothing more comes. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    return this.#take(rest);
  }

  #take(text: string): string {
    const taken = text.toWellFormed();
    this.#text += taken;
    return taken;
  }
}
