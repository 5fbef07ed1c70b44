/** Judges a set on a state: what it would do, and everything for which it would be refused. */
import { createHash } from 'node:crypto';
import { lintBindingRule } from '../../acl/lint/binding-rule.js';
import { type Finding, lintOf } from '../../acl/lint/findings.js';
import { lintPolicy } from '../../acl/lint/policy.js';
import type { Steps } from '../../acl/steps.js';
import type { Authorizer } from '../../acl/types.js';
import type { Asserted, Problem, SetBody } from '../../api/endpoints/sets.js';
import { ApiError, type Refusal, refusal, reject } from '../../base/errors.js';
import { isKind } from '../../kinds/definitions.js';
import { keys } from '../../state/keys.js';
import { keysBelow, stored } from '../../state/lists.js';
import type { AuthMethod } from '../../state/methods.js';
import type { Policy } from '../../state/policies.js';
import { type Body, hideSecrets, putForm, secretsOf } from '../../state/put-form.js';
import type { BindingRule } from '../../state/rules.js';
import { keyAt, type Rest } from '../../state/sets.js';
import type { Command, View } from '../../state/types.js';
import type { VersionConflict } from '../../state/undo.js';
import { issuerRefusal } from '../acl/auth-methods.js';
import { inSlices } from '../common/event-loop.js';
import { modifyIndexOf } from '../common/reading.js';
import type { Caller } from '../common/types.js';
import { configCheck } from '../config/config-entries.js';
import { readerOf, surroundingsOf } from '../lint/lint.js';
import { rulesOf } from '../login/judge.js';
import { type LongWork, ownerOf } from '../reads/long-work.js';
import { changeDenial, type GroupChecks } from '../rights/gate.js';
import { judgeAsserts } from './asserts.js';
import {
  type Compared,
  type CompareParts,
  compare,
  type Found,
  type ItemChange,
  problemOf,
  problemOfSet,
} from './compare.js';
import type { SetDrift } from './drift.js';
import { issuerRefusals } from './issuers.js';
import { expectedPointer, type Item, objectOf, storedAt } from './items.js';

/** What sets need of a node. */
export interface SetParts extends CompareParts {
  readonly longWork: LongWork;
  readonly drift: SetDrift;
  /** The largest command that a set makes, in bytes. */
  readonly bodyBytes: number;
}

/** A set, and who sends it. */
export interface SetRequest {
  readonly caller: Caller;
  readonly ns: string;
  readonly body: SetBody;
}

/** A set that was judged on a state. */
export interface Planned extends Compared {
  readonly authorizer: Authorizer;
  /** The refusals of what the caller may not do, by change. */
  readonly denials: ReadonlyMap<ItemChange, Refusal>;
  readonly warnings: ReadonlyMap<ItemChange, readonly Finding[]>;
  readonly asserts: readonly Asserted[];
  readonly rests: readonly Rest[];
  readonly conflicts: readonly VersionConflict[];
  readonly digest: string;
  readonly changed: readonly ItemChange[];
}

/** Who may make the changes that are no ACL commands. */
export const CHECKS: GroupChecks = { config: configCheck };

/** Sets of so few objects wait for a place among the long works of a node. */
const FEW = 500;

/** Runs work on a set over a frozen view. Rejects with ApiError 429 if there is no place. */
export async function overView<T>(
  { service, longWork }: SetParts,
  { caller, body }: SetRequest,
  work: (view: View) => Promise<T>,
): Promise<T> {
  const size = (body.Objects?.length ?? 0) + (body.Delete?.length ?? 0);
  return longWork.hold(ownerOf(service, caller), size <= FEW, async () => {
    const view = service.pin();
    try {
      return await work(view);
    } finally {
      view.close();
    }
  });
}

/**
 * Judges a set on a view. `showsWarnings`: somebody reads them. Throws ApiError 400 for a set that
 * cannot be meant.
 */
export async function judge(
  parts: SetParts,
  { caller, ns, body }: SetRequest,
  { view, showsWarnings }: { readonly view: View; readonly showsWarnings: boolean },
): Promise<Planned> {
  const authorizer = await parts.service.authorize(caller);
  const compared = await compare(parts, { caller, ns, body, view });
  const { changes, draft, problems } = compared;
  const changed = changes.filter(
    ({ action, change }) => change !== undefined && action !== 'unchanged',
  );
  const denials = await inSlices(denialsOf(changes, authorizer, view), 'set');
  const judging = { authorizer, view: draft, changed, changes, problems };
  const isLinted = showsWarnings || parts.lint === 'strict';
  const warnings = isLinted ? await inSlices(lint(parts, judging), 'lint') : NO_WARNINGS;
  const rests = checkUnused(changed, { view, draft, problems });
  const judged = await inSlices(
    judgeAsserts(
      { ...parts, nowMs: parts.nowMs(), authorizer, ns, before: view, after: draft },
      body.Assert ?? [],
    ),
    'explain',
  );
  for (const [i, Message] of judged.failed) {
    problems.push(problemOfSet(refusal('invalid', Message, { pointer: `/Assert/${i}` }), 'assert'));
  }
  const all = { ...compared, authorizer, denials, warnings, changed, asserts: judged.asserts };
  const digest = await inSlices(digestOf(all, body), 'set');
  const conflicts = conflictsOf(compared, body);
  if (body.Digest !== undefined && body.Digest !== digest && conflicts.length === 0) {
    problems.push(OTHER_DIGEST);
  }
  if (problems.length === 0) await checkIssuers(parts, all);
  return { ...all, conflicts, digest, rests: [...judged.rests, ...rests] };
}

const NO_WARNINGS: Planned['warnings'] = new Map();

/** Returns the refusals of what the caller may not do. */
function* denialsOf(
  changes: readonly ItemChange[],
  authorizer: Authorizer,
  view: View,
): Steps<Map<ItemChange, Refusal>> {
  const denials = new Map<ItemChange, Refusal>();
  for (const one of changes) {
    yield;
    const command =
      one.change?.command ?? (one.action === 'unchanged' ? undefined : ownCommand(one));
    const why =
      one.action !== 'hidden' && command && changeDenial(CHECKS, command, authorizer, view);
    if (why) denials.set(one, why);
  }
  return denials;
}

const OTHER_DIGEST = problemOfSet(
  refusal('precondition_failed', 'The set would not do what the plan with this Digest says', {
    pointer: '/Digest',
  }),
);

/**
 * Returns a command that asks for the right to write an object whose own was not made; undefined
 * for an entry of an unknown kind.
 */
function ownCommand({ item: { table, ns, id, name } }: ItemChange): Command | undefined {
  const isKnown = table !== 'config' || isKind(name.slice(0, name.indexOf('/')));
  if (!isKnown) return undefined;
  return { type: 'owner.set', v: 1, table, ns, id: table === 'config' ? name : id } as Command;
}

/** What the steps of judging share. */
interface Judging {
  readonly authorizer: Authorizer;
  readonly view: View;
  readonly changed: readonly ItemChange[];
  readonly problems: Found[];
}

/** Lints the policies and binding rules that change. In the mode `strict` warnings are problems. */
function* lint(
  { lint: mode, methodTypes }: SetParts,
  { authorizer, view, changed, changes, problems }: Judging & Pick<Compared, 'changes'>,
): Steps<Planned['warnings']> {
  const found = new Map<ItemChange, readonly Finding[]>();
  for (const one of changes) {
    if (one.item.otherId && one.action !== 'hidden') found.set(one, [otherId(one.item.id)]);
  }
  for (const one of changed) {
    yield;
    const { item } = one;
    const findings =
      mode === 'off' || item.body === undefined || one.change?.command.type === 'owner.set'
        ? []
        : yield* findingsIn(view, { authorizer, methodTypes }, one);
    const warnings = findings.filter(({ Severity }) => Severity === 'warning');
    if (mode === 'strict') {
      for (const { Message, Field = 'Rules' } of warnings) {
        problems.push(problemOf(item, refusal('invalid', Message, { pointer: `/${Field}` })));
      }
    }
    found.set(one, [...(found.get(one) ?? []), ...warnings]);
  }
  return found;
}

const otherId = (id: string): Finding => ({
  Severity: 'warning',
  Code: 'other_id',
  Message: `the object of this name keeps its own ID, ${id}`,
  Line: 1,
  Column: 1,
});

function* findingsIn(
  view: View,
  { authorizer, methodTypes }: Pick<SetParts, 'methodTypes'> & Pick<Judging, 'authorizer'>,
  { item }: ItemChange,
): Steps<readonly Finding[]> {
  const { table, ns } = item;
  const policy = table === 'policy' ? storedAt<Policy>(view, item) : undefined;
  if (policy !== undefined) return (yield* lintPolicy(policy.Rules, ns)).Problems;
  const rule = table === 'rule' ? storedAt<BindingRule>(view, item) : undefined;
  const method = rule && stored<AuthMethod>(view, keys.method(ns, rule.AuthMethod));
  if (rule === undefined || method === undefined) return [];
  const others = rulesOf(view, method, FEW);
  const places = { view, mayRead: readerOf(authorizer) };
  const surroundings = surroundingsOf(methodTypes, places, method, others);
  return lintOf(yield* lintBindingRule(rule, surroundings)).Problems;
}

/**
 * Refuses deletions of policies and roles that binding rules name, where they must be unused.
 * Returns the records that show whether other rules have come since.
 */
function checkUnused(
  changed: readonly ItemChange[],
  {
    view,
    draft,
    problems,
  }: { readonly view: View; readonly draft: View; readonly problems: Found[] },
): Rest[] {
  const rests: Rest[] = [];
  for (const { item } of changed) {
    const { table, ns } = item;
    if (item.ifUnused !== true || (table !== 'policy' && table !== 'role')) continue;
    const name = objectOf(item)!.Name!.toLowerCase();
    const index = keys.index('rule', ns);
    rests.push([index, view.get(index) ?? null]);
    for (const key of keysBelow(draft, 'rule', ns)) {
      const { BindType, BindName } = stored<BindingRule>(draft, key)!;
      if (BindType !== table || BindName.toLowerCase() !== name) continue;
      problems.push(problemOf(item, refusal('conflict', `${item.ref} is still in use`)));
      break;
    }
  }
  return rests;
}

/** Fetches what logins by changed auth methods need. Nothing else is fetched for anybody. */
async function checkIssuers(
  { methodTypes, logger }: SetParts,
  {
    changed,
    denials,
    draft,
    problems,
  }: Pick<Planned, 'changed' | 'denials' | 'draft' | 'problems'>,
): Promise<void> {
  const written = changed.filter(
    (one) => one.change?.command.type === 'method.set' && !denials.has(one),
  );
  const refused = await issuerRefusals(written, ({ item }) => {
    const method = storedAt<AuthMethod>(draft, item)!;
    return issuerRefusal(methodTypes.get(method.Type)!, method, logger);
  });
  for (const [{ item }, why] of refused) problems.push(problemOf(item, why));
}

/** Returns the objects whose version is not the one that the set expects. Throws ApiError 400. */
function conflictsOf({ changes, missing }: Compared, { Expected }: SetBody): VersionConflict[] {
  const byRef = new Map(changes.map((one) => [one.item.ref, one]));
  return Object.entries(Expected ?? {}).flatMap(([Ref, expected]) => {
    const one = byRef.get(Ref);
    if (one === undefined && missing.has(Ref.toLowerCase())) {
      return expected === 0 ? [] : [{ Ref, Expected: expected, Actual: null }];
    }
    if (one === undefined) {
      const shown = JSON.stringify(Ref.slice(0, 200));
      reject('invalid', `Expected names ${shown}, which the set does not change`, {
        pointer: expectedPointer(Ref),
      });
    }
    if (one.action === 'hidden') return [];
    const actual = indexOf(one);
    return actual === expected ? [] : [{ Ref, Expected: expected, Actual: actual || null }];
  });
}

/** Returns the ModifyIndex that an object has before the set; 0 if it does not exist. */
export const indexOf = ({ item: { before } }: ItemChange): number =>
  before === undefined ? 0 : modifyIndexOf(before);

/** Returns the form of an object after the set; undefined if it is deleted. */
export function formAfter(draft: View, { item }: ItemChange): Body | undefined {
  const text = item.body === undefined ? undefined : draft.get(keyAt(item));
  return text === undefined
    ? undefined
    : putForm(draft, item.table, JSON.parse(text) as object, { inClear: true });
}

/** Notes what a set would change, unless its caller sees too little of it to tell. */
export function noteDrift(
  { drift }: SetParts,
  { body, ns }: SetRequest,
  { authorizer, changes, changed }: Planned,
): void {
  const seesAll =
    changes.length > 0
      ? changes.every(({ action }) => action !== 'hidden')
      : authorizer.allowed('acl', 'read', undefined, ns);
  if (seesAll) drift.note(body.Owner ?? '', changed.length);
}

/** Covers what a set does, but for the IDs that it makes. */
function* digestOf(
  { changes, draft }: Pick<Planned, 'changes' | 'draft'>,
  { Assert = [] }: SetBody,
): Steps<string> {
  const digest = createHash('sha256');
  for (const one of changes) {
    const { item, action, change } = one;
    // What the caller may not read must not show in the digest, not even whether it exists.
    if (action === 'unchanged' || (action === 'hidden' && item.at === '')) continue;
    const after = action === 'hidden' ? undefined : withoutKept(item, formAfter(draft, one));
    digest.update(JSON.stringify([item.ref, action, indexOf(one), after, change?.owner]));
    yield;
  }
  return `sha256:${digest.update(JSON.stringify(Assert)).digest('hex')}`;
}

/** Hides secrets that stay as they are: nobody must be able to guess them by the digest. */
function withoutKept(item: Item, after: Body | undefined): Body | undefined {
  const before = objectOf(item);
  if (after === undefined || before === undefined) return after;
  const kept = secretsOf(item.table, before);
  const isKept = secretsOf(item.table, after).every(({ id, value }) =>
    kept.some((one) => one.id === id && one.value === value),
  );
  return isKept ? hideSecrets(item.table, after) : after;
}

/** Throws ApiError for a set that cannot be applied: 403, then 400, 409 and 412. */
export function mustBeValid({ changes, denials, problems, conflicts, asserts }: Planned): void {
  const hidden = changes.some(({ action }) => action === 'hidden');
  const [denial] = denials.values();
  if (hidden || denial !== undefined) {
    const Denied = [...denials.keys()].map(({ item }) => item.ref);
    const why = denial ?? refusal('permission_denied', 'Permission denied');
    throw new ApiError({ ...why, members: { Denied } });
  }
  const Problems = shownProblems(problems, conflicts);
  const first = (codes: readonly string[]) => problems.find(({ why }) => codes.includes(why.code));
  const found = first(INVALID) ?? first(['conflict', 'too_large']);
  if (found !== undefined) {
    const members = { Problems, ...(found.Code === 'assert' && { Asserts: asserts }) };
    throw new ApiError({ ...found.why, message: named(found), pointer: found.Pointer, members });
  }
  const [conflict] = conflicts;
  if (conflict === undefined && problems.length === 0) return;
  const what = conflict && `${conflict.Ref} has ModifyIndex ${conflict.Actual ?? 0}`;
  const message = conflict ? `Precondition failed: ${what}` : OTHER_DIGEST.Message;
  reject('precondition_failed', message, { members: { Problems, Conflicts: conflicts } });
}

const INVALID = ['invalid', 'unknown_reference', 'not_found'];

/** Returns the problems of a set as clients see them, those of `Expected` last. */
export const shownProblems = (
  problems: readonly Found[],
  conflicts: readonly VersionConflict[],
): Problem[] => [
  ...problems.map(({ why: _why, ...shown }) => shown),
  ...conflicts.map(({ Ref, Expected, Actual }) => ({
    Ref,
    Code: 'precondition_failed',
    Message: `${Ref} has ModifyIndex ${Actual ?? 0}, not ${Expected}`,
    Pointer: expectedPointer(Ref),
  })),
];

const named = ({ Ref, Message }: Found): string =>
  Ref === '' || Message.includes(Ref) ? Message : `${Ref}: ${Message}`;
