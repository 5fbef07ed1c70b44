/** Reads a long JSON array item by item, so that a page can stop once it has what it shows. */

/** Splits the text of an array of objects, which comes in parts, into its items. */
export class ArrayReader {
  #item = '';
  #depth = 0;
  #inText = false;
  #escapes = false;
  readonly #toSkip: number;
  #skipped = 0;

  /** The first `toSkip` items are passed over. */
  constructor(toSkip = 0) {
    this.#toSkip = toSkip;
  }

  /** How many items were passed over so far. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Takes the next part. Returns the items that it completes, without those to skip. */
  push(part: string): unknown[] {
    const items: unknown[] = [];
    let from = this.#depth > 0 ? 0 : -1;
    for (let at = 0; at < part.length; at += 1) {
      const change = this.#step(part.charCodeAt(at));
      if (change > 0 && this.#depth === 1) from = at;
      if (change < 0 && this.#depth === 0) {
        if (this.#skipped < this.#toSkip) this.#skipped += 1;
        else items.push(JSON.parse(this.#item + part.slice(from, at + 1)));
        this.#item = '';
        from = -1;
      }
    }
    if (from >= 0) this.#item += part.slice(from);
    return items;
  }

  /** Returns 1 where an object begins, -1 where one ends. */
  #step(code: number): number {
    if (this.#inText) {
      if (this.#escapes) this.#escapes = false;
      else if (code === 0x5c) this.#escapes = true;
      else if (code === 0x22) this.#inText = false;
      return 0;
    }
    if (code === 0x22) this.#inText = true;
    const change = code === 0x7b ? 1 : code === 0x7d ? -1 : 0;
    this.#depth += change;
    return change;
  }
}

/** Which part of a list is read. */
export interface Part {
  readonly from?: number;
  readonly size: number;
  readonly onSkipped?: (count: number) => void;
}

/** Part of a list. */
export interface ListPage<T> {
  readonly items: readonly T[];
  /** How many items were passed over: fewer than was asked for if the list is shorter. */
  readonly skipped: number;
  /** Whether the list goes on. */
  readonly hasMore: boolean;
}

/** Milliseconds after which the page gets a turn: a key that was typed waits no longer. */
const SLICE_MS = 12;

/** Lets the page do what waits, such as keys that were typed. */
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/**
 * Reads `size` items from item `from` on, and no more of the stream than it must. Tells `onSkipped`
 * how many it has passed over, now and then. `now` is a clock in milliseconds.
 */
export async function readPage<T>(
  body: ReadableStream<Uint8Array>,
  { from = 0, size, onSkipped }: Part,
  now = (): number => performance.now(),
): Promise<ListPage<T>> {
  const stream = body.getReader();
  const decoder = new TextDecoder();
  const array = new ArrayReader(from);
  const items: T[] = [];
  let begun = now();
  for (;;) {
    const { done, value } = await stream.read();
    if (done) return { items, skipped: array.skipped, hasMore: false };
    for (const item of array.push(decoder.decode(value, { stream: true }))) {
      if (items.length < size) items.push(item as T);
      else {
        await stream.cancel();
        return { items, skipped: array.skipped, hasMore: true };
      }
    }
    if (now() - begun < SLICE_MS) continue;
    onSkipped?.(array.skipped);
    await turn();
    begun = now();
  }
}
