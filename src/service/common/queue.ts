/** A queue that takes and gives in constant time, however long it is. */

/** Items that were taken and are still in the list. */
const TAKEN_MAX = 1024;

/** Items in the order in which they were added. */
export class Queue<T> {
  #items: T[] = [];
  #at = 0;

  get isEmpty(): boolean {
    return this.#at === this.#items.length;
  }

  add(item: T): void {
    this.#items.push(item);
  }

  take(): T | undefined {
    const item = this.#items[this.#at];
    if (item === undefined) return undefined;
    this.#at += 1;
    // under load the queue may never be empty
    if (this.isEmpty || (this.#at >= TAKEN_MAX && this.#at * 2 >= this.#items.length)) {
      this.#items = this.#items.slice(this.#at);
      this.#at = 0;
    }
    return item;
  }
}
