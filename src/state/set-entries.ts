/**
 * Judges changes of config entries that one entry of the log makes together (beyond.md 2.5): all
 * are in the draft already, so their order never matters. Their discovery chains have one budget.
 */

import type { Steps } from '../acl/steps.js';
import { type Refusal, refusal } from '../base/errors.js';
import { type Budget, CHANGE_STEPS_MAX, ReachesTooFar } from '../kinds/chain.js';
import type { Among, Change } from '../kinds/conflicts.js';
import { affectedServices, refusalsOf } from '../kinds/cross-entry-rules.js';
import { isClusterWide } from '../kinds/definitions.js';
import type { Affecting } from '../kinds/gateway-reach.js';
import { BINDING_STEPS_MAX, settleGateways } from '../kinds/gateway-status.js';
import type { EntryId } from '../kinds/types.js';
import { BIND_FEWER, bindingsOf, putSettled, REACHES_ALL } from './config.js';
import { allNamespaces, Entries } from './config-entries.js';
import type { ApplyContext } from './types.js';

/** A change of an entry, and the namespace of the entry. */
export interface EntryChange extends Change {
  readonly ns: string;
}

/** Whose settings and time the changes are judged by. */
export interface SetFacts {
  readonly datacenter: string;
  /** RFC 3339 text, for status conditions. */
  readonly at: string;
}

/** Called with a change that is refused. */
export type RefuseEntry = (change: EntryChange, why: Refusal) => void;

/** Proxy defaults apply to every service. So they are judged last, and their work has no limit. */
const isLast = ({ kind }: EntryId): boolean => kind === 'proxy-defaults';

/** Judges the changes, and updates the gateways and routes that they affect. */
export function* judgeEntries(
  context: ApplyContext,
  changes: readonly EntryChange[],
  facts: SetFacts,
  refuse: RefuseEntry,
): Steps<void> {
  const order = ({ ns, kind, name }: EntryChange): string => `${kind}\u0000${name}\u0000${ns}`;
  const byOrder = changes.map((one) => [order(one), one] as const);
  const sorted = byOrder.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
  const all = [...sorted.filter((one) => !isLast(one)), ...sorted.filter(isLast)];
  const reachAll = all.some(({ kind }) => REACHES_ALL.has(kind));
  const places = reachAll ? allNamespaces(context.draft) : new Set(all.map(({ ns }) => ns));
  const budget = { left: CHANGE_STEPS_MAX };
  for (const ns of [...places].sort()) yield* judgeIn(context, ns, { all, facts, budget }, refuse);
}

interface Judged {
  readonly all: readonly EntryChange[];
  readonly facts: SetFacts;
  readonly budget: Budget;
}

/** Judges the changes by the entries of one namespace. */
function* judgeIn(
  context: ApplyContext,
  ns: string,
  { all, facts, budget }: Judged,
  refuse: RefuseEntry,
): Steps<void> {
  const byId = new Map(
    all
      .filter((one) => one.ns === ns || isClusterWide(one.kind))
      .map((one) => [`${one.kind} ${one.name.toLowerCase()}`, one]),
  );
  const entries = new Entries(context.draft, ns, byId.values());
  const changeOf = ({ kind, name }: EntryId): EntryChange | undefined =>
    byId.get(`${kind} ${name.toLowerCase()}`);
  const past: Among['past'] = {
    get(kind, name) {
      const change = changeOf({ kind, name });
      return change === undefined ? entries.get(kind, name) : change.before;
    },
  };
  const among: Among = { changeOf, past, chains: new Map(), blamed: undefined };
  const known = new Set<string>();
  const affecting: Affecting[] = [];
  const limit = (change: Change): Budget =>
    isLast(change) ? { left: Number.POSITIVE_INFINITY } : budget;
  let change: EntryChange | undefined;
  try {
    for (change of all) {
      if (change.ns !== ns && !REACHES_ALL.has(change.kind)) continue;
      const affected = affectedServices(change, entries, known);
      affecting.push({ change, affected });
      among.blamed = undefined;
      const refusals = refusalsOf(change, entries, {
        datacenter: facts.datacenter,
        affected,
        budget: limit(change),
        blamesWritten: () => true,
        among,
      });
      for (const why of refusals) {
        refuse((among.blamed as EntryChange | undefined) ?? change, why);
        among.blamed = undefined;
      }
      yield;
    }
    const whole = all.some(isLast) ? { left: Number.POSITIVE_INFINITY } : budget;
    const bindings = bindingsOf(context.draft);
    const settled = settleGateways(affecting, entries, { at: facts.at, budget: whole, bindings });
    putSettled(context, ns, settled);
  } catch (error) {
    if (!(error instanceof ReachesTooFar)) throw error;
    refuse(change ?? all[0]!, TOO_FAR[error.into]);
  }
}

const TOO_FAR = {
  chains: refusal(
    'invalid',
    `the set would be felt in discovery chains of more than ${CHANGE_STEPS_MAX} steps in all`,
    { hint: 'let fewer routers, splitters, resolvers and routes lead to what changes' },
  ),
  bindings: refusal(
    'invalid',
    'the set would be felt in bindings of routes to api-gateways of more than ' +
      `${BINDING_STEPS_MAX} steps in all`,
    { hint: BIND_FEWER },
  ),
};
