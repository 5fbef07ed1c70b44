/** The problems of an entry, and the refusal that reports them. */
import { type Refusal, refusal } from '../errors.js';

/** A problem. `pointer` is the JSON pointer (RFC 6901) of the field, `message` a sentence. */
export interface Problem {
  readonly pointer: string;
  readonly message: string;
  readonly hint?: string;
}

/** Yielded between problems before work that may take milliseconds, so that others can run. */
export const PAUSE: unique symbol = Symbol('pause');

/** Maximum number of problems that a message lists: a hostile body may have a hundred thousand. */
const SHOWN_MAX = 10;
/** Maximum number of characters of a message, which may quote long parts of the body. */
const MESSAGE_LENGTH_MAX = 600;
/** Maximum number of characters of a name from the body in a message. */
const NAME_LENGTH_MAX = 100;

const cut = (text: string, max: number): string =>
  text.length > max ? `${text.slice(0, max)}…` : text;

/** Builds a problem at a path, such as `problem('…', 'Sources', 0, 'Name')`. */
export function problem(message: string, ...path: readonly (string | number)[]): Problem {
  return { message, pointer: pointerOf(path) };
}

/** Returns the JSON pointer of a path. */
function pointerOf(path: readonly (string | number)[]): string {
  let pointer = '';
  for (const part of path) {
    pointer += `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`;
  }
  return pointer;
}

/** Builds one refusal: the sentence of the only problem, or `2 errors occurred: …; …`. */
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

/** Collects the problems of a body while it is decoded, and tracks the position of the decoder. */
export class Report {
  readonly problems: Problem[] = [];
  count = 0;
  readonly #path: PathPart[] = [];

  /** Runs `body` one level deeper. `body` must not throw. */
  within<T>(part: PathPart, body: () => T): T {
    this.#path.push(part);
    const result = body();
    this.#path.pop();
    return result;
  }

  /** The nesting depth of the decoder. */
  get depth(): number {
    return this.#path.length;
  }

  /** Whether no further problem will be shown, so that computing suggestions is a waste. */
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

  /**
   * The current position in the form of messages: `UpstreamConfig.Overrides[0].Name`, `Meta[a]`.
   */
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

/** A step into a body: a member by name, a list item by position or a map entry by key. */
export type PathPart = string | number | { readonly entry: string };
