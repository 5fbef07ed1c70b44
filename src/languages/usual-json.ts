/**
 * Reads the JSON texts that most clients send for a shape in one pass, several times faster than
 * `parseStrictJson`, which reads all the others. A text that is read has the same value there.
 */
import { isAscii } from 'node:buffer';
import { VALUES_MAX } from './json.js';

/**
 * A shape of JSON values. A text of another shape is not read, nor is one with anything unusual: an
 * escape, a control character, a name twice, an empty object or list.
 */
export interface Shape<T> {
  /** Reads a value where the text stands, and moves behind it; undefined if it is not usual. */
  readonly read: (text: UsualText) => T | undefined;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** A text that is being read. Its bytes are searched, which is quicker than to search a string. */
class UsualText {
  readonly #bytes: Uint8Array;
  readonly #text: string;
  #at = 0;
  #values = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#text = bytes.toString('latin1');
  }

  /** Whether the next byte that is no space is this one, which is skipped then. */
  skips(byte: number): boolean {
    if (this.#bytes[this.#skipSpaces()] !== byte) return false;
    this.#at += 1;
    return true;
  }

  /** Whether a member of this name is next. The name, in quotes, and the colon are skipped then. */
  skipsName(quoted: Uint8Array): boolean {
    const bytes = this.#bytes;
    const start = this.#skipSpaces();
    if (start + quoted.length > bytes.length) return false;
    for (let at = 0; at < quoted.length; at++) if (bytes[start + at] !== quoted[at]) return false;
    this.#at = start + quoted.length;
    if (this.skips(COLON)) return true;
    this.#at = start;
    return false;
  }

  /** Whether one more value may be there. */
  takes(): boolean {
    this.#values += 1;
    return this.#values <= VALUES_MAX;
  }

  /** Returns the string that is next; undefined if there is none, or it has an escape. */
  string(): string | undefined {
    if (!this.takes() || !this.skips(QUOTE)) return undefined;
    const bytes = this.#bytes;
    const start = this.#at;
    for (let at = start; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte > BACKSLASH) continue;
      if (byte === QUOTE) {
        this.#at = at + 1;
        return this.#text.slice(start, at);
      }
      if (byte === BACKSLASH || byte < SPACE) break;
    }
    return undefined;
  }

  get isOver(): boolean {
    return this.#skipSpaces() === this.#bytes.length;
  }

  #skipSpaces(): number {
    const bytes = this.#bytes;
    let at = this.#at;
    while (at < bytes.length && bytes[at] === SPACE) at += 1;
    this.#at = at;
    return at;
  }
}

/** A string. */
export const usualText: Shape<string> = { read: (text) => text.string() };

/**
 * An object with members of these names in any order, each of which may be absent. `make` makes it
 * from their values in the order of the shapes; absent ones are undefined.
 */
export function usualObject<T>(
  members: Readonly<Record<string, Shape<unknown>>>,
  make: (...values: never[]) => T,
): Shape<T> {
  const shapes = Object.values(members);
  const names = Object.keys(members).map((name) => Buffer.from(JSON.stringify(name)));
  const count = names.length;
  const indexOf = (text: UsualText, expected: number): number => {
    for (let tried = 0; tried < count; tried++) {
      const index = (expected + tried) % count;
      if (text.skipsName(names[index]!)) return index;
    }
    return -1;
  };
  return {
    read(text) {
      if (!text.takes() || !text.skips(0x7b)) return undefined;
      const values: unknown[] = [undefined, undefined, undefined, undefined];
      let expected = 0;
      do {
        const index = indexOf(text, expected);
        if (index < 0 || values[index] !== undefined) return undefined;
        const value = shapes[index]!.read(text);
        if (value === undefined) return undefined;
        values[index] = value;
        expected = index + 1;
      } while (text.skips(COMMA));
      if (!text.skips(0x7d)) return undefined;
      const [a, b, c, d] = [values[0], values[1], values[2], values[3]] as never[];
      return make(a!, b!, c!, d!);
    },
  };
}

/** A list of such values. */
export const usualList = <T>(of: Shape<T>): Shape<readonly T[]> => ({
  read(text) {
    if (!text.takes() || !text.skips(0x5b)) return undefined;
    const items: T[] = [];
    do {
      const item = of.read(text);
      if (item === undefined) return undefined;
      items.push(item);
    } while (text.skips(COMMA));
    return text.skips(0x5d) ? items : undefined;
  },
});

/** Returns the value of a whole text; undefined if it is not usual, or not ASCII. */
export function readUsual<T>(bytes: Buffer, shape: Shape<T>): T | undefined {
  if (!isAscii(bytes)) return undefined;
  const text = new UsualText(bytes);
  const value = shape.read(text);
  return value !== undefined && text.isOver ? value : undefined;
}
