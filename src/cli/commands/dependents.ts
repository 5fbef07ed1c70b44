/** What a delete takes something away from, or deletes as well. */
import type { Link } from '../../api/links.js';
import { KINDS, OBJECTS, type ObjectName } from '../../api/objects.js';
import type { Call } from '../cli.js';
import { CliError } from '../print/error.js';
import { counted } from '../print/text.js';
import { memberAt, type Stored } from './objects.js';

type Query = Readonly<Record<string, string | undefined>>;

/** A list in which there is what depends on an object. */
interface DependentList {
  readonly noun: string;
  readonly listPath: string;
  /** What narrows the list; by default to the namespace of the object. */
  readonly query?: (item: Stored) => Query;
  /** Which items of the list depend on the object; by default all of them. */
  readonly depends?: (item: Stored, one: Stored) => boolean;
}

/** What depends on the objects of a type: one request for each list. */
interface Dependents {
  /** `links to it`, `link to it` and, once it is deleted, `linked to it`. */
  readonly says: readonly [one: string, many: string, done: string];
  readonly lists: readonly DependentList[];
}

/** Returns what links to policies or roles. Namespaces link only to those of `default`. */
function linkingTo(what: 'policy' | 'role', ...holders: readonly ObjectName[]): Dependents {
  const defaults = what === 'policy' ? 'ACLs.PolicyDefaults' : 'ACLs.RoleDefaults';
  return {
    says: ['links to it', 'link to it', 'linked to it'],
    lists: [
      ...holders.map((holder) => ({
        ...OBJECTS[holder],
        query: ({ ID, Namespace }: Stored) => ({ ns: Namespace, [what]: String(ID) }),
      })),
      {
        ...OBJECTS.rule,
        depends: ({ Name }, { BindType, BindName }) => BindType === what && BindName === Name,
      },
      {
        ...OBJECTS.namespace,
        query: () => ({}),
        depends: ({ ID }, one) =>
          ((memberAt(one, defaults) ?? []) as readonly Link[]).some((link) => link.ID === ID),
      },
    ],
  };
}

const GOES = ['goes with it', 'go with it', 'went with it'] as const;
const inside = ({ Name }: Stored): Query => ({ ns: Name });

/** What depends on the objects of each type. */
export const DEPENDENTS: Readonly<Partial<Record<ObjectName, Dependents>>> = {
  policy: linkingTo('policy', 'role', 'token'),
  role: linkingTo('role', 'token'),
  method: {
    says: GOES,
    lists: [
      { ...OBJECTS.rule, query: ({ Name, Namespace }) => ({ ns: Namespace, authmethod: Name }) },
      {
        ...OBJECTS.token,
        // Its logins can have tokens in other namespaces.
        query: ({ Name, Namespace }) => ({
          authmethod: Name,
          ...(Namespace !== undefined && { ns: '*', 'authmethod-ns': Namespace }),
        }),
      },
    ],
  },
  namespace: {
    says: GOES,
    lists: [
      ...(['policy', 'role', 'method', 'rule', 'token'] as const).map((name) => ({
        ...OBJECTS[name],
        query: inside,
        // This policy comes with a namespace.
        depends: (_: Stored, { Name }: Stored) => Name !== 'namespace-management',
      })),
      ...KINDS.map(({ kind }) => ({
        noun: 'entry',
        listPath: `/v1/config/${kind}`,
        query: inside,
      })),
    ],
  },
};

/** How many names of what depends on an object are told. */
const NAMES_MAX = 3;

/** What depends on an object, in words. */
interface Told {
  /** `1 role and 2 tokens link to it (ops, ci job 7 and 1 more)` */
  readonly before: string;
  /** `1 role and 2 tokens linked to it` */
  readonly after: string;
}

/** Returns what depends on an object; undefined if there is nothing, or it is hidden. */
export async function dependentsOf(
  { api }: Call<object>,
  { says: [one, many, done], lists }: Dependents,
  item: Stored,
): Promise<Told | undefined> {
  const counts = new Map<string, number>();
  const names: string[] = [];
  for (const { noun, listPath, query, depends } of lists)
    try {
      const narrowed = query?.(item) ?? { ns: item.Namespace };
      const answer = await api.get(listPath, { query: narrowed, isCurrent: true });
      const found = answer.json<Stored[]>().filter((other) => depends?.(item, other) ?? true);
      if (found.length > 0) counts.set(noun, (counts.get(noun) ?? 0) + found.length);
      names.push(...found.map(nameOf));
    } catch (error) {
      // It can be deleted without knowing what depends on it.
      if (!(error instanceof CliError) || error.details.code === 'interrupted') throw error;
    }
  if (names.length === 0) return undefined;
  const listed = joined([...counts].map(([noun, count]) => counted(count, noun)));
  const more = names.length - NAMES_MAX;
  const shown = [...names.slice(0, NAMES_MAX), ...(more > 0 ? [`${more} more`] : [])];
  return {
    before: `${listed} ${names.length === 1 ? one : many} (${joined(shown)})`,
    after: `${listed} ${done}`,
  };
}

const joined = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join() : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;

/** Returns how people know an item: a token by what it is for. */
const nameOf = ({ AccessorID, ID, Name, Description }: Stored): string =>
  Name || Description || String(AccessorID ?? ID ?? '').slice(0, 8);
