/** What an object names, who names it, and what its deletion would do (beyond.md 2.3). */
import type { Steps } from '../../acl/steps.js';
import type { Authorizer } from '../../acl/types.js';
import type { Refs, ShownObject } from '../../api/endpoints/change.js';
import type { Refusal } from '../../base/errors.js';
import { timeOf } from '../../languages/times.js';
import type { ConfigDelete } from '../../state/config.js';
import { Overlay } from '../../state/draft.js';
import { HANDLERS } from '../../state/handlers.js';
import { keysBelow, lastPart } from '../../state/lists.js';
import type { ObjectPlace } from '../../state/owners.js';
import { TYPES } from '../../state/refs.js';
import type { Command, View } from '../../state/types.js';
import { readState, stateIndex } from '../common/reading.js';
import type { Caller, ReadOutcome, StateRead } from '../common/types.js';
import { toldTo } from '../config/config-entries.js';
import type { WhoCanParts } from '../explain/who-can.js';
import { ownerOf } from '../reads/long-work.js';
import {
  counts,
  entryIdOf,
  type FoundObject,
  findObject,
  isUnseen,
  mayReadObject,
  mustBeType,
  shownObject,
} from './found.js';
import { tokensImpact } from './impact.js';
import { existing, usersOf, usesOf } from './relations.js';

/** Objects of each type that an answer lists. */
const LISTED_MAX = 100;
/** Objects that are examined in one step. */
const OBJECTS_PER_STEP = 50;

type Totals = Refs['UsedByTotal'];
type Deletion = Refs['IfDeleted'];

/** Reads the references of an object. The value is undefined if there is no such object. */
export async function readRefs(
  parts: WhoCanParts,
  { caller, ns, options }: StateRead,
  { type, id }: { readonly type: string; readonly id: string },
): Promise<ReadOutcome<string | undefined>> {
  const { longWork, nowMs, service } = parts;
  const asked = { table: mustBeType(type), ns, id };
  const outcome = await readState(service, { caller, options }, (context) => ({
    found: findObject(context, asked, nowMs()),
    authorizer: context.authorizer,
  }));
  const { found, authorizer } = outcome.value;
  if (found === undefined) return { ...outcome, value: undefined };
  const view = service.pin();
  try {
    const finder = new RefsFinder(parts, { view, authorizer, caller });
    const owner = ownerOf(service, caller);
    return { ...outcome, value: await longWork.runSoon(owner, 'explain', finder.refs(asked)) };
  } finally {
    view.close();
  }
}

/** Objects by type, with how many there are. */
interface Listed {
  readonly shown: readonly ShownObject[];
  readonly totals: Totals;
  readonly isFiltered: boolean;
}

class RefsFinder {
  readonly #parts: WhoCanParts;
  readonly #view: View;
  readonly #authorizer: Authorizer;
  readonly #caller: Caller;

  constructor(
    parts: WhoCanParts,
    given: { readonly view: View; readonly authorizer: Authorizer; readonly caller: Caller },
  ) {
    this.#parts = parts;
    this.#view = given.view;
    this.#authorizer = given.authorizer;
    this.#caller = given.caller;
  }

  /** Returns the answer as JSON; undefined if the object is gone meanwhile. */
  *refs(asked: ObjectPlace): Steps<string | undefined> {
    const view = this.#view;
    const found = findObject({ view, authorizer: this.#authorizer }, asked, this.#parts.nowMs());
    if (found === undefined) return undefined;
    const users = yield* this.#listed(usersOf(view, found), found);
    const used = yield* this.#listed(usesOf(view, found), found);
    const { deletion, isFiltered } = yield* this.#ifDeleted(found, users.totals);
    const refs: Refs = {
      ...shownObject(found),
      Ref: found.ref,
      ModifyIndex: found.object.ModifyIndex,
      Owner: found.owner,
      Index: stateIndex(view),
      UsedBy: users.shown,
      UsedByTotal: users.totals,
      Uses: used.shown,
      Filtered: users.isFiltered || used.isFiltered || isFiltered,
      IfDeleted: deletion,
    };
    return JSON.stringify(refs);
  }

  /** Lists the objects that the caller may read, and counts them. */
  *#listed(ids: Iterable<ObjectPlace>, self?: FoundObject): Steps<Listed> {
    const totals: Record<string, number> = {};
    const shown: ShownObject[] = [];
    const nowMs = this.#parts.nowMs();
    let isFiltered = false;
    let looked = 0;
    for (const found of existing(this.#view, ids)) {
      looked += 1;
      if (looked % OBJECTS_PER_STEP === 0) yield;
      if (found.ref === self?.ref || !counts(this.#view, found, nowMs)) continue;
      if (!mayReadObject(this.#authorizer, found)) {
        isFiltered ||= !isUnseen(this.#authorizer, found);
        continue;
      }
      const type = TYPES[found.table];
      totals[type] = (totals[type] ?? 0) + 1;
      if (totals[type] <= LISTED_MAX) shown.push(shownObject(found));
    }
    return { shown, totals, isFiltered };
  }

  /** Judges the deletion of an object on a draft of the state. */
  *#ifDeleted(
    found: FoundObject,
    users: Totals,
  ): Steps<{ readonly deletion: Deletion; readonly isFiltered: boolean }> {
    const command = this.#deletionOf(found);
    const after = new Overlay(this.#view);
    const index = stateIndex(this.#view) + 1;
    const outcome = HANDLERS[command.type]!({ draft: after, index }, command);
    yield;
    const deletion = { Refused: '', Removed: {}, Unlinked: {} };
    const none = { ...deletion, TokensThatLoseRights: 0, Truncated: false };
    if (!outcome.ok) {
      const Refused = this.#told(command, outcome.refusal).message;
      return { deletion: { ...none, Refused }, isFiltered: false };
    }
    if (found.table === 'config') return { deletion: none, isFiltered: false };
    const isNamespace = found.table === 'namespace';
    const within = isNamespace ? yield* this.#listed(contents(this.#view, found.id)) : undefined;
    const { 'binding-rule': _bound, ...linking } = users;
    const { impact, losing, isCut } = yield* tokensImpact(
      { ...this.#parts, authorizer: this.#authorizer, before: this.#view, after },
      [found],
    );
    const isLinked = found.table === 'policy' || found.table === 'role';
    return {
      deletion: {
        ...deletion,
        Removed: within?.totals ?? (found.table === 'method' ? users : {}),
        Unlinked: isLinked ? linking : {},
        TokensThatLoseRights: losing,
        Truncated: isCut,
      },
      isFiltered: impact.Hidden || within?.isFiltered === true,
    };
  }

  #deletionOf({ table, ns, id }: FoundObject): Command {
    const { datacenter, nowMs } = this.#parts;
    const at = timeOf(nowMs());
    const head = { type: `${table}.delete`, v: 1, ns } as const;
    if (table === 'config')
      return Object.assign(head, entryIdOf(id), { cas: null, at, datacenter });
    if (table === 'namespace') return Object.assign(head, { name: id, at });
    if (table === 'method') return Object.assign(head, { name: id });
    if (table !== 'token') return Object.assign(head, { id });
    return Object.assign(head, { accessor: id, callerKey: this.#caller.tokenKey });
  }

  #told(command: Command, why: Refusal): Refusal {
    if (command.type !== 'config.delete') return why;
    return toldTo(this.#authorizer, this.#view, command as ConfigDelete, why);
  }
}

function* contents(view: View, ns: string): Iterable<ObjectPlace> {
  for (const table of ['policy', 'role', 'method', 'rule', 'token'] as const) {
    for (const key of keysBelow(view, table, ns)) yield { table, ns, id: lastPart(key) };
  }
  for (const key of keysBelow(view, 'config', ns)) {
    const [, , kind, name] = key.split('\u0000');
    yield { table: 'config', ns, id: `${kind}/${name}` };
  }
}
