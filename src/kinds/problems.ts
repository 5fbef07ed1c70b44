/** The problems of an entry, and the refusal that reports them. */
import { type Refusal, refusal } from '../base/errors.js';
import {
  type Fault,
  jsonKind,
  type Members,
  type PathPart,
  type Report as TypeReport,
} from '../languages/fields.js';
import { pointerOf } from '../languages/pointers.js';
import { CASE_HINT } from '../languages/respell.js';
import { nearestOf } from '../languages/suggest.js';
import { EXPECTED, kindInWords } from '../languages/words.js';

/** A problem. `pointer` is the JSON pointer (RFC 6901) of the field, `message` a sentence. */
export interface Problem {
  readonly pointer: string;
  readonly message: string;
  readonly hint?: string;
  /** What was expected, and what was found instead, for a value of the wrong type or size. */
  readonly expected?: string;
  readonly got?: string;
  /** The member is none of the kind, or is given twice. */
  readonly isUnknown?: true;
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

/**
 * Collects the problems of an entry while it is decoded, and words them. Members may be spelled in
 * several ways.
 */
export class Report implements TypeReport {
  readonly problems: Problem[] = [];
  count = 0;
  readonly #path: PathPart[] = [];
  readonly #max: number;

  /** `max`: how many problems are kept. */
  constructor(max = SHOWN_MAX) {
    this.#max = max;
  }

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
    return this.problems.length >= this.#max;
  }

  fault(fault: Fault): void {
    this.add(sentenceOf(fault, this.place), undefined, foundIn(fault));
  }

  members(
    input: Record<string, unknown>,
    { names, spellings }: Members,
    take: (name: string, key: string, value: unknown) => void,
  ): void {
    const given = givenMembers(input, spellings, this);
    let left = given.size;
    for (const name of names) {
      if (left === 0) return;
      const member = given.get(name);
      if (member === undefined) continue;
      left -= 1;
      take(name, member.key, member.input);
    }
  }

  add(message: string, hint?: string, more: Partial<Problem> = {}): void {
    this.count += 1;
    if (this.full) return;
    const parts = this.#path.map((part) => (typeof part === 'object' ? part.entry : part));
    const found: Problem = { message, pointer: pointerOf(parts), ...more };
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

/** Returns what a fault expected and found. */
function foundIn(fault: Fault): Partial<Problem> {
  if (fault.is === 'duration') return { expected: EXPECTED.duration };
  if (fault.is === 'type')
    return { expected: EXPECTED[fault.expected.is], got: kindInWords(fault.input) };
  return { expected: `at most ${fault.max} ${fault.of}`, got: String(fault.count) };
}

/** Words a fault of the value at a place. */
function sentenceOf(fault: Fault, place: string): string {
  if (fault.is === 'duration') return `error decoding '${place}': ${fault.message}`;
  if (fault.is === 'size') {
    return `'${place}' has ${fault.count} ${fault.of}, at most ${fault.max} are allowed`;
  }
  const { expected, input } = fault;
  const got = `got '${jsonKind(input)}'`;
  switch (expected.is) {
    case 'text':
      return `'${place}' expected type 'string', ${got}`;
    case 'whole': {
      const word = expected.min === 0 ? 'uint' : 'int';
      const range = ` from ${expected.min} to ${expected.max}`;
      return `cannot parse '${place}' as ${word}: expected a whole number${range}`;
    }
    case 'fraction':
      return `cannot parse '${place}' as float: expected a number`;
    case 'boolean':
      return `cannot parse '${place}' as bool: expected true or false`;
    case 'duration':
      return (
        `'${place}' expected a duration, ${got}: ` +
        'write text with a unit, such as "10s", or whole nanoseconds'
      );
    case 'time':
      return `cannot parse '${place}' as time: expected RFC 3339 text`;
    case 'list':
    case 'links':
      return `'${place}' expected a list, ${got}`;
    default:
      return `'${place}' expected a map, ${got}`;
  }
}

/**
 * Returns the members of a decoded object by name. `spellings` maps every accepted spelling to its
 * name. Reports unknown members and members that are given twice.
 */
function givenMembers(
  input: Record<string, unknown>,
  spellings: ReadonlyMap<string, string>,
  report: Report,
): Map<string, { key: string; input: unknown }> {
  const values = new Map<string, { key: string; input: unknown }>();
  for (const key of Object.keys(input)) {
    const name = spellings.get(key);
    const before = name === undefined ? undefined : values.get(name);
    if (name === undefined && isDefaultPartition(key, input[key])) continue;
    if ((name === undefined || before !== undefined) && report.full) {
      report.count += 1;
    } else if (name === undefined || before !== undefined) {
      report.within(key, () => unknownKey(key, before?.key, spellings, report));
    } else if (input[key] !== null) {
      values.set(name, { key, input: input[key] });
    }
  }
  return values;
}

/** Clients of other editions send the default partition with any object. It has no effect. */
const isDefaultPartition = (key: string, value: unknown): boolean =>
  (key === 'Partition' || key === 'partition') &&
  (value === 'default' || value === '' || value === null);

const EDITION_HINTS: readonly (readonly [RegExp, string])[] = [
  [/jwt/i, ', api-gateway jwt validation is a member of Default, Override and Filters alone'],
  [/partition$/i, ', partitions are a feature that this server does not have'],
  [
    /samenessgroup$|sameness_group$/i,
    ', sameness groups are a feature that this server does not have',
  ],
  [/namespace$/i, ', the parameter "ns" of the request chooses the namespace'],
];

function unknownKey(
  key: string,
  twin: string | undefined,
  spellings: ReadonlyMap<string, string>,
  report: Report,
): void {
  const edition = EDITION_HINTS.find(([pattern]) => pattern.test(key))?.[1];
  let why = '';
  if (twin !== undefined) why = `: the field is already given as "${twin}"`;
  else if (edition !== undefined) why = edition;
  const spelled = why === '' ? (nearestOf(key, [...spellings.keys()]) ?? '') : '';
  const near = spellings.get(spelled);
  const hint = near === undefined ? undefined : `did you mean "${near}"?`;
  const isCase = hint !== undefined && spelled.toLowerCase() === key.toLowerCase();
  const words = isCase ? [hint, CASE_HINT].join(' ') : hint;
  const message = `invalid config key ${JSON.stringify(report.place)}${why}`;
  report.add(message, words, { isUnknown: true });
}
