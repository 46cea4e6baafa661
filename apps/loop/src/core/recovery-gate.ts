/** Lets one holder in at a time, in order of arrival. */
export class RecoveryGate {
  #tail: Promise<void> = Promise.resolve();

  /** Resolves with the function that lets the next one in; calling it again does nothing. */
  async enter(): Promise<() => void> {
    let leave: () => void = () => undefined;
    const mine = new Promise<void>((resolve) => (leave = resolve));
    const before = this.#tail;
    this.#tail = before.then(() => mine);
    await before;
    return leave;
  }
}
