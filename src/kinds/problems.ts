/** What is wrong with an entry, and how several faults become one refusal. */
import { type Refusal, refusal } from '../errors.js';

/**
 * One fault. `pointer` is the JSON pointer (RFC 6901) of the field, `message` says what is
 * expected.
 */
export interface Problem {
  readonly pointer: string;
  readonly message: string;
  readonly hint?: string;
}

/**
 * Told between problems where work goes on that may take milliseconds: others may have their turn.
 */
export const PAUSE: unique symbol = Symbol('pause');

/** A message lists at most this many faults: a hostile body can hold a hundred thousand. */
const SHOWN_MAX = 10;
/** Messages quote what was sent, which may be long. */
const MESSAGE_LENGTH_MAX = 600;
const NAME_LENGTH_MAX = 100;

const cut = (text: string, max: number): string =>
  text.length > max ? `${text.slice(0, max)}…` : text;

/** Builds a problem at the given path, e.g. `problem('…', 'Sources', 0, 'Name')`. */
export function problem(message: string, ...path: readonly (string | number)[]): Problem {
  return { message, pointer: pointerOf(path) };
}

/** The JSON pointer of a path. */
function pointerOf(path: readonly (string | number)[]): string {
  let pointer = '';
  for (const part of path) {
    pointer += `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`;
  }
  return pointer;
}

/** One refusal for all problems: the sentence of the only one, or `2 errors occurred: …; …`. */
export function refusalOf(
  problems: readonly [Problem, ...Problem[]],
  options: { prefix?: string; count?: number } = {},
): Refusal {
  const [first, ...others] = problems;
  const { prefix = '', count = problems.length } = options;
  if (count === 1) {
    const { message, pointer, hint } = first;
    const text = cut(prefix + message, MESSAGE_LENGTH_MAX);
    return refusal('invalid', text, { pointer, ...(hint && { hint }) });
  }
  const shown = [first, ...others]
    .slice(0, SHOWN_MAX)
    .map(({ message, hint }) => (hint === undefined ? message : `${message} (${hint})`))
    .map((text) => cut(text, MESSAGE_LENGTH_MAX));
  if (count > shown.length) shown.push(`and ${count - shown.length} more`);
  const text = `${count} errors occurred: ${shown.join('; ')}`;
  return refusal('invalid', prefix + text, { pointer: first.pointer });
}

/** Collects what is wrong with a body while it is decoded, and knows where the decoder is. */
export class Report {
  readonly problems: Problem[] = [];
  count = 0;
  readonly #path: PathPart[] = [];

  /** Runs `body`, which must not throw, one level deeper. */
  within<T>(part: PathPart, body: () => T): T {
    this.#path.push(part);
    const result = body();
    this.#path.pop();
    return result;
  }

  /** How many levels deep the decoder is. */
  get depth(): number {
    return this.#path.length;
  }

  /**
   * Whether another problem would still be shown: suggestions are not worth computing beyond that.
   */
  get full(): boolean {
    return this.problems.length >= SHOWN_MAX;
  }

  add(message: string, hint?: string): void {
    this.count += 1;
    if (this.full) return;
    const parts = this.#path.map((part) => (typeof part === 'object' ? part.entry : part));
    const found: Problem = { message, pointer: pointerOf(parts) };
    this.problems.push(hint === undefined ? found : { ...found, hint });
  }

  /** The present place as clients know it: `UpstreamConfig.Overrides[0].Name`, `Meta[a]`. */
  get place(): string {
    let text = '';
    for (const part of this.#path) {
      if (typeof part === 'number') text += `[${part}]`;
      else if (typeof part === 'object') text += `[${cut(part.entry, NAME_LENGTH_MAX)}]`;
      else text += (text === '' ? '' : '.') + cut(part, NAME_LENGTH_MAX);
    }
    return text;
  }
}

/** A member by name, a list item by position, a map entry by key. */
export type PathPart = string | number | { readonly entry: string };
