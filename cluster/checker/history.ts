/** The history of clients, which the linearizability checker reads: one object per operation. */

/** The content of a register; null if its key does not exist. */
export type Value = string | null;

/** What an operation does to a register. */
export type Action =
  | { readonly type: 'read' }
  | { readonly type: 'write'; readonly value: Value }
  /** Compare-and-set: writes `value` if the register contains `expected`. */
  | { readonly type: 'cas'; readonly expected: Value; readonly value: Value };

/**
 * The outcome of an operation. `ok`: it took effect and returned `seen` or `matched`. `fail`: it
 * had no effect; the checker ignores it. `unknown`: it took effect at some time after its call, or
 * never.
 */
export type Outcome = 'ok' | 'fail' | 'unknown';

/** An operation of a client on one register. */
export interface Operation {
  readonly client: string;
  readonly key: string;
  readonly action: Action;
  /** Times of one clock, in any unit. Operations that share an instant count as concurrent. */
  readonly call: number;
  /** Read only if the outcome is `ok`. */
  readonly return: number;
  readonly outcome: Outcome;
  /** The time until which an operation of unknown outcome can take effect; forever if absent. */
  readonly until?: number;
  /** The value that a read returned. */
  readonly seen?: Value;
  /** Whether a compare-and-set found the expected value. */
  readonly matched?: boolean;
}

/** An operation that reads or writes all registers at once: a snapshot or a restore. */
export interface Sweep extends Pick<Operation, 'client' | 'call' | 'return' | 'until'> {
  readonly type: 'read' | 'write';
  readonly outcome: Outcome;
  /** The values read or written; null for every register that is absent. */
  readonly values: ReadonlyMap<string, Value>;
}

/** Returns the part of a sweep that concerns one register. */
export function partOf({ type, values, ...sweep }: Sweep, key: string): Operation {
  const value = values.get(key) ?? null;
  return type === 'read'
    ? { ...sweep, key, action: { type }, seen: value }
    : { ...sweep, key, action: { type, value } };
}

/** Describes an operation in one line, for reports. */
export function describeOperation(op: Operation): string {
  const { action } = op;
  let what: string;
  if (action.type === 'read') {
    what = `read -> ${op.outcome === 'ok' ? op.seen : '?'}`;
  } else if (action.type === 'write') {
    what = `write ${action.value}`;
  } else {
    const result = op.matched ? ' (matched)' : ' (refused)';
    what = `cas ${action.expected} -> ${action.value}${op.outcome === 'ok' ? result : ''}`;
  }
  const until = op.outcome === 'ok' ? op.return.toFixed(1) : op.outcome;
  return `[${op.call.toFixed(1)}, ${until}] ${op.client} ${op.key}: ${what}`;
}
