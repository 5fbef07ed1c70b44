/** What the clients of decisions share: answers, and how they are read. */
import { APPLICATION, applicationKey } from '../acl/application.js';
import { RESOURCES } from '../acl/types.js';

/** Who is meant in a question (decisions.md 2.1). */
export interface Subject {
  readonly type: string;
  readonly id: string;
  readonly properties?: { readonly auth_method?: string; readonly namespace?: string };
}

/** An answer to a question (decisions.md 1.3). */
export interface Decided {
  readonly decision: boolean;
  readonly context?: {
    readonly reason_admin?: { readonly en: string };
    readonly reason_user?: { readonly en: string };
    readonly truncated?: boolean;
  };
}

/** Returns why something was decided so, in a sentence; undefined if the answer does not say. */
export const reasonOf = ({ context }: Decided): string | undefined =>
  context?.reason_admin?.en ?? context?.reason_user?.en;

/**
 * The properties of the resource in a search for actions on any id. The context of the answer then
 * has the actions in `denied` that are allowed on none, although others of their prefix are.
 */
const ANY_ID = { any_id: true };

/** A page of what a search finds (decisions.md 4). */
export interface Found<R> {
  readonly page: { readonly next_token: string };
  readonly results: readonly R[];
  readonly context?: {
    readonly prefixes?: readonly PrefixRule[];
    readonly denied?: readonly string[];
    readonly any_action?: boolean;
    readonly action_prefixes?: readonly PrefixRule[];
    readonly unsupported?: string;
    readonly truncated?: boolean;
  };
}

/** What is decided about names that begin so, unless a longer prefix or an exact rule says more. */
export interface PrefixRule {
  readonly prefix: string;
  readonly allow: boolean;
}

/** A name of a rule as people read it: in quotes where it is no word, or seems to be a prefix. */
export const nameText = (name: string): string =>
  name === '' || name.endsWith('*') || /[\s"]/.test(name) ? JSON.stringify(name) : name;

/** The same for all names that begin so. */
export const prefixText = (prefix: string): string => `${prefix === '' ? '' : nameText(prefix)}*`;

/** One line of what a subject may do; `action` and `id` are texts of names or prefixes. */
export interface Line {
  readonly allow: boolean;
  readonly action: string;
  readonly id: string;
}

/**
 * Returns what was found about the ids of an action, the widest first. Resources without ids have
 * no prefixes either.
 */
const linesOf = (
  action: string,
  { results, context }: Found<{ readonly id: string }>,
): readonly Line[] => [
  ...(context?.prefixes ?? []).map(({ prefix, allow }) => ({
    allow,
    action,
    id: prefixText(prefix),
  })),
  ...results.map(({ id }) => {
    const isWithout = id === '' && context?.prefixes === undefined;
    return { allow: true, action, id: isWithout ? '' : nameText(id) };
  }),
  ...(context?.denied ?? []).map((id) => ({ allow: false, action, id: nameText(id) })),
];

/** Returns what was found about the actions that have no ids of their own, the widest first. */
const otherActions = ({ context }: Found<unknown>): readonly Line[] => {
  const any = context?.any_action === true ? [{ prefix: '', allow: true }] : [];
  const prefixes = [...any, ...(context?.action_prefixes ?? [])];
  return [
    ...prefixes.map(({ prefix, allow }) => ({ allow, action: prefixText(prefix), id: '*' })),
    ...(context?.denied ?? []).map((action) => ({ allow: false, action, id: '*' })),
  ];
};

/** Searches for actions or resources. Returns what is on all pages that it reads. */
export type SearchRights = <R>(what: 'action' | 'resource', body: object) => Promise<Found<R>>;

/** What a subject may do to resources of a type. */
export interface RightsFound {
  readonly actions: Found<{ readonly name: string }>;
  readonly ids: readonly {
    readonly action: string;
    readonly found: Found<{ readonly id: string }>;
  }[];
  readonly lines: readonly Line[];
}

/** Finds what a subject may do to resources of a type, by one search after the other. */
export async function findRights(
  search: SearchRights,
  subject: Subject,
  resource: { readonly type: string; readonly properties: object },
): Promise<RightsFound> {
  const anyId = { ...resource, id: '', properties: { ...resource.properties, ...ANY_ID } };
  const actions = await search<{ readonly name: string }>('action', {
    subject,
    resource: anyId,
  });
  const ids: { action: string; found: Found<{ readonly id: string }> }[] = [];
  for (const { name: action } of actions.results) {
    const asked = { subject, action: { name: action }, resource };
    ids.push({ action, found: await search<{ readonly id: string }>('resource', asked) });
  }
  const lines = ids.flatMap(({ action, found }) => linesOf(nameText(action), found));
  return { actions, ids, lines: [...otherActions(actions), ...lines] };
}

/** Returns the question about rights that decides about an action (decisions.md 3). */
export function questionAbout(type: string, action: string, id?: string) {
  if ((RESOURCES as readonly string[]).includes(type))
    return { Resource: type, Access: action, ...(id !== undefined && { Segment: id }) };
  const name = type.startsWith(APPLICATION) ? type.slice(APPLICATION.length) : type;
  return { Resource: 'key', Access: 'read', Segment: applicationKey(name, action, id ?? '') };
}
