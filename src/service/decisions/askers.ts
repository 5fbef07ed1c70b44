/** What one subject of a search may do, by all tokens that it stands for. */
import { rightsBehind } from '../../acl/authorizer.js';
import { CLUSTER_WIDE, type Rights } from '../../acl/layer.js';
import type { Steps } from '../../acl/steps.js';
import type { Named } from '../../acl/types.js';
import { isText } from '../../base/text.js';
import { isAllowed } from './evaluate.js';
import type { RuleNames } from './prefixes.js';
import { type Entity, namespaceIn, questionOf } from './questions.js';
import type { Holder } from './subjects.js';

/** What a subject may ask about, once it is resolved. */
export interface Asker {
  readonly holders: readonly Holder[];
  readonly truncated: boolean;
}

/** A subject that may do nothing. */
export const NOBODY: Asker = { holders: [], truncated: false };

/** Returns one holder for all that have the same rights in the same namespace. */
export function distinct(holders: readonly Holder[]): readonly Holder[] {
  const kept: Holder[] = [];
  const seen = new Map<Rights, Set<string>>();
  for (const holder of holders) {
    const { authorizer, namespace } = holder;
    const rights = rightsBehind(authorizer);
    const kinds = seen.get(rights) ?? new Set();
    seen.set(rights, kinds);
    const kind = `${authorizer.anonymous} ${namespace}`;
    if (!kinds.has(kind)) kept.push(holder);
    kinds.add(kind);
  }
  return kept;
}

/** Whether a subject may do something to a resource. */
export const mayDo = ({ holders }: Asker, resource: Entity, action: string): boolean =>
  holders.some((holder) => {
    const asked = questionOf(resource, action, holder.namespace);
    return asked !== undefined && isAllowed(holder, asked, resource);
  });

/** Returns the names that the rules of a subject have below a base, without the base. */
export function* namesOf(
  { holders }: Asker,
  { properties }: Entity,
  resource: Named | 'intention',
  base: string,
): Steps<RuleNames> {
  const exact = new Set<string>();
  const prefix = new Set<string>();
  for (const { namespace, authorizer } of holders) {
    const asked = namespaceIn(properties, 'resource') ?? namespace;
    const ns = CLUSTER_WIDE.has(resource) ? 'default' : asked;
    const sets = rightsBehind(authorizer).layers.flatMap((layer) => [...layer.setsFor(ns)]);
    for (const { named } of sets) {
      yield* addBelow(exact, named.get(resource)?.exact, base);
      yield* addBelow(prefix, named.get(resource)?.prefix, base);
    }
  }
  return { exact, prefix };
}

/** Adds the names that begin with a base, without the base. */
function* addBelow(
  to: Set<string>,
  from: ReadonlyMap<string, unknown> | undefined,
  base: string,
): Steps<void> {
  for (const name of from?.keys() ?? []) {
    if (name.startsWith(base) && isText(name)) to.add(name.slice(base.length));
    yield;
  }
}
