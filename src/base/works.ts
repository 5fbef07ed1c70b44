/**
 * Names for synchronous work that may be long. The event loop does one thing at a time, so long
 * work delays heartbeats. When it does, the log and the metrics say which work it was.
 */

/** The names, and what each work is. */
const WORKS = {
  apply: 'applying entries of the log',
  replica: 'a turn of the replica: Raft messages, ticks, writes',
  read: 'evaluating a read',
  authorizer: 'compiling the rights of a token',
  chain: 'compiling a discovery chain',
  list: 'deciding which items a list shows, and rendering them',
  explain: 'explaining rights, logins and decisions',
  set: 'comparing a set of objects with the state',
  lint: 'linting rules, objects or entries',
  login: 'judging a login',
  decode: 'parsing and decoding a body',
  send: 'encoding and sending an answer',
  snapshot: 'writing, checking or reading a snapshot',
  erase: 'erasing deleted secrets',
} as const;

export type Work = keyof typeof WORKS;

const NAMES = Object.keys(WORKS) as readonly Work[];
const NONE = -1;
/** The position of each name. */
const AT = Object.fromEntries(NAMES.map((name, at) => [name, at])) as Record<Work, number>;

/**
 * Milliseconds of each work since the last `takeSpent`. Typed arrays hold the times: each number
 * that is stored elsewhere takes memory of its own, and every read passes here.
 */
const spent = new Float64Array(NAMES.length);
/** When each work ended last. */
const ended = new Float64Array(NAMES.length).fill(Number.NEGATIVE_INFINITY);
/** When the current work began or resumed. */
const since = new Float64Array(1);
let current = NONE;

/**
 * Runs synchronous work under a name. Named work inside it counts for the inner name alone. What
 * runs after an `await` of `run` is not covered.
 */
export function named<T>(work: Work, run: () => T): T {
  const outer = current;
  const at = AT[work];
  const startedMs = performance.now();
  if (outer !== NONE) spent[outer]! += startedMs - since[0]!;
  current = at;
  since[0] = startedMs;
  try {
    return run();
  } finally {
    const endedMs = performance.now();
    spent[at]! += endedMs - since[0]!;
    ended[at] = endedMs;
    current = outer;
    since[0] = endedMs;
  }
}

/** Returns when entries of the log were applied last, by the clock of `performance.now`. */
export const lastAppliedMs = (): number => ended[AT.apply]!;

/** Returns the milliseconds that each work took since the last call. */
export function takeSpent(): Readonly<Record<Work, number>> {
  const taken = Object.fromEntries(NAMES.map((name, at) => [name, spent[at]!]));
  spent.fill(0);
  return taken as Record<Work, number>;
}
