/**
 * `apply --in-parts`: a set that one entry cannot take is applied in the parts of its plan, one
 * after the other; one that a plan cannot take, in chunks that are planned one after the other.
 */
import type { SetDelete, SetItem } from '../../api/endpoints/sets.js';
import { KIND_ORDER } from '../../api/kind-order.js';
import type { Call } from '../cli.js';
import {
  deletionOf,
  type Exported,
  keyOf,
  type ReadSet,
  refOfItem,
  type WholeSet,
} from '../files/sets.js';
import { CliError, interruption, misused } from '../print/error.js';
import type { Plan, PlannedChange } from '../print/plan-view.js';
import {
  type Applied,
  type ApplyOptions,
  ITEMS_MAX,
  isAgreed,
  planOf,
  sent,
  sizeOf,
  tellApplied,
} from './apply-set.js';

/** The most bytes of a plan: the default of the server's `limits.planBytes`. */
const PLAN_BYTES = 8 * 1024 * 1024;
/** The most bytes of objects in it: the rest is for assertions and settings. */
const BYTES_MAX = PLAN_BYTES - 256 * 1024;

/** Which objects and deletes of a set are meant, by their places in it. */
interface Picked {
  readonly Objects: readonly number[];
  readonly Delete: readonly number[];
}

/** Returns a part of a set, whose problems have the places that they have in the whole. */
function subset(set: ReadSet, picked: Picked, more: Partial<WholeSet>): ReadSet {
  const { Objects, Delete } = set.body;
  const { Owner, TakeOver, Reason } = set.body;
  return {
    body: {
      ...(Owner !== undefined && { Owner }),
      ...(TakeOver !== undefined && { TakeOver }),
      ...(Reason !== undefined && { Reason }),
      Objects: picked.Objects.map((at) => Objects[at]!),
      Assert: [],
      ...more,
      Delete: [...picked.Delete.map((at) => Delete[at]!), ...(more.Delete ?? [])],
    },
    placeOf({ Ref, Pointer = '' }) {
      const about = Ref === undefined ? {} : { Ref };
      const [, list, at, below] = /^\/(Objects|Delete)\/(\d+)(.*)$/s.exec(Pointer) ?? [];
      if (list === undefined) return set.placeOf({ ...about, Pointer });
      const whole = picked[list as keyof Picked][Number(at)];
      return whole === undefined
        ? set.placeOf(about)
        : set.placeOf({ ...about, Pointer: `/${list}/${whole}${below}` });
    },
  };
}

const doomedBy = ({ ID, Name, Namespace, Type }: PlannedChange): SetDelete => ({
  Type,
  ...(Namespace !== undefined && Type !== 'namespace' && { Namespace }),
  ...(ID !== undefined && Type === 'binding-rule' ? { ID } : { Name }),
});

/** Returns the Refs and IDs by which a change can name an item. */
const namesOf = (item: SetItem | SetDelete, namespace: string | undefined): string[] => {
  const { Type } = item;
  const { ID } = 'Object' in item ? (item.Object as { ID?: string }) : item;
  return [keyOf(refOfItem(item, namespace)), ...(ID === undefined ? [] : [`${Type} ${ID}`])];
};

/** Returns the sets of which a plan says that each fits one entry. */
export function partSets(set: ReadSet, plan: Plan, namespace?: string): readonly ReadSet[] {
  const byName = (items: readonly (SetItem | SetDelete)[]): Map<string, number> =>
    new Map(items.flatMap((item, at) => namesOf(item, namespace).map((name) => [name, at])));
  const items = byName(set.body.Objects);
  const deletes = byName(set.body.Delete);
  const at = (found: Map<string, number>, { ID, Ref, Type }: PlannedChange): number | undefined =>
    found.get(keyOf(Ref)) ?? found.get(`${Type} ${ID}`);
  return plan.Parts.map((refs, number) => {
    const held = new Set(refs);
    // An object that is deleted may hand its name, and so its Ref, on to another.
    const part = plan.Changes.filter(({ Ref }) => held.has(Ref));
    const made = part.filter(({ Action }) => Action !== 'delete');
    const doomed = part.filter(({ Action }) => Action === 'delete');
    const missing = made.find((change) => at(items, change) === undefined);
    if (missing !== undefined)
      throw new CliError(`the plan names ${missing.Ref}, which is not in the set`);
    const known = new Map(doomed.map((change) => [change, at(deletes, change)]));
    const picked = {
      Objects: made.map((change) => at(items, change)!),
      Delete: [...known.values()].filter((one) => one !== undefined),
    };
    const pruned = doomed.filter((change) => known.get(change) === undefined);
    const isLast = number === plan.Parts.length - 1;
    const expected = refs.filter((ref) => plan.Expected[ref] !== undefined);
    return subset(set, picked, {
      Delete: pruned.map(doomedBy),
      Assert: isLast ? set.body.Assert : [],
      Expected: Object.fromEntries(expected.map((ref) => [ref, plan.Expected[ref]!])),
    });
  });
}

/** Returns where an object stands in the order in which objects can be made. */
function rankOf(item: SetItem | SetDelete): number {
  const { Namespace = 'default', Type } = item;
  const isDefault = Namespace === 'default';
  if (Type === 'policy') return isDefault ? 0 : 3;
  if (Type === 'role') return isDefault ? 1 : 4;
  const rank = { namespace: 2, 'auth-method': 5, 'binding-rule': 6, token: 7 }[Type];
  if (rank !== undefined) return rank;
  const [, , kind = ''] = refOfItem(item).split('/');
  return 8 + ((KIND_ORDER as readonly string[]).indexOf(kind) + 1) / (KIND_ORDER.length + 1);
}

/** Returns what a set expects of the versions of some items; nothing if it expects nothing. */
function expectedOf(
  { Expected }: WholeSet,
  items: readonly (SetItem | SetDelete)[],
  namespace: string | undefined,
): { readonly Expected?: Readonly<Record<string, number>> } {
  const held = new Set(items.map((item) => keyOf(refOfItem(item, namespace))));
  const own = Object.entries(Expected ?? {}).filter(([ref]) => held.has(keyOf(ref)));
  return own.length === 0 ? {} : { Expected: Object.fromEntries(own) };
}

/**
 * Returns sets of whole types, each of which a plan takes. Deletes come last, in reverse order.
 * `namespace` is that of items that name none. Throws if no chunk can have what the set expects.
 */
export function chunksOf(
  set: ReadSet,
  max: { readonly items: number; readonly bytes: number } = { items: ITEMS_MAX, bytes: BYTES_MAX },
  namespace?: string,
): readonly ReadSet[] {
  const { Objects, Delete, Assert } = set.body;
  const piece = (list: keyof Picked, item: SetItem | SetDelete, at: number) => {
    const rank = list === 'Objects' ? rankOf(item) : 100 - rankOf(item);
    return { list, at, rank, bytes: Buffer.byteLength(JSON.stringify(item)) + 1 };
  };
  const pieces = [
    ...Objects.map((item, at) => piece('Objects', item, at)),
    ...Delete.map((item, at) => piece('Delete', item, at)),
  ].sort((a, b) => a.rank - b.rank);
  const chunks: (typeof pieces)[] = [];
  let chunk: typeof pieces = [];
  let bytes = 0;
  const close = (): void => {
    if (chunk.length > 0) chunks.push(chunk);
    [chunk, bytes] = [[], 0];
  };
  for (const rank of new Set(pieces.map((one) => one.rank))) {
    const whole = pieces.filter((one) => one.rank === rank);
    const added = whole.reduce((sum, one) => sum + one.bytes, bytes);
    if (chunk.length + whole.length > max.items || added > max.bytes) close();
    for (const one of whole) {
      if (chunk.length === max.items || bytes + one.bytes > max.bytes) close();
      chunk.push(one);
      bytes += one.bytes;
    }
  }
  close();
  const { Digest, Expected } = set.body;
  if (Digest !== undefined && chunks.length > 1)
    misused(`Digest is of one plan, and this set needs ${chunks.length}`);
  const { Expected: held = {} } = expectedOf(set.body, [...Objects, ...Delete], namespace);
  const stray = Object.keys(Expected ?? {}).find((ref) => held[ref] === undefined);
  if (stray !== undefined) misused(`Expected names ${stray}, which the set does not change`);
  return chunks.map((picked, number) => {
    const of = (list: keyof Picked): number[] =>
      picked.filter((one) => one.list === list).map(({ at }) => at);
    const isLast = number === chunks.length - 1;
    const items = picked.map(({ at, list }) => set.body[list][at]!);
    return subset(
      set,
      { Objects: of('Objects'), Delete: of('Delete') },
      {
        ...expectedOf(set.body, items, namespace),
        ...(Digest !== undefined && { Digest }),
        Assert: isLast ? Assert : [],
      },
    );
  });
}

/** What is done of a set that is applied in parts. */
interface Done {
  parts: number;
  first: number;
  last: number;
}

/** Applies a set in as many entries as it needs. */
export async function applyInParts(call: Call<ApplyOptions>, set: ReadSet): Promise<void> {
  const { print } = call;
  const isOne =
    sizeOf(set.body) <= ITEMS_MAX && Buffer.byteLength(JSON.stringify(set.body)) <= PLAN_BYTES;
  const chunks = isOne
    ? [set]
    : chunksOf(await withPruned(call, set), undefined, call.api.namespace);
  if (chunks.length > 1)
    print.note(`This set is planned in ${chunks.length} chunks, one after the other`);
  if (print.isForPrograms) print.startSeries();
  const done: Done = { parts: 0, first: 0, last: 0 };
  for (const [at, chunk] of chunks.entries()) {
    const isLater = call.options.dryRun === true && at > 0;
    const planned = await planOf(call, chunk);
    const plan = isOne ? planned : judgedAlone(planned, set.body, isLater);
    const isAgreedTo = await isAgreed(call, plan, chunk);
    if (!isAgreedTo && call.options.dryRun !== true) return;
    const which = chunks.length > 1 ? ` of chunk ${at + 1} of ${chunks.length}` : '';
    if (isAgreedTo) await applyPlan(call, { set: chunk, plan, which }, done);
  }
}

/** Applies a plan, by one entry or in its parts. */
async function applyPlan(
  call: Call<object>,
  { set, plan, which }: { readonly set: ReadSet; readonly plan: Plan; readonly which: string },
  done: Done,
): Promise<void> {
  const { api, io, print } = call;
  const { Digest, Parts } = plan;
  const isOne = Parts.length < 2;
  const whole = { ...set, body: { ...set.body, Digest: set.body.Digest ?? Digest } };
  const parts = isOne ? [whole] : partSets(set, plan, api.namespace);
  const count = parts.length;
  if (!isOne)
    print.note(
      `This set needs ${count} entries: it is not applied all at once, ` +
        'and readers see the states in between',
    );
  if (!isOne && set.body.Assert.length > 0)
    print.note('The assertions are judged with the last part alone');
  for (const [at, { body, placeOf }] of parts.entries())
    try {
      const applied = (await sent(call, '/v1/apply', body, placeOf)).json<Applied>();
      if (isOne || print.isForPrograms) await tellApplied(call, applied);
      else {
        const changed = applied.Changes.length;
        print.say(`part ${at + 1} of ${count}: ${changed} changed at index ${applied.Index}`);
      }
      done.parts += 1;
      done.first ||= applied.Index;
      done.last = applied.Index;
    } catch (error) {
      if (!(error instanceof CliError) && !io.signal.aborted) throw error;
      const failure = error instanceof CliError ? error : interruption();
      if (isOne && done.parts === 0) throw failure;
      throw stoppedAt(`Part ${at + 1} of ${count}${which}`, failure, done);
    }
}

/** Returns the error of a set of which some parts may be applied. */
function stoppedAt(which: string, { details, message }: CliError, done: Done): CliError {
  const indexes =
    done.first === done.last ? `index ${done.last}` : `indexes ${done.first} to ${done.last}`;
  const before =
    done.parts === 0
      ? 'no part is applied'
      : done.parts === 1
        ? `part 1 is applied (${indexes})`
        : `parts 1 to ${done.parts} are applied (${indexes})`;
  const { exit: _, ...others } = details;
  const words = `${which} failed: ${message}; ${before}. Run the same command again to go on`;
  return new CliError(words, others);
}

/**
 * Returns the plan of a chunk as it is to be judged. In a dry run, what an earlier chunk would have
 * made is missing. Without Prune, the server takes what has no owner: that is refused here.
 */
export function judgedAlone(plan: Plan, whole: WholeSet, isLater: boolean): Plan {
  const isMissing = ({ Code }: Plan['Problems'][number]): boolean =>
    isLater && Code === 'unknown_reference';
  const missing = plan.Problems.filter(isMissing);
  const isStrict = whole.Prune === true && whole.TakeOver !== true;
  const unowned = plan.Changes.filter(
    ({ Action, Owner }) => isStrict && /^(?:update|unchanged)$/.test(Action) && Owner === '',
  ).map(({ Ref }) => ({
    Ref,
    Code: 'unowned',
    Message: 'it has no owner, and a set that prunes takes it only with --take-over',
    Pointer: '',
  }));
  const Problems = [...plan.Problems.filter((one) => !isMissing(one)), ...unowned];
  const Changes = plan.Changes.map((change) => {
    const found = missing.filter(({ Ref }) => Ref === change.Ref);
    if (found.length === 0) return change;
    const place = { Severity: 'warning' as const, Line: 1, Column: 1 };
    const words = { ...place, Code: 'unknown_reference', Message: 'depends on an earlier chunk' };
    return { ...change, Warnings: [...(change.Warnings ?? []), words] };
  });
  const isOnlyMissing = missing.length > 0 && Problems.length === 0;
  return {
    ...plan,
    Changes,
    Problems,
    Valid: (plan.Valid || isOnlyMissing) && Problems.length === 0,
  };
}

/** Returns what an owner has, with the IDs of objects. */
export async function ownedObjects(
  { api }: Call<object>,
  owner: string,
): Promise<readonly SetItem[]> {
  const query = { owner, ns: '*', ids: 'true' };
  const answer = await api.get('/v1/export', { query, isCurrent: true });
  return answer.json<Exported>().Objects;
}

/** Returns a set with the deletes by which it prunes, which the command decides. */
async function withPruned(call: Call<object>, set: ReadSet): Promise<ReadSet> {
  const { namespace } = call.api;
  const { Prune, ...body } = set.body;
  if (Prune !== true) return set;
  if (body.Owner === undefined) misused('--prune needs --owner: whose objects are deleted?');
  const held = await ownedObjects(call, body.Owner);
  const names = new Set(
    [...body.Objects, ...body.Delete].flatMap((item) => namesOf(item, namespace)),
  );
  const pruned = held
    .filter((item) => !namesOf(item, namespace).some((name) => names.has(name)))
    .map(deletionOf);
  return { ...set, body: { ...body, Delete: [...body.Delete, ...pruned] } };
}
