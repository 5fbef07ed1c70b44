/** Plans a set: what it would do, and whose rights would change. */
import type { Steps } from '../../acl/steps.js';
import type { Plan } from '../../api/endpoints/sets.js';
import { putForm } from '../../state/put-form.js';
import { TYPES } from '../../state/refs.js';
import type { View } from '../../state/types.js';
import { type Difference, differences } from '../change/diff.js';
import { type TokensImpact, tokensImpact } from '../change/impact.js';
import { inSlices } from '../common/event-loop.js';
import { readState } from '../common/reading.js';
import type { ReadOutcome, StateRead } from '../common/types.js';
import type { ItemChange } from './compare.js';
import {
  formAfter,
  indexOf,
  judge,
  noteDrift,
  overView,
  type Planned,
  type SetParts,
  type SetRequest,
  shownProblems,
} from './judge.js';
import { fitsOne, partsOf } from './parts.js';

/** Reads the plan of a set. Throws ApiError 400 for a set that cannot be meant. */
export async function readPlan(
  parts: SetParts,
  { options, ...request }: StateRead & SetRequest,
): Promise<ReadOutcome<string>> {
  const { caller } = request;
  const outcome = await readState(parts.service, { caller, options }, () => true);
  const plan = await overView(parts, request, async (view) => {
    const planned = await judge(parts, request, { view, showsWarnings: true });
    const shown = await shownPlan(parts, request, view, planned);
    noteDrift(parts, request, planned);
    return shown;
  });
  return { ...outcome, value: JSON.stringify(plan) };
}

async function shownPlan(
  parts: SetParts,
  { body }: SetRequest,
  view: View,
  planned: Planned,
): Promise<Plan> {
  const { changes, changed, conflicts, problems, digest, asserts, index } = planned;
  const inParts = !fitsOne(changed, parts.bodyBytes)
    ? await inSlices(partsOf(parts, planned, view), 'set')
    : { parts: [], problems: [] };
  const Problems = shownProblems([...problems, ...inParts.problems], conflicts);
  const Expected = changed.map((one): [string, number] => [one.item.ref, indexOf(one)]);
  return {
    Index: index,
    Valid: Problems.length === 0,
    Digest: digest,
    Owner: body.Owner ?? '',
    Summary: summaryOf(changes),
    // Of what the owner has and the caller may not read, not even the names are shown.
    Changes: await inSlices(
      shownChanges(
        view,
        planned,
        changes.filter(({ item, action }) => action !== 'hidden' || item.at !== ''),
      ),
      'set',
    ),
    Expected: Object.fromEntries(Expected),
    Problems,
    Asserts: asserts,
    Impact: { Tokens: await impactOf(parts, planned, view) },
    Parts: inParts.problems.length > 0 ? [] : inParts.parts,
  };
}

/** Counts changes by what becomes of the objects. */
export function summaryOf(changes: readonly Pick<ItemChange, 'action'>[]): Plan['Summary'] {
  const count = (action: ItemChange['action']): number =>
    changes.filter((one) => one.action === action).length;
  return {
    Create: count('create'),
    Update: count('update'),
    Delete: count('delete'),
    Unchanged: count('unchanged'),
    Hidden: count('hidden'),
  };
}

function* shownChanges(
  view: View,
  planned: Planned,
  changes: readonly ItemChange[],
): Steps<Plan['Changes']> {
  const shown: Plan['Changes'][number][] = [];
  for (const one of changes) {
    shown.push(shownChange(view, planned, one));
    yield;
  }
  return shown;
}

function shownChange(
  view: View,
  { draft, denials, warnings }: Planned,
  one: ItemChange,
): Plan['Changes'][number] {
  const { item, action } = one;
  const { table, ns: Namespace, ref: Ref, name: Name, id, before } = item;
  const shown = { Ref, Type: TYPES[table], Namespace, Name };
  if (action === 'hidden') return { ...shown, Action: action, Allowed: false };
  const diff = (): Difference[] => {
    const past = before === undefined ? undefined : (JSON.parse(before) as object);
    const form = past && putForm(view, table, past, { inClear: true });
    return differences(table, form, formAfter(draft, one));
  };
  return {
    ...shown,
    ...(hasId(table) && { ID: id }),
    Action: action,
    ExpectedIndex: indexOf(one),
    Owner: item.owned?.Owner ?? '',
    ...(table === 'rule' && { Handle: one.change?.owner?.Handle ?? item.owned?.Handle ?? '' }),
    Allowed: !denials.has(one),
    Diff: action === 'unchanged' ? [] : diff(),
    Warnings: warnings.get(one) ?? [],
  };
}

/** Whether objects of a table have IDs beside their names. */
export const hasId = (table: string): boolean =>
  table === 'policy' || table === 'role' || table === 'rule';

const HIDDEN_IMPACT: TokensImpact = { Affected: 0, Truncated: false, Hidden: true, Groups: [] };

/** Returns whose rights the set changes, for callers who may read all objects that it changes. */
async function impactOf(
  parts: SetParts,
  { authorizer, changed, draft }: Planned,
  view: View,
): Promise<TokensImpact> {
  const granting = changed.filter(({ item }) => item.table !== 'config' && item.table !== 'rule');
  const places = new Set(
    granting.map(({ item: { table, ns, id } }) => (table === 'namespace' ? id : ns)),
  );
  if (![...places].every((ns) => authorizer.allowed('acl', 'read', undefined, ns))) {
    return HIDDEN_IMPACT;
  }
  const { datacenter, defaultPolicy, nowMs } = parts;
  const between = { datacenter, defaultPolicy, nowMs, authorizer, before: view, after: draft };
  const changes = granting.map(({ item: { table, ns, id } }) => ({ table, ns, id }));
  return (await inSlices(tokensImpact(between, changes), 'explain')).impact;
}
