/**
 * What clients saw: the input of the linearizability checker. Plain data, one object per operation.
 */

/** A register's content; null: no such key. */
export type Value = string | null;

export type Action =
  | { readonly type: 'read' }
  | { readonly type: 'write'; readonly value: Value }
  /** Writes `value` if the register holds `expected`. */
  | { readonly type: 'cas'; readonly expected: Value; readonly value: Value };

/**
 * `ok`: it took effect and `seen` / `matched` is what it answered. `fail`: it certainly took no
 * effect (it is left out of the check). `unknown`: it may have taken effect at any time after its
 * call, or never.
 */
export type Outcome = 'ok' | 'fail' | 'unknown';

export interface Operation {
  readonly client: string;
  readonly key: string;
  readonly action: Action;
  /**
   * Times of one common clock, any unit. Operations that touch at one instant count as concurrent.
   */
  readonly call: number;
  /** Ignored unless the outcome is ok. */
  readonly return: number;
  readonly outcome: Outcome;
  /** Of an unknown outcome: after this it can no longer take effect. Forever, if not given. */
  readonly until?: number;
  /** What a read with outcome ok answered. */
  readonly seen?: Value;
  /** Whether a compare-and-set with outcome ok found what it expected. */
  readonly matched?: boolean;
}

/** One operation on all registers at once: all are read, or all are written. */
export interface Sweep extends Pick<Operation, 'client' | 'call' | 'return' | 'until'> {
  readonly type: 'read' | 'write';
  readonly outcome: Outcome;
  /** What it saw or wrote; null in every register that is not named. */
  readonly values: ReadonlyMap<string, Value>;
}

/** What a sweep was for one register. */
export function partOf({ type, values, ...sweep }: Sweep, key: string): Operation {
  const value = values.get(key) ?? null;
  return type === 'read'
    ? { ...sweep, key, action: { type }, seen: value }
    : { ...sweep, key, action: { type, value } };
}

/** One line for reports. */
export function describeOperation(op: Operation): string {
  const { action } = op;
  const what =
    action.type === 'read'
      ? `read -> ${op.outcome === 'ok' ? op.seen : '?'}`
      : action.type === 'write'
        ? `write ${action.value}`
        : `cas ${action.expected} -> ${action.value}${op.outcome === 'ok' ? (op.matched ? ' (matched)' : ' (refused)') : ''}`;
  const until = op.outcome === 'ok' ? op.return.toFixed(1) : op.outcome;
  return `[${op.call.toFixed(1)}, ${until}] ${op.client} ${op.key}: ${what}`;
}
