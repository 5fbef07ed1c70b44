/** Objects as a set, which plan and apply take as it is (beyond.md 2.6). */
import { isReservedId } from '../../acl/builtin.js';
import type { Steps } from '../../acl/steps.js';
import type { Authorizer } from '../../acl/types.js';
import type { SetObject } from '../../api/endpoints/change.js';
import { reject } from '../../base/errors.js';
import { definitionOf } from '../../kinds/definitions.js';
import { KINDS, type Kind } from '../../kinds/types.js';
import { NotKnown, PastView } from '../../state/history/past.js';
import { keys, type Table } from '../../state/keys.js';
import { keysBelow, lastPart, stored } from '../../state/lists.js';
import { MANAGEMENT_POLICY, type Namespace } from '../../state/namespaces.js';
import { DEFAULT_NAMESPACE } from '../../state/object.js';
import type { ObjectPlace } from '../../state/owners.js';
import { type Body, putForm, secretsOf } from '../../state/put-form.js';
import { refOf, TYPES } from '../../state/refs.js';
import type { BindingRule } from '../../state/rules.js';
import { DEFAULT_CONTENT } from '../../state/system.js';
import { keyOf, type View } from '../../state/types.js';
import { readState, stateIndex } from '../common/reading.js';
import type { QueryMeta, ReadBy } from '../common/types.js';
import { kindOf } from '../config/config-entries.js';
import { type Moment, momentOf } from '../explain/rewind.js';
import { refuseUnknown, shownTime } from '../history/places.js';
import type { Rendered } from '../reads/list-plan.js';
import { listPieces } from '../reads/list-rendering.js';
import { type LongWorkParts, ownerOf } from '../reads/long-work.js';
import { type FoundObject, isUnseen, mayReadObject, objectAt } from './found.js';

/** The tables of what a set may hold, in the order of plans. Sets make no tokens. */
const TABLES = (Object.keys(TYPES) as Table[]).filter((table) => table !== 'token');
/** Objects that are examined in one step. */
const OBJECTS_PER_STEP = 50;

interface ExportQuery {
  /** A namespace, or `*`. */
  readonly ns: string;
  readonly tables: readonly Table[];
  readonly kinds: readonly Kind[];
  readonly owner: string | undefined;
  readonly ids: boolean;
  /** The moment whose objects are exported, an index or a time; undefined for now. */
  readonly at: string | undefined;
  /** Whether objects of which nothing from then is kept are left out. */
  readonly partial: boolean;
  readonly pretty: boolean;
}

/** Returns the tables of types that a parameter names, and of all without one. Throws 400. */
export function tablesIn(types: string | undefined): readonly Table[] {
  if (types === undefined) return TABLES;
  const named = new Set(types.split(','));
  const known = TABLES.map((table) => TYPES[table] as string);
  const other = [...named].find((type) => !known.includes(type));
  if (other !== undefined) {
    const why = `Invalid parameter "types": ${JSON.stringify(other.slice(0, 64))} is not exported`;
    const hint = `known types: ${known.join(', ')}`;
    reject('invalid', other === 'token' ? `${why}, because sets cannot contain credentials` : why, {
      hint,
    });
  }
  return TABLES.filter((table) => named.has(TYPES[table]));
}

/** Returns the kinds that a parameter names, and all without one. Throws ApiError 400. */
export const kindsIn = (kinds: string | undefined): readonly Kind[] =>
  kinds === undefined ? KINDS : [...new Set(kinds.split(','))].map(kindOf).sort();

/**
 * Exports objects from one frozen view. `answer` gets the JSON text in pieces, and the view lasts
 * until it resolves.
 */
export async function exportObjects(
  { service, longWork }: LongWorkParts,
  { caller, options }: ReadBy,
  query: ExportQuery,
  answer: (pieces: AsyncIterable<string>, meta: QueryMeta) => Promise<void>,
): Promise<void> {
  const outcome = await readState(service, { caller, options }, ({ authorizer, view }) => ({
    authorizer,
    moment: query.at === undefined ? undefined : momentOf(view, query.at),
  }));
  const { authorizer, moment } = outcome.value;
  const view = service.pin();
  try {
    const work = new Exporter(view, authorizer, query, moment);
    await longWork.runSoon(ownerOf(service, caller), 'list', work.collect());
    await answer(work.pieces(), { ...outcome, filtered: work.isFiltered });
  } finally {
    view.close();
  }
}

class Exporter {
  /** Whether objects are left out that the caller may not read. */
  isFiltered = false;
  readonly #now: View;
  readonly #view: View;
  readonly #authorizer: Authorizer;
  readonly #query: ExportQuery;
  readonly #moment: Moment | undefined;
  /** What is exported: table, namespace and id, in order. */
  readonly #candidates: string[] = [];
  /** The Refs of objects of which nothing is kept from the moment. */
  readonly #unknown: string[] = [];
  /** The oldest index from which on all of these are known. */
  #knownFrom = 0;

  constructor(view: View, authorizer: Authorizer, query: ExportQuery, moment?: Moment) {
    this.#now = view;
    this.#view = moment === undefined ? view : new PastView(view, moment.index);
    this.#authorizer = authorizer;
    this.#query = query;
    this.#moment = moment;
  }

  /** Finds what is exported. Throws ApiError 404 if something of it is not known. */
  *collect(): Steps<void> {
    const { ns, tables, partial } = this.#query;
    const all = ns === '*' ? [...this.#keys('namespace')].map(lastPart) : [ns];
    const places = all.filter((name) => this.#isStaying(name));
    let looked = 0;
    for (const table of tables) {
      const found: (readonly [ref: string, candidate: string])[] = [];
      for (const id of this.#idsOf(table, places)) {
        looked += 1;
        if (looked % OBJECTS_PER_STEP === 0) yield;
        const ref = this.#shownRef(id);
        if (ref !== undefined) found.push([ref, keyOf(table, id.ns, id.id)]);
      }
      found.sort(([a], [b]) => (a < b ? -1 : 1));
      for (const [, candidate] of found) this.#candidates.push(candidate);
    }
    if (this.#unknown.length > 0 && !partial) {
      refuseUnknown(this.#now, this.#moment!.index, this.#knownFrom);
    }
  }

  /** Whether a namespace exists and is not being deleted. What is in one that is unknown may be. */
  #isStaying(name: string): boolean {
    try {
      const namespace = stored<Namespace>(this.#view, keys.namespace(name));
      return namespace !== undefined && namespace.DeletedAt === undefined;
    } catch (error) {
      if (error instanceof NotKnown) return true;
      throw error;
    }
  }

  /** Returns the Ref of an object that is exported; undefined if it is not. */
  #shownRef(id: ObjectPlace): string | undefined {
    const { owner } = this.#query;
    let object: FoundObject | undefined;
    try {
      object = objectAt(this.#view, id);
      if (object === undefined || isMadeByServer(this.#view, object)) return undefined;
      // What it links may be unknown too.
      if (this.#moment !== undefined) this.#itemOf(object);
    } catch (error) {
      if (!(error instanceof NotKnown)) throw error;
      const now = objectAt(this.#now, id);
      const named = now ?? { ...id, ref: refOf(TYPES[id.table], id.ns, id.id), owner: '' };
      if (!this.#mayShow(named) || (owner !== undefined && named.owner !== owner)) return undefined;
      this.#unknown.push(named.ref);
      this.#knownFrom = Math.max(this.#knownFrom, error.oldest);
      return undefined;
    }
    const isAsked = owner === undefined || object.owner === owner;
    return this.#mayShow(object) && isAsked ? object.ref : undefined;
  }

  #mayShow(object: ObjectPlace): boolean {
    const mayRead = mayReadObject(this.#authorizer, object);
    if (!mayRead) this.isFiltered ||= !isUnseen(this.#authorizer, object);
    return mayRead;
  }

  *#idsOf(table: Table, places: readonly string[]): Iterable<ObjectPlace> {
    for (const ns of places) {
      if (table === 'namespace') yield { table, ns: DEFAULT_NAMESPACE, id: ns };
      else if (table === 'config') yield* this.#entriesIn(ns);
      else for (const key of this.#keys(table, ns)) yield { table, ns, id: lastPart(key) };
    }
  }

  *#entriesIn(ns: string): Iterable<ObjectPlace> {
    for (const kind of this.#query.kinds) {
      // What the server computes cannot be written.
      if (definitionOf(kind).permissions.apply.resource === 'never') continue;
      for (const key of this.#keys('config', ns, kind)) {
        yield { table: 'config', ns, id: `${kind}/${lastPart(key)}` };
      }
    }
  }

  /** Returns the keys below some parts, of the past those of all objects that may have been. */
  #keys(...parts: string[]): Iterable<string> {
    const view = this.#view;
    return view instanceof PastView ? view.ever(keyOf(...parts, '')) : keysBelow(view, ...parts);
  }

  async *pieces(): AsyncIterable<string> {
    let secrets = 0;
    const rendered: Rendered = {
      candidates: this.#candidates,
      render: (view, candidate) => {
        const [table, ns, id] = candidate.split('\u0000') as [Table, string, string];
        const item = this.#itemOf(objectAt(view, { table, ns, id })!);
        secrets += secretsOf(table, item.Object).length;
        return JSON.stringify(item);
      },
    };
    const moment = this.#moment;
    const At = moment && { Index: moment.index, Time: shownTime(moment.ms) };
    const head = JSON.stringify({ Index: stateIndex(this.#now), ...(moment && { At }) });
    yield `${head.slice(0, -1)},"Objects":`;
    yield* listPieces(this.#view, rendered, this.#query.pretty);
    const unknown = { ...(this.#query.partial && { Unknown: this.#unknown.sort() }) };
    yield `,${JSON.stringify({ Secrets: secrets, ...unknown }).slice(1)}\n`;
  }

  /** Returns an object as an item of a set. A rule without a handle is known by its ID alone. */
  #itemOf(found: FoundObject): SetObject {
    const { table, ns, object, handle } = found;
    const isNamed = table !== 'rule' || handle !== undefined;
    const ids = this.#query.ids || this.#moment !== undefined || !isNamed;
    return {
      Type: TYPES[table],
      ...(table !== 'namespace' && { Namespace: ns }),
      ...(handle !== undefined && { Handle: handle }),
      Object: putForm(this.#view, table, object, { ids }),
    };
  }
}

/** Whether an object is as the server makes it in every cluster, or remains of a deletion. */
function isMadeByServer(view: View, { table, ns, id, object }: FoundObject): boolean {
  const is = (content: Body): boolean =>
    JSON.stringify(putForm(view, table, object)) === JSON.stringify(content);
  if (table === 'namespace') return is(DEFAULT_CONTENT);
  if (table === 'policy') return isReservedId(id) || is(MANAGEMENT_POLICY);
  if (table !== 'rule') return false;
  const { AuthMethod } = object as unknown as BindingRule;
  return view.get(keys.method(ns, AuthMethod)) === undefined;
}
