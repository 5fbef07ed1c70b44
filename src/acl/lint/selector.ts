/**
 * Lint of selectors. Its heart is the absent claim: a test of a claim that the identity does not
 * have may hold, so that a selector lets in whoever lacks the claim.
 */
import { ifMissing } from '../../languages/bexpr.js';
import type { Expression, Match } from '../../languages/bexpr.peggy.js';
import type { IdentityShape } from '../binding.js';
import type { Linting } from './findings.js';

/** A claim without which an identity is let in, though some value of it keeps others out. */
export interface AbsentClaim {
  /** `value.team`. */
  readonly claim: string;
  /** The offset of the first test of the claim. */
  readonly at: number;
  /** What to put before the selector: a test that the claim is there. */
  readonly presence: string;
}

/** What lint finds in a selector. */
export interface SelectorLint {
  /** The claims that are tested. */
  readonly tested: ReadonlySet<string>;
  readonly absent: readonly AbsentClaim[];
  /** The number of tests, if there are too many to judge absent claims. */
  readonly unjudged?: number;
  /** The offsets of regular expressions that are anchored at neither end. */
  readonly unanchored: readonly number[];
}

/**
 * Tests of a selector whose combinations are tried: 65,536 combinations, which are tried 32 at a
 * time.
 */
const TESTS_MAX = 16;

/** One test of a selector. Tests that are equal, or differ in a negation alone, are one. */
interface Test {
  readonly index: number;
  readonly match: Match;
  readonly claim: string;
  /** Whether its own value says that the claim is there. */
  readonly isPresence: boolean;
}

/** Lints a selector that the shape of its auth method accepts. */
export function* lintSelector(expression: Expression, shape: IdentityShape): Linting<SelectorLint> {
  const tests = new Map<string, Test>();
  const unanchored: number[] = [];
  for (const match of matchesOf(expression)) {
    if (match.op === 'matches' && !isAnchored(match.value)) unanchored.push(match.at);
    const key = keyOf(match);
    if (tests.has(key)) continue;
    const isPresence = match.op === 'in' && match.path.length === 1 && isMap(match, shape);
    const claim = [...match.path, ...(isPresence ? [match.value] : [])].join('.');
    tests.set(key, { index: tests.size, match, claim, isPresence });
  }
  const tested = new Set([...tests.values()].map(({ claim }) => claim));
  if (tests.size > TESTS_MAX) return { tested, absent: [], unjudged: tests.size, unanchored };
  const table = new TruthTable(expression, tests);
  const absent: AbsentClaim[] = [];
  for (const claim of tested) {
    const own = [...tests.values()].filter((test) => test.claim === claim);
    const { match } = own[0]!;
    if (!isMap(match, shape)) continue;
    if (table.letsInWithout(own)) {
      absent.push({ claim, at: match.at, presence: presenceOf(match, own[0]!.isPresence) });
    }
    yield;
  }
  return { tested, absent, unanchored };
}

/** Whether a test is of a map or of a key in it: other data is never absent. */
const isMap = ({ path }: Match, { selectable }: IdentityShape): boolean => {
  const root = selectable.kind === 'struct' ? selectable.fields[path[0]!] : undefined;
  return root?.kind === 'map';
};

/** Returns a test that holds if a claim, or the whole map, is there. */
function presenceOf({ path: [root = '', part], value }: Match, isPresence: boolean): string {
  const key = isPresence ? value : part;
  return key === undefined ? `${root} is not empty` : `${quoted(key)} in ${root}`;
}

/** Quotes a text for a selector. A quote cannot be escaped there, but written as its code. */
const quoted = (text: string): string =>
  `"${text.replace(/["\\\u0000-\u001f]/g, (letter) => `\\x${hex(letter)}`)}"`;
const hex = (letter: string): string => letter.charCodeAt(0).toString(16).padStart(2, '0');

function* matchesOf(expression: Expression): Iterable<Match> {
  if (expression.type === 'match') yield expression;
  else if (expression.type === 'not') yield* matchesOf(expression.term);
  else for (const term of expression.terms) yield* matchesOf(term);
}

/** A test and its negation are one: where the claim is there, they are opposites. */
const keyOf = ({ path, op, value }: Match): string => JSON.stringify([path, op, value]);

/** Combinations in one word. */
const WORD_BITS = 32;
/** The values of the first five variables in the combinations of one word. */
const PATTERNS = [0xaaaaaaaa, 0xcccccccc, 0xf0f0f0f0, 0xff00ff00, 0xffff0000];

/** Evaluates a selector for all combinations of its tests, one bit for each. */
class TruthTable {
  readonly #expression: Expression;
  readonly #tests: ReadonlyMap<string, Test>;
  readonly #words: number;
  readonly #all: Uint32Array;

  constructor(expression: Expression, tests: ReadonlyMap<string, Test>) {
    this.#expression = expression;
    this.#tests = tests;
    this.#words = Math.max(1, 2 ** tests.size / WORD_BITS);
    this.#all = this.#evaluate(expression, new Set());
  }

  /**
   * Whether there is an outcome of the tests of other claims with which an identity without the
   * claim of `own` is let in, and one with some value of it is not.
   */
  letsInWithout(own: readonly Test[]): boolean {
    const without = this.#evaluate(this.#expression, new Set(own));
    const with_ = own.filter(({ isPresence }) => isPresence).map((test) => this.#variable(test));
    return without.some((word, i) => {
      const present = with_.reduce((bits, values) => bits & values[i]!, ~0);
      return (word & ~this.#all[i]! & present) !== 0;
    });
  }

  /** Evaluates an expression where the claim of some tests is absent. */
  #evaluate(node: Expression, absent: ReadonlySet<Test>): Uint32Array {
    if (node.type === 'match') {
      const test = this.#tests.get(keyOf(node))!;
      if (absent.has(test)) return this.#filled(isTrueIfAbsent(node, test));
      const values = this.#variable(test);
      return node.negated ? inverted(values) : values;
    }
    if (node.type === 'not') return inverted(this.#evaluate(node.term, absent));
    const [first, ...rest] = node.terms;
    const result = this.#evaluate(first!, absent);
    for (const term of rest) {
      const values = this.#evaluate(term, absent);
      for (let i = 0; i < result.length; i++) {
        result[i] = node.type === 'and' ? result[i]! & values[i]! : result[i]! | values[i]!;
      }
    }
    return result;
  }

  #filled(value: boolean): Uint32Array {
    return new Uint32Array(this.#words).fill(value ? ~0 : 0);
  }

  #variable({ index }: Test): Uint32Array {
    const pattern = PATTERNS[index];
    if (pattern !== undefined) return new Uint32Array(this.#words).fill(pattern);
    const shift = index - PATTERNS.length;
    return Uint32Array.from({ length: this.#words }, (_, word) => ((word >> shift) & 1 ? ~0 : 0));
  }
}

/** Inverts values in place. */
function inverted(values: Uint32Array): Uint32Array {
  for (let i = 0; i < values.length; i++) values[i] = ~values[i]!;
  return values;
}

/**
 * The value of a test, as it is written, of a claim that is absent. Both `matches` and `not
 * matches` hold then.
 */
const isTrueIfAbsent = (match: Match, { isPresence }: Test): boolean =>
  isPresence ? match.negated : ifMissing(match);

/** Whether a regular expression is anchored at one end at least. */
function isAnchored(regex: string): boolean {
  const inside = regex.replace(/^(?:\(\?[\w-]+\)|\((?:\?(?:P?<\w+>|[\w-]*:))?)+/, '');
  if (/^(?:\^|\\A)/.test(inside)) return true;
  const [, escapes = ''] = /(\\*)(?:\$|\\z)\)*$/.exec(regex) ?? [undefined, '\\'];
  return escapes.length % 2 === 0;
}
