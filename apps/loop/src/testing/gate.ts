/** Something a test waits for, or holds back. */
export class Gate<T = void> {
  readonly opened: Promise<T>;
  #open!: (value: T) => void;

  constructor() {
    this.opened = new Promise((resolve) => (this.#open = resolve));
  }

  open(value: T): void {
    this.#open(value);
  }
}
