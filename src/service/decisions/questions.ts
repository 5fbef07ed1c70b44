/** Which question of rights an evaluation asks (decisions.md 3). */
import { APPLICATION, applicationKey } from '../../acl/application.js';
import { ACCESSES_OF_KEYS, ACCESSES_OF_OTHERS } from '../../acl/batch.js';
import { isNamespaceName } from '../../acl/names.js';
import type { Asked } from '../../acl/reasons.js';
import { type Access, NAMED, type Resource, SCALARS } from '../../acl/types.js';
import { reject } from '../../base/errors.js';
import { lowerAscii } from '../../base/text.js';

/** A subject or a resource. */
export interface Entity {
  readonly type: string;
  readonly id: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

const SCALAR: ReadonlySet<string> = new Set(SCALARS);

/** A resource type: one of this server with its actions, or the name of an application's. */
export type ResourceType =
  | { readonly resource: Resource; readonly actions: readonly string[]; readonly isScalar: boolean }
  | { readonly application: string };

/** Resource types of this server by name. All others are applications'. */
const KNOWN: ReadonlyMap<string, ResourceType> = new Map(
  ([...NAMED, ...SCALARS, 'intention', 'namespace'] as const).map((resource) => {
    const actions = resource === 'key' ? ACCESSES_OF_KEYS : ACCESSES_OF_OTHERS;
    return [resource, { resource, actions, isScalar: SCALAR.has(resource) }];
  }),
);

/** Reads a resource type. Throws ApiError 400 for `app:` without a name. */
export function resourceType(type: string): ResourceType {
  if (type === APPLICATION) reject('invalid', 'resource.type names no type after "app:"');
  if (type.startsWith(APPLICATION)) return { application: type.slice(APPLICATION.length) };
  return KNOWN.get(type) ?? { application: type };
}

/**
 * Returns the question about a resource; undefined if its type does not have the action.
 * `namespace`: that of the subject. Throws ApiError 400.
 */
export function questionOf(
  { type, id, properties }: Entity,
  action: string,
  namespace: string,
): Asked | undefined {
  const ns = namespaceIn(properties, 'resource') ?? namespace;
  const known = resourceType(type);
  if ('application' in known) {
    const segment = applicationKey(known.application, action, id);
    return { resource: 'key', access: 'read', segment, namespace: ns };
  }
  if (!known.actions.includes(action)) return undefined;
  const segment = known.isScalar ? '' : id;
  return { resource: known.resource, access: action as Access, segment, namespace: ns };
}

/** Returns the namespace that properties name; undefined if they name none. Throws ApiError 400. */
export function namespaceIn(properties: Entity['properties'], of: string): string | undefined {
  const { namespace } = properties;
  if (namespace === undefined) return undefined;
  const name = typeof namespace === 'string' ? lowerAscii(namespace) : '';
  if (isNamespaceName(name)) return name;
  return reject('invalid', `${of}.properties.namespace is not the name of a namespace`);
}
