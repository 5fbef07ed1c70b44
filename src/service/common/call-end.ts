/**
 * The end of a call that waits: its client has disconnected, or the server holds no calls any more.
 * An abort signal would do the same, but ten thousand of them cost more than the calls themselves.
 */
export class CallEnd {
  /** Called at the end. A call waits for one thing at a time, so one function is enough. */
  wake: (() => void) | undefined;
  /** Milliseconds for which the call has waited for a change so far. */
  heldMs = 0;
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    this.#isOver = true;
    const { wake } = this;
    this.wake = undefined;
    wake?.();
  }
}
