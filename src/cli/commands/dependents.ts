/** What a delete takes something away from, or deletes as well. */
import type { Call } from '../cli.js';
import { CliError } from '../print/error.js';
import { counted } from '../print/text.js';
import type { Link } from './links.js';

/** Members of items of lists, by which they are known and depend on others. */
interface Listed {
  readonly AccessorID?: string;
  readonly ID?: string;
  readonly Name?: string;
  readonly Description?: string;
  readonly BindType?: string;
  readonly BindName?: string;
  readonly ACLs?: Readonly<Partial<Record<'PolicyDefaults' | 'RoleDefaults', readonly Link[]>>>;
}

type Query = Readonly<Record<string, string | undefined>>;

/** A list in which there is what depends on an object. */
interface DependentList<T> {
  readonly noun: string;
  readonly path: string;
  /** What narrows the list; by default to the namespace of the object. */
  readonly query?: (item: T) => Query;
  /** Which items of the list depend on the object; by default all of them. */
  readonly depends?: (item: T, one: Listed) => boolean;
}

/** What depends on the objects of a type: one request for each list. */
export interface Dependents<T> {
  /** `links to it`, `link to it` and, once it is deleted, `linked to it`. */
  readonly says: readonly [one: string, many: string, done: string];
  readonly lists: readonly DependentList<T>[];
}

/** An object to which others link. */
interface Target {
  readonly ID: string;
  readonly Name: string;
  readonly Namespace?: string;
}

/** Returns what links to policies or roles. Namespaces link only to those of `default`. */
export function linkingTo<T extends Target>(
  what: 'policy' | 'role',
  ...holders: readonly string[]
): Dependents<T> {
  const defaults = what === 'policy' ? 'PolicyDefaults' : 'RoleDefaults';
  return {
    says: ['links to it', 'link to it', 'linked to it'],
    lists: [
      ...holders.map((noun) => ({
        noun,
        path: `/v1/acl/${noun}s`,
        query: ({ ID, Namespace }: T) => ({ ns: Namespace, [what]: ID }),
      })),
      {
        noun: 'binding rule',
        path: '/v1/acl/binding-rules',
        depends: ({ Name }, { BindType, BindName }) => BindType === what && BindName === Name,
      },
      {
        noun: 'namespace',
        path: '/v1/namespaces',
        query: () => ({}),
        depends: ({ ID }, { ACLs }) => ACLs?.[defaults]?.some((link) => link.ID === ID) === true,
      },
    ],
  };
}

/** How many names of what depends on an object are told. */
const NAMES_MAX = 3;

/** What depends on an object, in words. */
export interface Told {
  /** `1 role and 2 tokens link to it (ops, ci job 7 and 1 more)` */
  readonly before: string;
  /** `1 role and 2 tokens linked to it` */
  readonly after: string;
}

/** Returns what depends on an object; undefined if there is nothing, or it is hidden. */
export async function dependentsOf<T>(
  { api }: Call<object>,
  { says: [one, many, done], lists }: Dependents<T>,
  item: T,
): Promise<Told | undefined> {
  const counts = new Map<string, number>();
  const names: string[] = [];
  for (const { noun, path, query, depends } of lists)
    try {
      const narrowed = query?.(item) ?? { ns: (item as Partial<Target>).Namespace };
      const answer = await api.get(path, { query: narrowed, isCurrent: true });
      const found = answer.json<Listed[]>().filter((other) => depends?.(item, other) ?? true);
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
const nameOf = ({ AccessorID, ID, Name, Description }: Listed): string =>
  Name || Description || (AccessorID ?? ID ?? '').slice(0, 8);
