/**
 * Is there an order of the operations, agreeing with real time, in which a plain register would have answered the same?
 * The search of Wing & Gong (1993) with the memory of Lowe (2017): depth first over the operations that may come next, never
 * visiting the same (set of operations done, content of the register) twice. Registers are independent, so each key is
 * checked alone (Herlihy & Wing, locality).
 */
import { describeOperation, type Operation, partOf, type Sweep, type Value } from './history.js';

export type Verdict =
  | { readonly result: 'linearizable'; readonly operations: number; readonly keys: number }
  | {
      readonly result: 'violation';
      readonly key: string;
      /** Operations of this key around the first one that no order can explain. */
      readonly explanation: readonly string[];
    }
  /** The search was too long: neither proved nor refuted. Never to be taken as a pass. */
  | { readonly result: 'undecided'; readonly key: string; readonly steps: number };

/** Bound of the search per key: about a second. */
const STEPS_MAX = 3_000_000;

/** Checks a whole history. A sweep counts as an operation of every register that is met anywhere. */
export function checkHistory(
  history: readonly Operation[],
  { sweeps = [], stepsMax = STEPS_MAX }: { sweeps?: readonly Sweep[]; stepsMax?: number } = {},
): Verdict {
  const byKey = new Map<string, Operation[]>();
  const effective = sweeps
    .filter((sweep) => saysSomething(sweep, sweep.type))
    .sort((a, b) => a.call - b.call);
  for (const { values } of effective)
    for (const key of values.keys()) if (!byKey.has(key)) byKey.set(key, []);
  for (const op of history) {
    if (!saysSomething(op, op.action.type)) continue;
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

/** What failed had no effect, and a read without an answer says nothing. */
const saysSomething = ({ outcome }: Pick<Operation, 'outcome'>, type: string): boolean =>
  outcome === 'ok' || (outcome === 'unknown' && type !== 'read');

/** The sweeps as operations of one register, but for those which found or left it empty before it was first used. */
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

/** The last moment at which it can have taken effect. */
const endOf = (op: Operation): number =>
  op.outcome === 'ok' ? op.return : (op.until ?? Number.POSITIVE_INFINITY);

/**
 * Leaves out writes of unknown outcome whose value nobody met: an order that holds them also holds without them, unless a
 * refused compare-and-set needs them as its reason. Each one kept would double the search.
 */
function withoutUnseen(operations: readonly Operation[]): Operation[] {
  const met = new Set<Value>();
  let lastRefusal = Number.NEGATIVE_INFINITY;
  for (const op of operations) {
    if (op.action.type === 'cas') met.add(op.action.expected);
    if (op.outcome !== 'ok') continue;
    if (op.action.type === 'read') met.add(op.seen ?? null);
    else if (op.matched === false) lastRefusal = Math.max(lastRefusal, op.return);
  }
  return operations.filter(
    (op) =>
      op.outcome === 'ok' ||
      op.action.type === 'read' ||
      met.has(op.action.value) ||
      op.call <= lastRefusal,
  );
}

/** What the register holds after the operation, or undefined if it could not have answered so. */
function after(state: Value, op: Operation): Value | undefined {
  const { action } = op;
  if (action.type === 'read') return op.seen === state ? state : undefined;
  if (action.type === 'write') return action.value;
  const matches = state === action.expected;
  if (op.outcome === 'ok' && op.matched !== matches) return undefined;
  return matches ? action.value : state;
}

/** A call or a return in the list of what is not yet placed in the order. */
interface Event {
  readonly operation: number;
  /** The return that belongs to a call; null for a return. */
  readonly match: Event | null;
  before: Event;
  next: Event | null;
}

function eventsOf(operations: readonly Operation[]): Event {
  const points: { time: number; isReturn: boolean; operation: number }[] = [];
  operations.forEach((op, operation) => {
    // what may never have taken effect has no moment by which it must be placed
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

/** Takes a call and its return out of the list. */
function lift(call: Event): void {
  call.before.next = call.next;
  if (call.next) call.next.before = call.before;
  const end = call.match!;
  end.before.next = end.next;
  if (end.next) end.next.before = end.before;
}
/** Puts them back; calls must be undone in reverse order of `lift`. */
function unlift(call: Event): void {
  const end = call.match!;
  end.before.next = end;
  if (end.next) end.next.before = end;
  call.before.next = call;
  if (call.next) call.next.before = call;
}

/** The operations placed so far. */
class Placed {
  private readonly words: Uint32Array;
  constructor(size: number) {
    this.words = new Uint32Array((size >> 5) + 1);
  }
  flip(operation: number): void {
    this.words[operation >> 5]! ^= 1 << (operation & 31);
  }
  /** The set as a short text: leading full words are counted, trailing empty ones left out. */
  key(): string {
    let low = 0;
    while (low < this.words.length && this.words[low] === 0xffffffff) low++;
    let high = this.words.length;
    while (high > low && this.words[high - 1] === 0) high--;
    let text = `${low}`;
    for (let i = low; i < high; i++) text += `,${this.words[i]!.toString(36)}`;
    return text;
  }
}

function checkRegister(
  key: string,
  unordered: readonly Operation[],
  stepsMax: number,
): Verdict | undefined {
  const operations = [...unordered].sort((a, b) => a.call - b.call);
  const head = eventsOf(operations);
  const placed = new Placed(operations.length);
  const visited = new Set<string>();
  const path: { call: Event; state: Value; latestCall: number }[] = [];
  let deepest: number[] = [];
  let state: Value = null;
  /** The latest call of all that is placed: what ended before it is too late now. */
  let latestCall = Number.NEGATIVE_INFINITY;
  let event = head.next;
  let steps = 0;
  let answered = operations.filter((op) => op.outcome === 'ok').length;
  while (answered > 0) {
    if (++steps > stepsMax) return { result: 'undecided', key, steps };
    if (event?.match) {
      const operation = operations[event.operation]!;
      const next: Value | undefined =
        endOf(operation) < latestCall ? undefined : after(state, operation);
      if (next !== undefined) {
        placed.flip(event.operation);
        const mark = `${placed.key()}|${next ?? '\u0000'}`;
        if (!visited.has(mark)) {
          visited.add(mark);
          path.push({ call: event, state, latestCall });
          latestCall = Math.max(latestCall, operation.call);
          state = next;
          answered -= Number(operation.outcome === 'ok');
          lift(event);
          event = head.next;
          continue;
        }
        placed.flip(event.operation);
      }
      event = event.next;
      continue;
    }
    // a return is reached: its operation must come earlier than what was tried, so undo one choice
    if (path.length > deepest.length) deepest = path.map((step) => step.call.operation);
    const undone = path.pop();
    if (!undone) return { result: 'violation', key, explanation: explain(operations, deepest) };
    ({ state, latestCall } = undone);
    answered += Number(operations[undone.call.operation]!.outcome === 'ok');
    placed.flip(undone.call.operation);
    unlift(undone.call);
    event = undone.call.next;
  }
  return undefined;
}

/** The end of the longest order found and what could not be added to it. */
function explain(operations: readonly Operation[], order: readonly number[]): string[] {
  const inOrder = new Set(order);
  const left = operations
    .filter((op, i) => !inOrder.has(i) && op.outcome === 'ok')
    .sort((a, b) => a.return - b.return);
  return [
    'the longest order that agrees with real time ends with:',
    ...order.slice(-8).map((i) => `  ${describeOperation(operations[i]!)}`),
    'none of the next can follow:',
    ...left.slice(0, 6).map((op) => `  ${describeOperation(op)}`),
  ];
}
