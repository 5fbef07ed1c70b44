/** The use case that takes back what one entry changed (beyond.md 3.4). */
import { checkBindingRule } from '../../acl/binding.js';
import type { Steps } from '../../acl/steps.js';
import type { Authorizer } from '../../acl/types.js';
import type { Undone as Answer, UndoBody } from '../../api/endpoints/history.js';
import { ApiError, type Refusal, refuseIf, reject } from '../../base/errors.js';
import { Overlay } from '../../state/draft.js';
import { objectKeyOf, placeOfLine, refOfLine } from '../../state/history/records.js';
import { keys } from '../../state/keys.js';
import { modifyIndexOf, stored } from '../../state/lists.js';
import type { AuthMethod } from '../../state/methods.js';
import { putForm } from '../../state/put-form.js';
import { tableOfType } from '../../state/refs.js';
import type { BindingRule } from '../../state/rules.js';
import type { View } from '../../state/types.js';
import {
  makeUndone,
  type Undo,
  type Undone,
  type UndoPlan,
  undoLines,
  undoPlan,
} from '../../state/undo.js';
import { brokenRule, type MethodParts } from '../acl/auth-methods.js';
import { differences } from '../change/diff.js';
import { tokensImpact } from '../change/impact.js';
import { inSlices } from '../common/event-loop.js';
import { stateIndex } from '../common/reading.js';
import type { Requester } from '../common/types.js';
import { reasoned } from '../common/writing.js';
import { ownToken } from '../explain/subject.js';
import type { WhoCanParts } from '../explain/who-can.js';
import { ownerOf } from '../reads/long-work.js';
import { undoDenials } from '../rights/gate.js';
import { inPlanOrder } from '../sets/compare.js';
import { expectedPointer } from '../sets/items.js';
import { CHECKS } from '../sets/judge.js';
import { summaryOf } from '../sets/plan.js';
import { mustBeKept, readDenial } from './places.js';

/** What an undo needs of a node. */
export type UndoParts = Pick<
  WhoCanParts,
  'service' | 'longWork' | 'datacenter' | 'defaultPolicy' | 'nowMs'
> &
  Pick<MethodParts, 'methodTypes'>;

/** Undoes an entry, or plans that. Returns the answer as JSON. Throws ApiError. */
export async function undoEntry(
  parts: UndoParts,
  requester: Requester,
  body: UndoBody,
): Promise<string> {
  const { service } = parts;
  const { Index: undone = 0, Reason, DryRun = false } = body;
  if (undone === 0) reject('invalid', 'Undo needs the Index of an entry', { pointer: '/Index' });
  const writer = reasoned(requester, Reason);
  await service.catchUp(requester.timeoutMs);
  const authorizer = await service.authorize(requester.caller);
  const { view } = service;
  mustBeKept(view);
  const nowMs = parts.nowMs();
  const at = new Date(nowMs).toISOString();
  const caller = ownToken(view, requester.caller)?.AccessorID ?? '';
  const command: Undo = {
    type: 'undo',
    v: 1,
    undone,
    caller,
    nowMs,
    at,
    datacenter: parts.datacenter,
  };
  mustWrite(view, authorizer, command);
  const plan = undoPlan(view, command);
  const { changes } = plan;
  if (!DryRun) mustBePossible(plan);
  mustBeExpected(view, body);
  if (DryRun) {
    const owner = ownerOf(service, requester.caller);
    return parts.longWork.runSoon(owner, 'explain', planSteps(parts, authorizer, command));
  }
  if (changes.length === 0) return JSON.stringify({ Index: stateIndex(view), Changes: [] });
  if (changes.some(isOfLogins)) await mustBeWritable(parts, plan, command);
  const written = service.write(writer, command).catch((error) => {
    // Somebody was faster: the objects are judged by what they are now.
    if (error instanceof ApiError && error.refusal.code === 'precondition_failed')
      mustBePossible(undoPlan(view, command));
    throw error;
  });
  const { Index } = JSON.parse(await written) as { Index: number };
  const answer: Answer = { Index, Changes: ordered(changes).map((one) => shownChange(one, Index)) };
  return JSON.stringify(answer);
}

/** Throws ApiError if a write of what goes back would be refused. */
async function mustBeWritable(parts: UndoParts, plan: UndoPlan, command: Undo): Promise<void> {
  const view = parts.service.pin();
  try {
    const places = { view, draft: new Overlay(view) };
    refuseIf(await inSlices(problemIn(parts, places, plan, command), 'lint'));
  } finally {
    view.close();
  }
}

/** Throws ApiError unless what is planned can be done. */
function mustBePossible({ conflicts, problem }: UndoPlan): void {
  if (problem === undefined) return;
  const members = conflicts.length > 0 && { members: { Conflicts: conflicts } };
  throw new ApiError({ ...problem, ...members });
}

/** Throws ApiError 403 unless the caller may write each object. */
function mustWrite(view: View, authorizer: Authorizer, undo: Undo): void {
  const denials = undoDenials(CHECKS, undo, authorizer, view);
  const [first] = denials;
  if (first === undefined) return;
  const Denied = denials
    .filter(({ line }) => readDenial(authorizer, placeOfLine(line)) === undefined)
    .map(({ line }) => refOfLine(line));
  throw new ApiError({ ...first.why, members: { Denied } });
}

/**
 * Throws ApiError 400 and 412 unless the objects have the ModifyIndex that is expected. Objects of
 * the entry that are already as they were count too: a plan may have found them otherwise.
 */
function mustBeExpected(view: View, { Index = 0, Expected }: UndoBody): void {
  const byRef = new Map(undoLines(view, Index).map((line) => [refOfLine(line), line]));
  const Conflicts = Object.entries(Expected ?? {}).flatMap(([Ref, expected]) => {
    const line = byRef.get(Ref);
    if (line === undefined) {
      const why = `Expected names ${JSON.stringify(Ref.slice(0, 200))}, which is not changed`;
      return reject('invalid', why, { pointer: expectedPointer(Ref) });
    }
    const text = view.get(objectKeyOf(placeOfLine(line)));
    const actual = text === undefined ? 0 : modifyIndexOf(text);
    return actual === expected ? [] : [{ Ref, Expected: expected, Actual: actual || null }];
  });
  if (Conflicts.length === 0) return;
  const why = `Precondition failed: ${Conflicts[0]!.Ref} has another ModifyIndex`;
  reject('precondition_failed', why, { members: { Conflicts } });
}

const ordered = (changes: readonly Undone[]): readonly Undone[] =>
  inPlanOrder(changes, ({ place: { type }, ref, action }) => ({
    type,
    ref,
    isDeletion: action === 'delete',
  }));

function namesOf({ place: { type, ns }, line: { id, name }, ref }: Undone) {
  const hasId = type !== 'config' && type !== 'auth-method' && type !== 'namespace';
  const Name = type === 'config' ? id : name;
  return { Ref: ref, Type: type, Namespace: ns, Name, ...(hasId && { ID: id }) };
}

const shownChange = (one: Undone, index: number): Answer['Changes'][number] => ({
  ...namesOf(one),
  Action: one.action,
  ...(one.action !== 'delete' && { ModifyIndex: index }),
});

/** Makes a plan in the form of plans of sets. Returns it as JSON. */
function* planSteps(parts: UndoParts, authorizer: Authorizer, command: Undo): Steps<string> {
  const view = parts.service.pin();
  try {
    const plan = undoPlan(view, command);
    const draft = new Overlay(view);
    const problem = plan.problem ?? (yield* problemIn(parts, { view, draft }, plan, command));
    const shown = shownPlan(view, draft, { ...plan, ...(problem && { problem }) });
    const { datacenter, defaultPolicy, nowMs } = parts;
    const between = { datacenter, defaultPolicy, nowMs, authorizer, before: view, after: draft };
    const granting = plan.changes.flatMap(({ place: { type, ns, id } }) =>
      type === 'config' || type === 'binding-rule' ? [] : [{ table: tableOfType(type)!, ns, id }],
    );
    const { impact } = yield* tokensImpact(between, granting);
    return JSON.stringify({ ...shown, Impact: { Tokens: impact }, Parts: [] });
  } finally {
    view.close();
  }
}

/** Takes objects back in the draft. Returns why apply, or a write of one of them, refuses that. */
function* problemIn(
  { methodTypes }: UndoParts,
  { view, draft }: { readonly view: View; readonly draft: Overlay },
  { changes }: UndoPlan,
  command: Undo,
): Steps<Refusal | undefined> {
  const problem = makeUndone({ draft, index: stateIndex(view) + 1 }, changes, command);
  if (problem !== undefined) return problem;
  for (const { place } of changes.filter(isOfLogins)) {
    const key = objectKeyOf(place);
    const rule = place.type === 'binding-rule' ? stored<BindingRule>(draft, key) : undefined;
    const methodKey = rule === undefined ? key : keys.method(place.ns, rule.AuthMethod);
    const method = stored<AuthMethod>(draft, methodKey);
    const before = stored<AuthMethod>(view, methodKey);
    if (method === undefined || before === undefined) continue;
    const type = methodTypes.get(method.Type)!;
    const why =
      rule === undefined
        ? yield* brokenRule(draft, before, type, method.Config)
        : checkBindingRule(rule, type.shapeOf(method.Config), place.ns);
    if (why !== undefined) return why;
    yield;
  }
  return undefined;
}

/** Whether an object goes back that is judged by others when it is written, and not in apply. */
const isOfLogins = ({ place: { type } }: Undone): boolean =>
  type === 'auth-method' || type === 'binding-rule';

function shownPlan(view: View, draft: Overlay, { changes, conflicts, problem }: UndoPlan): object {
  const index = stateIndex(view);
  const Problems =
    problem === undefined
      ? []
      : (conflicts.length > 0 ? conflicts.map(({ Ref }) => Ref) : ['']).map((Ref) => {
          const { code: Code, message: Message, pointer: Pointer = '' } = problem;
          return { Ref, Code, Message, Pointer };
        });
  const indexOf = ({ present }: Undone): number =>
    present === undefined ? 0 : modifyIndexOf(present);
  return {
    Index: index,
    Valid: problem === undefined,
    Digest: '',
    Owner: '',
    Summary: summaryOf(changes),
    Changes: ordered(changes).map((one) => ({
      ...namesOf(one),
      Action: one.action,
      ExpectedIndex: indexOf(one),
      Allowed: true,
      Diff: differenceOf(view, draft, one),
      Warnings: [],
    })),
    Expected: Object.fromEntries(changes.map((one) => [one.ref, indexOf(one)])),
    Problems,
    Asserts: [],
  };
}

function differenceOf(before: View, after: View, { place, present, target }: Undone): object {
  const table = tableOfType(place.type)!;
  const form = (view: View, text: string | undefined) =>
    text === undefined ? undefined : putForm(view, table, JSON.parse(text) as object);
  return differences(table, form(before, present), form(after, target));
}
