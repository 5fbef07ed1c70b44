/**
 * Checks linearizability: is there an order of the operations that agrees with real time and in
 * which a plain register returns the same results? The search is that of Wing & Gong (1993) with
 * the cache of Lowe (2017): depth first over the operations that may come next, and never twice
 * from the same set of placed operations with the same content. Each register is checked alone
 * (locality, Herlihy & Wing 1990). Values identify their writers, which prunes most choices
 * (Gibbons & Korach 1997): a value is not overwritten while an operation still needs it and none
 * can write it again, and an operation that changes nothing is placed as soon as it fits.
 */
import { describeOperation, type Operation, partOf, type Sweep, type Value } from './history.js';

/** The result of a check. */
export type Verdict =
  | { readonly result: 'linearizable'; readonly operations: number; readonly keys: number }
  | {
      readonly result: 'violation';
      readonly key: string;
      /** Operations of this key around the first one that no order can explain. */
      readonly explanation: readonly string[];
    }
  /** The search exceeded its bound and proved nothing. It is not a pass. */
  | { readonly result: 'undecided'; readonly key: string; readonly steps: number };

/** Maximum number of steps of the search per key: about one second. */
const STEPS_MAX = 3_000_000;

/** Checks a history. A sweep counts as an operation on every register of the history. */
export function checkHistory(
  history: readonly Operation[],
  { sweeps = [], stepsMax = STEPS_MAX }: { sweeps?: readonly Sweep[]; stepsMax?: number } = {},
): Verdict {
  const byKey = new Map<string, Operation[]>();
  const effective = sweeps
    .filter((sweep) => isRelevant(sweep, sweep.type))
    .sort((a, b) => a.call - b.call);
  for (const { values } of effective)
    for (const key of values.keys()) if (!byKey.has(key)) byKey.set(key, []);
  for (const op of history) {
    if (!isRelevant(op, op.action.type)) continue;
    const list = byKey.get(op.key);
    if (list) list.push(op);
    else byKey.set(op.key, [op]);
  }
  let operations = 0;
  for (const [key, own] of byKey) {
    const relevant = withoutUnseen([...own, ...partsOf(effective, key, own)]);
    operations += relevant.length;
    const verdict = checkRegister(key, relevant, stepsMax);
    if (verdict) return verdict;
  }
  return { result: 'linearizable', operations, keys: byKey.size };
}

/** Whether the check needs the operation: not if it failed, or is a read without a result. */
const isRelevant = ({ outcome }: Pick<Operation, 'outcome'>, type: string): boolean =>
  outcome === 'ok' || (outcome === 'unknown' && type !== 'read');

/** Returns the sweeps on one register, without those that find or leave it empty before its use. */
function partsOf(sweeps: readonly Sweep[], key: string, own: readonly Operation[]): Operation[] {
  const used = own.reduce((first, op) => Math.min(first, op.call), Number.POSITIVE_INFINITY);
  const parts: Operation[] = [];
  let isEmpty = true;
  for (const sweep of sweeps) {
    const part = partOf(sweep, key);
    isEmpty &&= endOf(part) < used && !sweep.values.has(key);
    if (!isEmpty) parts.push(part);
  }
  return parts;
}

/** Returns the last time at which an operation can have taken effect. */
const endOf = (op: Operation): number =>
  op.outcome === 'ok' ? op.return : (op.until ?? Number.POSITIVE_INFINITY);

/**
 * Removes writes of unknown outcome whose value no operation needs: an order with them is valid
 * without them too, unless one is the reason of a refused compare-and-set. Each widens the search.
 */
function withoutUnseen(operations: readonly Operation[]): Operation[] {
  const needed = neededValues(operations);
  const lastRefusal = operations.reduce(
    (last, op) => (isRefusal(op) ? Math.max(last, op.return) : last),
    Number.NEGATIVE_INFINITY,
  );
  return operations.filter(
    ({ outcome, action, call }) =>
      outcome === 'ok' || action.type === 'read' || needed.has(action.value) || call <= lastRefusal,
  );
}

/**
 * Returns the values that the register must have had: those read or matched, and what led to them.
 */
function neededValues(operations: readonly Operation[]): Set<Value> {
  const needed = new Set<Value>();
  for (const op of operations) {
    const value = valueNeeded(op);
    if (value !== undefined) needed.add(value);
  }
  for (let known = -1; known !== needed.size; ) {
    known = needed.size;
    for (const { outcome, action } of operations)
      if (outcome === 'unknown' && action.type === 'cas' && needed.has(action.value))
        needed.add(action.expected);
  }
  return needed;
}

/** Returns the value that explains the result of an operation. */
function valueNeeded({ outcome, action, seen, matched }: Operation): Value | undefined {
  if (outcome !== 'ok') return undefined;
  if (action.type === 'read') return seen ?? null;
  return action.type === 'cas' && matched === true ? action.expected : undefined;
}

const isRefusal = ({ outcome, action, matched }: Operation): boolean =>
  outcome === 'ok' && action.type === 'cas' && matched === false;

/** Returns the content after an operation; undefined if its result is impossible in this state. */
function after(state: Value, op: Operation): Value | undefined {
  const { action } = op;
  if (action.type === 'read') return op.seen === state ? state : undefined;
  if (action.type === 'write') return action.value;
  const matches = state === action.expected;
  if (op.outcome === 'ok' && op.matched !== matches) return undefined;
  return matches ? action.value : state;
}

/** A call or return in the list of operations that are not placed in the order yet. */
interface Event {
  readonly operation: number;
  /** The return of a call; null for a return. */
  readonly match: Event | null;
  before: Event;
  next: Event | null;
}

function eventsOf(operations: readonly Operation[]): Event {
  const points: { time: number; isReturn: boolean; operation: number }[] = [];
  operations.forEach((op, operation) => {
    // An operation of unknown outcome need not be placed.
    const end = op.outcome === 'ok' ? op.return : Number.POSITIVE_INFINITY;
    points.push({ time: op.call, isReturn: false, operation });
    points.push({ time: end, isReturn: true, operation });
  });
  points.sort((a, b) => a.time - b.time || Number(a.isReturn) - Number(b.isReturn) || 0);
  const head = { operation: -1, match: null, next: null } as unknown as Event;
  const returns = new Map<number, Event>();
  for (const point of points)
    if (point.isReturn)
      returns.set(point.operation, {
        operation: point.operation,
        match: null,
        before: head,
        next: null,
      });
  let last = head;
  for (const { isReturn, operation } of points) {
    const end = returns.get(operation)!;
    const event = isReturn ? end : { operation, match: end, before: last, next: null };
    event.before = last;
    last.next = event;
    last = event;
  }
  return head;
}

/** Removes a call and its return from the list. */
function lift(call: Event): void {
  call.before.next = call.next;
  if (call.next) call.next.before = call.before;
  const end = call.match!;
  end.before.next = end.next;
  if (end.next) end.next.before = end.before;
}
/** Undoes `lift`. Calls must be put back in reverse order. */
function unlift(call: Event): void {
  const end = call.match!;
  end.before.next = end;
  if (end.next) end.next.before = end;
  call.before.next = call;
  if (call.next) call.next.before = call;
}

/** The operations placed so far. */
class Placed {
  readonly #words: Uint32Array;
  constructor(size: number) {
    this.#words = new Uint32Array((size >> 5) + 1);
  }
  flip(operation: number): void {
    this.#words[operation >> 5]! ^= 1 << (operation & 31);
  }
  /** The set as a short text: counts the leading full words and omits the trailing empty ones. */
  key(): string {
    let low = 0;
    while (low < this.#words.length && this.#words[low] === 0xffffffff) low++;
    let high = this.#words.length;
    while (high > low && this.#words[high - 1] === 0) high--;
    let text = `${low}`;
    for (let i = low; i < high; i++) text += `,${this.#words[i]!.toString(36)}`;
    return text;
  }
}

/** A count for each value. */
class Tally {
  readonly #counts = new Map<Value, number>();
  constructor(values: Iterable<Value | undefined>) {
    for (const value of values) if (value !== undefined) this.add(value, 1);
  }
  of(value: Value): number {
    return this.#counts.get(value) ?? 0;
  }
  add(value: Value, by: 1 | -1): void {
    this.#counts.set(value, this.of(value) + by);
  }
}

interface Step {
  readonly call: Event;
  /** The content and the latest call before it. */
  readonly state: Value;
  readonly latestCall: number;
  /** Whether it was placed by #force, so that there is no alternative to try. */
  readonly isForced: boolean;
}

/** The search over one register. */
class Search {
  readonly #operations: readonly Operation[];
  readonly #head: Event;
  readonly #placed: Placed;
  readonly #visited = new Set<string>();
  readonly #path: Step[] = [];
  /**
   * Operations not placed yet, by value: those that need it, those that may write it, and the
   * compare-and-sets that were refused because the register had another one.
   */
  readonly #needs: Tally;
  readonly #writers: Tally;
  readonly #refusals: Tally;
  /**
   * Writes of unknown outcome whose values no operation names. They are interchangeable, so they
   * are placed in order, and only where a refusal needs one.
   */
  readonly #spare: ReadonlyMap<number, number>;
  #spareUsed = 0;
  #state: Value = null;
  /** The latest call of the placed operations. An operation that ended before it is too late. */
  #latestCall = Number.NEGATIVE_INFINITY;
  /** The number of operations with a result that are not placed. */
  #answered: number;
  #deepest: number[] = [];

  constructor(operations: readonly Operation[]) {
    this.#operations = operations;
    this.#head = eventsOf(operations);
    this.#placed = new Placed(operations.length);
    this.#needs = new Tally(operations.map(valueNeeded));
    this.#writers = new Tally(operations.map(valueWritten));
    this.#refusals = new Tally(operations.map(valueRefused));
    const named = new Set<Value>(operations.map(valueNeeded).filter((each) => each !== undefined));
    for (const { action } of operations) if (action.type === 'cas') named.add(action.expected);
    const spare = [...operations.keys()].filter((i) => isSpare(operations[i]!, named));
    this.#spare = new Map(spare.map((operation, order) => [operation, order]));
    this.#answered = operations.filter((op) => op.outcome === 'ok').length;
  }

  /** Returns an `explanation` if no order exists, and `steps` if the search was aborted. */
  run(stepsMax: number): { explanation: readonly string[] } | { steps: number } | undefined {
    this.#force();
    let event = this.#head.next;
    for (let steps = 0; this.#answered > 0; steps++) {
      if (steps > stepsMax) return { steps };
      if (event?.match) {
        if (this.#tryNext(event)) {
          this.#force();
          event = this.#head.next;
        } else event = event.next;
        continue;
      }
      // At a return, its operation must be placed before what was tried: undo one choice.
      if (this.#path.length > this.#deepest.length)
        this.#deepest = this.#path.map((step) => step.call.operation);
      const undone = this.#undoChoice();
      if (!undone) return { explanation: explain(this.#operations, this.#deepest) };
      event = undone.next;
    }
    return undefined;
  }

  /**
   * Places every operation that fits and changes nothing. A valid order that has it later is also
   * valid with it here, unless a write of unknown outcome would then be too late.
   */
  #force(): void {
    let edge = Number.POSITIVE_INFINITY;
    for (let event = this.#head.next; event?.match; event = event.next) {
      const op = this.#operations[event.operation]!;
      if (op.outcome !== 'ok') {
        const end = endOf(op);
        if (end >= this.#latestCall) edge = Math.min(edge, end);
      } else if (op.call <= edge && isIdle(op) && after(this.#state, op) !== undefined)
        this.#place(event, this.#state, true);
    }
  }

  /** Places an operation if it may come next and this was not tried before. */
  #tryNext(event: Event): boolean {
    const op = this.#operations[event.operation]!;
    if (endOf(op) < this.#latestCall) return false;
    const next = after(this.#state, op);
    if (next === undefined || !this.#isUseful(event.operation, op, next)) return false;
    this.#placed.flip(event.operation);
    const mark = `${this.#placed.key()}|${next ?? '\u0000'}`;
    this.#placed.flip(event.operation);
    if (this.#visited.has(mark)) return false;
    this.#visited.add(mark);
    this.#place(event, next, false);
    return true;
  }

  /** Whether this step can lead to an order, by quick checks. */
  #isUseful(operation: number, op: Operation, next: Value): boolean {
    const state = this.#state;
    if (next === state) return op.outcome === 'ok';
    // An operation that still needs the current value could not find it again.
    const waiting = this.#needs.of(state) - Number(valueNeeded(op) === state);
    if (waiting > 0 && this.#writers.of(state) === 0) return false;
    const order = this.#spare.get(operation);
    return order === undefined || (order === this.#spareUsed && this.#refusals.of(state) > 0);
  }

  #place(event: Event, next: Value, isForced: boolean): void {
    const { call } = this.#count(event.operation, -1);
    this.#path.push({ call: event, state: this.#state, latestCall: this.#latestCall, isForced });
    this.#latestCall = Math.max(this.#latestCall, call);
    this.#state = next;
    lift(event);
  }

  /** Undoes the last choice and what it forced. Returns its call; undefined if there was none. */
  #undoChoice(): Event | undefined {
    for (let step = this.#path.pop(); step; step = this.#path.pop()) {
      this.#count(step.call.operation, 1);
      this.#state = step.state;
      this.#latestCall = step.latestCall;
      unlift(step.call);
      if (!step.isForced) return step.call;
    }
    return undefined;
  }

  /** Updates the counts when an operation is placed (-1) or removed (1). */
  #count(operation: number, by: 1 | -1): Operation {
    const op = this.#operations[operation]!;
    this.#placed.flip(operation);
    if (this.#spare.has(operation)) this.#spareUsed -= by;
    if (op.outcome === 'ok') this.#answered += by;
    const [needed, written, refused] = [valueNeeded(op), valueWritten(op), valueRefused(op)];
    if (needed !== undefined) this.#needs.add(needed, by);
    if (written !== undefined) this.#writers.add(written, by);
    if (refused !== undefined) this.#refusals.add(refused, by);
    return op;
  }
}

/** Returns the value that an operation may write. */
const valueWritten = (op: Operation): Value | undefined =>
  op.action.type === 'read' || isRefusal(op) ? undefined : op.action.value;

/** Returns the value that the register did not contain, for a refused compare-and-set. */
const valueRefused = (op: Operation): Value | undefined =>
  op.action.type === 'cas' && isRefusal(op) ? op.action.expected : undefined;

/** Whether an operation does not change the register. */
const isIdle = (op: Operation): boolean => op.action.type === 'read' || isRefusal(op);

const isSpare = (op: Operation, named: ReadonlySet<Value>): boolean =>
  op.action.type === 'write' &&
  endOf(op) === Number.POSITIVE_INFINITY &&
  !named.has(op.action.value);

function checkRegister(
  key: string,
  unordered: readonly Operation[],
  stepsMax: number,
): Verdict | undefined {
  const operations = [...unordered].sort((a, b) => a.call - b.call);
  const found = new Search(operations).run(stepsMax);
  if (!found) return undefined;
  return 'steps' in found
    ? { result: 'undecided', key, steps: found.steps }
    : { result: 'violation', key, explanation: found.explanation };
}

/** Describes the end of the longest order found and the operations that cannot follow it. */
function explain(operations: readonly Operation[], order: readonly number[]): string[] {
  const inOrder = new Set(order);
  const left = operations
    .filter((op, i) => !inOrder.has(i) && op.outcome === 'ok')
    .sort((a, b) => a.return - b.return);
  return [
    'the longest order that agrees with real time ends with:',
    ...order.slice(-8).map((i) => `  ${describeOperation(operations[i]!)}`),
    'none of these can follow:',
    ...left.slice(0, 6).map((op) => `  ${describeOperation(op)}`),
  ];
}
