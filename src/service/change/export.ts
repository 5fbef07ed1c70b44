/** Objects as a set, which plan and apply take as it is (beyond.md 2.6). */
import { isReservedId } from '../../acl/builtin.js';
import type { Steps } from '../../acl/steps.js';
import type { Authorizer } from '../../acl/types.js';
import type { SetObject } from '../../api/endpoints/change.js';
import { reject } from '../../base/errors.js';
import { definitionOf } from '../../kinds/definitions.js';
import { KINDS, type Kind } from '../../kinds/types.js';
import { allNamespaces } from '../../state/config-entries.js';
import { keys, type Table } from '../../state/keys.js';
import { keysBelow, lastPart, stored } from '../../state/lists.js';
import { MANAGEMENT_POLICY, type Namespace } from '../../state/namespaces.js';
import { DEFAULT_NAMESPACE } from '../../state/object.js';
import { type Body, putForm, secretsOf } from '../../state/put-form.js';
import { TYPES } from '../../state/refs.js';
import type { BindingRule } from '../../state/rules.js';
import { DEFAULT_CONTENT } from '../../state/system.js';
import { keyOf, type View } from '../../state/types.js';
import { readState, stateIndex } from '../common/reading.js';
import type { Caller, QueryMeta, ReadOptions, Service } from '../common/types.js';
import { kindOf } from '../config/config-entries.js';
import { listPieces, type Rendered } from '../reads/list-rendering.js';
import { type LongWork, ownerOf } from '../reads/long-work.js';
import { type FoundObject, isUnseen, mayReadObject, type ObjectId, objectAt } from './found.js';

/** The tables of what a set may hold, in the order of plans. Sets make no tokens. */
const TABLES = (Object.keys(TYPES) as Table[]).filter((table) => table !== 'token');
/** Objects that are looked at in one step. */
const OBJECTS_PER_STEP = 50;

/** What is exported. */
export interface ExportQuery {
  /** A namespace, or `*`. */
  readonly ns: string;
  readonly tables: readonly Table[];
  readonly kinds: readonly Kind[];
  readonly owner: string | undefined;
  readonly ids: boolean;
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
    reject('invalid', other === 'token' ? `${why}, because sets hold no credentials` : why, {
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
  { service, longWork }: { readonly service: Service; readonly longWork: LongWork },
  { caller, options }: { readonly caller: Caller; readonly options: ReadOptions },
  query: ExportQuery,
  answer: (pieces: AsyncIterable<string>, meta: QueryMeta) => Promise<void>,
): Promise<void> {
  const outcome = await readState(service, { caller, options }, (context) => context.authorizer);
  const view = service.pin();
  try {
    const work = new Exporter(view, outcome.value, query);
    await longWork.runSoon(ownerOf(service, caller), 'list', work.collect());
    await answer(work.pieces(), { ...outcome, filtered: work.isFiltered });
  } finally {
    view.close();
  }
}

class Exporter {
  /** Whether objects are left out that the caller may not read. */
  isFiltered = false;
  readonly #view: View;
  readonly #authorizer: Authorizer;
  readonly #query: ExportQuery;
  /** What is exported: table, namespace and id, in order. */
  readonly #candidates: string[] = [];

  constructor(view: View, authorizer: Authorizer, query: ExportQuery) {
    this.#view = view;
    this.#authorizer = authorizer;
    this.#query = query;
  }

  /** Finds what is exported. */
  *collect(): Steps<void> {
    const { ns, tables, owner } = this.#query;
    const places = (ns === '*' ? allNamespaces(this.#view) : [ns]).filter((name) =>
      isStaying(this.#view, name),
    );
    let looked = 0;
    for (const table of tables) {
      const found: (readonly [ref: string, candidate: string])[] = [];
      for (const id of this.#idsOf(table, places)) {
        looked += 1;
        if (looked % OBJECTS_PER_STEP === 0) yield;
        const object = objectAt(this.#view, id);
        if (object === undefined || isMadeByServer(this.#view, object)) continue;
        if (!mayReadObject(this.#authorizer, object)) {
          this.isFiltered ||= !isUnseen(this.#authorizer, object);
        } else if (owner === undefined || object.owner === owner) {
          found.push([object.ref, keyOf(table, id.ns, id.id)]);
        }
      }
      // The keys are almost in this order, so that sorting takes little time.
      found.sort(([a], [b]) => (a < b ? -1 : 1));
      for (const [, candidate] of found) this.#candidates.push(candidate);
    }
  }

  *#idsOf(table: Table, places: readonly string[]): Iterable<ObjectId> {
    for (const ns of places) {
      if (table === 'namespace') yield { table, ns: DEFAULT_NAMESPACE, id: ns };
      else if (table === 'config') yield* this.#entriesIn(ns);
      else if (table === 'policy' || table === 'role') {
        for (const key of keysBelow(this.#view, `${table}-name`, ns)) {
          yield { table, ns, id: this.#view.get(key)! };
        }
      } else {
        for (const key of keysBelow(this.#view, table, ns)) yield { table, ns, id: lastPart(key) };
      }
    }
  }

  *#entriesIn(ns: string): Iterable<ObjectId> {
    for (const kind of this.#query.kinds) {
      // Nobody may write what the server computes.
      if (definitionOf(kind).permissions.apply.resource === 'never') continue;
      for (const key of keysBelow(this.#view, 'config', ns, kind)) {
        yield { table: 'config', ns, id: `${kind}/${lastPart(key)}` };
      }
    }
  }

  /** Yields the set as JSON text. */
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
    yield `{"Index":${stateIndex(this.#view)},"Objects":`;
    yield* listPieces(this.#view, rendered, this.#query.pretty);
    yield `,"Secrets":${secrets}}\n`;
  }

  /** Returns an object as an item of a set. A rule without a handle is known by its ID alone. */
  #itemOf(found: FoundObject): SetObject {
    const { table, ns, object, handle } = found;
    const ids = this.#query.ids || (table === 'rule' && handle === undefined);
    return {
      Type: TYPES[table],
      ...(table !== 'namespace' && { Namespace: ns }),
      ...(handle !== undefined && { Handle: handle }),
      Object: putForm(this.#view, table, object, { ids }),
    };
  }
}

/** Whether a namespace exists and is not being deleted. */
function isStaying(view: View, name: string): boolean {
  const namespace = stored<Namespace>(view, keys.namespace(name));
  return namespace !== undefined && namespace.DeletedAt === undefined;
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
