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
const noTime = () => Object.fromEntries(NAMES.map((name) => [name, 0])) as Record<Work, number>;

/** Milliseconds of each work since the last `takeSpent`. */
let spent = noTime();
/** When entries of the log were applied last. */
let appliedMs = Number.NEGATIVE_INFINITY;
let current: Work | undefined;
/** When `current` began or resumed. */
let sinceMs = 0;

/**
 * Runs synchronous work under a name. Named work inside it counts for the inner name alone. What
 * runs after an `await` of `run` is not covered.
 */
export function named<T>(work: Work, run: () => T): T {
  const outer = current;
  const startedMs = performance.now();
  if (outer !== undefined) spent[outer] += startedMs - sinceMs;
  current = work;
  sinceMs = startedMs;
  try {
    return run();
  } finally {
    const endedMs = performance.now();
    spent[work] += endedMs - sinceMs;
    if (work === 'apply') appliedMs = endedMs;
    current = outer;
    sinceMs = endedMs;
  }
}

/** Returns when entries of the log were applied last, by the clock of `performance.now`. */
export const lastAppliedMs = (): number => appliedMs;

/** Returns the milliseconds that each work took since the last call. */
export function takeSpent(): Readonly<Record<Work, number>> {
  const taken = spent;
  spent = noTime();
  return taken;
}
