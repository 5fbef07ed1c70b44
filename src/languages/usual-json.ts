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
  /** Names of an object's members in quotes; undefined for other values. */
  readonly names?: readonly Uint8Array[];
  /** Shapes of the members, or of the items of a list. Absent: a string. */
  readonly of?: readonly Shape<unknown>[];
  /** Makes an object from the values of its members. */
  readonly make?: Make<T>;
}

/** Makes an object of at most four members. An absent one is undefined. */
type Make<T> = (a: never, b: never, c: never, d: never) => T;

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
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
  #skips(byte: number): boolean {
    if (this.#bytes[this.#skipSpaces()] !== byte) return false;
    this.#at += 1;
    return true;
  }

  /** Whether a member of this name is next. The name, in quotes, and the colon are skipped then. */
  #skipsName(quoted: Uint8Array): boolean {
    const bytes = this.#bytes;
    const start = this.#skipSpaces();
    if (start + quoted.length > bytes.length) return false;
    for (let at = 0; at < quoted.length; at++) if (bytes[start + at] !== quoted[at]) return false;
    this.#at = start + quoted.length;
    if (this.#skips(COLON)) return true;
    this.#at = start;
    return false;
  }

  /** Reads a value, and moves behind it; undefined if it is not usual. */
  value({ names, of, make }: Shape<unknown>): unknown {
    this.#values += 1;
    if (this.#values > VALUES_MAX) return undefined;
    if (of === undefined) return this.#string();
    return names === undefined ? this.#list(of[0]!) : this.#object(names, of, make!);
  }

  #object(
    names: readonly Uint8Array[],
    of: readonly Shape<unknown>[],
    make: Make<unknown>,
  ): unknown {
    if (!this.#skips(OPEN)) return undefined;
    const values: unknown[] = [undefined, undefined, undefined, undefined];
    let expected = 0;
    do {
      const index = this.#nameIn(names, expected);
      if (index < 0 || values[index] !== undefined) return undefined;
      const value = this.value(of[index]!);
      if (value === undefined) return undefined;
      values[index] = value;
      expected = index + 1;
    } while (this.#skips(COMMA));
    if (!this.#skips(CLOSE)) return undefined;
    const [a, b, c, d] = [values[0], values[1], values[2], values[3]] as never[];
    return make(a!, b!, c!, d!);
  }

  #list(of: Shape<unknown>): readonly unknown[] | undefined {
    if (!this.#skips(OPEN_LIST)) return undefined;
    const items: unknown[] = [];
    do {
      const item = this.value(of);
      if (item === undefined) return undefined;
      items.push(item);
    } while (this.#skips(COMMA));
    return this.#skips(CLOSE_LIST) ? items : undefined;
  }

  /** Reads the name of a member, probably the `expected`th. Returns its position; -1 if none. */
  #nameIn(names: readonly Uint8Array[], expected: number): number {
    for (let at = expected; at < names.length; at++) if (this.#skipsName(names[at]!)) return at;
    for (let at = 0; at < expected; at++) if (this.#skipsName(names[at]!)) return at;
    return -1;
  }

  /** Returns the string that is next; undefined if there is none, or it has an escape. */
  #string(): string | undefined {
    if (!this.#skips(QUOTE)) return undefined;
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
export const usualText: Shape<string> = {};

/** An object with members of these names in any order, each of which may be absent. */
export const usualObject = <T>(
  members: Readonly<Record<string, Shape<unknown>>>,
  make: Make<T>,
): Shape<T> => ({
  names: Object.keys(members).map((name) => Buffer.from(JSON.stringify(name))),
  of: Object.values(members),
  make,
});

/** A list of such values. */
export const usualList = <T>(of: Shape<T>): Shape<readonly T[]> => ({ of: [of] });

/** Returns the value of a whole text; undefined if it is not usual, or not ASCII. */
export function readUsual<T>(bytes: Buffer, shape: Shape<T>): T | undefined {
  if (!isAscii(bytes)) return undefined;
  const text = new UsualText(bytes);
  const value = text.value(shape) as T | undefined;
  return value !== undefined && text.isOver ? value : undefined;
}
