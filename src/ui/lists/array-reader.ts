/** Reads a long JSON array item by item, so that a page can stop once it has what it shows. */

/** Splits the text of an array of objects, which comes in parts, into its items. */
export class ArrayReader {
  #item = '';
  #depth = 0;
  #inText = false;
  #escapes = false;
  #toSkip: number;

  /** The first `skipped` items are passed over. */
  constructor(skipped = 0) {
    this.#toSkip = skipped;
  }

  /** Takes the next part. Returns the items that it completes, without those to skip. */
  push(part: string): unknown[] {
    const items: unknown[] = [];
    let from = this.#depth > 0 ? 0 : -1;
    for (let at = 0; at < part.length; at += 1) {
      const change = this.#step(part.charCodeAt(at));
      if (change > 0 && this.#depth === 1) from = at;
      if (change < 0 && this.#depth === 0) {
        if (this.#toSkip > 0) this.#toSkip -= 1;
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

/** Part of a list. */
export interface ListPage<T> {
  readonly items: readonly T[];
  /** Whether the list goes on. */
  readonly hasMore: boolean;
}

/** Reads `size` items from item `from` on, and no more of the stream than it must. */
export async function readPage<T>(
  body: ReadableStream<Uint8Array>,
  from: number,
  size: number,
): Promise<ListPage<T>> {
  const stream = body.getReader();
  const decoder = new TextDecoder();
  const array = new ArrayReader(from);
  const items: T[] = [];
  for (;;) {
    const { done, value } = await stream.read();
    if (done) return { items, hasMore: false };
    for (const item of array.push(decoder.decode(value, { stream: true }))) {
      if (items.length < size) items.push(item as T);
      else {
        await stream.cancel();
        return { items, hasMore: true };
      }
    }
  }
}
