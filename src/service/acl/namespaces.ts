/** Use cases of namespaces. */
import { randomUUID } from 'node:crypto';
import { ApiError, refuseIf, reject } from '../../base/errors.js';
import { bodyOf, type Sent } from '../../languages/fields.js';
import { timeOf } from '../../languages/times.js';
import { keys } from '../../state/keys.js';
import { raisedTo } from '../../state/levels.js';
import { deletedIndex, keysBelow, lastPart, listIndex, stored } from '../../state/lists.js';
import {
  type Namespace,
  type NamespaceSet,
  namespaces,
  refusedInBody,
  SEEN_LEVEL,
} from '../../state/namespaces.js';
import { DEFAULT_NAMESPACE } from '../../state/object.js';
import type { Command, View } from '../../state/types.js';
import type { FilterOf } from '../common/filters.js';
import { isHidden, Links, modifyIndexOf } from '../common/reading.js';
import type { ReadUseCase, Requester, Service } from '../common/types.js';
import { maySomewhere } from '../common/writing.js';
import type { ListPlan } from '../reads/list-plan.js';
import { planOf } from '../reads/list-rendering.js';
import { mustFitBudget } from '../rights/policy-budget.js';
import type { ObjectParts, ObjectUseCases } from './objects.js';

type NamespaceBody = Sent<typeof namespaces.fields>;

export const namespaceUseCases = ({
  service,
  nowMs,
}: Pick<ObjectParts, 'service' | 'nowMs'>): ObjectUseCases<NamespaceBody> => ({
  definition: namespaces,
  body: bodyOf(namespaces.fields),
  admit: (write, name) => mayManageSome(service, write, name),
  list: (_ns, { filter }) => listNamespaces(filter),
  read: (_ns, name) => readNamespace(name),
  write: (write, name, body) => writeNamespace(service, write, name, body),
  remove: (write, name) => deleteNamespace(service, write, name, nowMs()),
});

/** Creates or replaces a namespace. Returns it as answered. `name` is that of the path, if any. */
async function writeNamespace(
  service: Service,
  write: Requester,
  name: string | undefined,
  body: NamespaceBody,
): Promise<string> {
  const sent = body.Name ?? '';
  if (name !== undefined && sent !== '' && sent !== name) {
    reject('invalid', 'Namespace Name in URL and payload do not match', { pointer: '/Name' });
  }
  const wanted = name ?? sent;
  await mayManage(service, write, wanted);
  const problem = namespaces.nameProblem?.(wanted);
  if (problem !== undefined) reject('invalid', problem, { pointer: '/Name' });
  await mustFitBudget(service.view, {
    what: 'namespace',
    pointer: '/ACLs',
    ns: DEFAULT_NAMESPACE,
    links: defaultsOf(body),
    before: defaultsOf(stored<Namespace>(service.view, keys.namespace(wanted)) ?? {}),
  });
  const command: NamespaceSet = {
    type: 'namespace.set',
    v: 1,
    policyId: randomUUID(),
    namespace: {
      Name: wanted,
      ...(body.Description ? { Description: body.Description } : {}),
      ...(body.Meta === undefined ? {} : { Meta: body.Meta }),
      PolicyDefaults: body.ACLs?.PolicyDefaults ?? [],
      RoleDefaults: body.ACLs?.RoleDefaults ?? [],
    },
  };
  const text = await service.write(write, command).catch((error: unknown) => {
    throw error instanceof ApiError ? new ApiError(refusedInBody(error.refusal)) : error;
  });
  const written = JSON.parse(text) as Namespace;
  return JSON.stringify(shown(written, new Links(service.view)));
}

const defaultsOf = ({ ACLs }: Pick<NamespaceBody, 'ACLs'>) => ({
  policies: ACLs?.PolicyDefaults,
  roles: ACLs?.RoleDefaults,
});

/** Marks a namespace for deletion. The leader removes what is in it. Returns `true` or `false`. */
async function deleteNamespace(
  service: Service,
  write: Requester,
  name: string,
  nowMs: number,
): Promise<string> {
  await mayManage(service, write, name);
  const command = { type: 'namespace.delete', v: 1, name, at: timeOf(nowMs) } as const;
  return service.write(write, command satisfies Command);
}

const mayManage = (service: Service, requester: Requester, name: string) =>
  service.permit(requester, (authorizer) => authorizer.denial('namespace', 'write', name));

/**
 * Permits a write before its body is read: of the namespace in the path, or of any namespace if the
 * path has none. Throws ApiError 403.
 */
const mayManageSome = (service: Service, requester: Requester, name: string | undefined) =>
  name === undefined
    ? maySomewhere(service, requester, 'namespace', 'write')
    : mayManage(service, requester, name);

/** Returns a namespace with the present names of its links. */
function shown(namespace: Namespace, names: Links): object {
  const { Name, Description, ACLs, ...rest } = namespace;
  return {
    Name,
    ...(Description === undefined ? {} : { Description }),
    // Clients read both lists without checking that they exist.
    ACLs: {
      PolicyDefaults: names.named('policy', ACLs?.PolicyDefaults),
      RoleDefaults: names.named('role', ACLs?.RoleDefaults),
    },
    ...rest,
  };
}

const readNamespace =
  (name: string): ReadUseCase<string | undefined> =>
  ({ view, authorizer }) => {
    refuseIf(authorizer.denial('namespace', 'read', name));
    const key = keys.namespace(name);
    const namespace = stored<Namespace>(view, key);
    if (namespace === undefined) {
      const gone = deletedIndex(view, 'namespace', DEFAULT_NAMESPACE);
      return { value: undefined, index: gone, keys: [key] };
    }
    const names = new Links(view);
    return {
      value: JSON.stringify(shown(namespace, names)),
      index: Math.max(namespace.ModifyIndex, names.index),
      keys: [key, ...names.keys],
    };
  };

/** Lists the namespaces in which the caller has any right, by name. */
const listNamespaces =
  (filter: FilterOf): ReadUseCase<ListPlan> =>
  ({ view, authorizer }) => {
    const matching = filter('namespace');
    const all = [...keysBelow(view, 'namespace')];
    const mayRead = (key: string): boolean =>
      authorizer.allowed('namespace', 'read', lastPart(key));
    const [candidates, others] = [true, false].map((may) =>
      all.filter((key) => mayRead(key) === may),
    ) as [string[], string[]];
    const itemOf = (of: View, key: string, names: Links): object | undefined => {
      const namespace = stored<Namespace>(of, key);
      return namespace === undefined ? undefined : shown(namespace, names);
    };
    return {
      value: planOf(() => candidates, itemOf, matching),
      filtered: others.some((key) => !isHidden(authorizer, lastPart(key))),
      index: namespacesIndex(view, candidates, mayRead),
      keys: [keys.index('namespace', DEFAULT_NAMESPACE)],
    };
  };

/** Returns the index of a list of namespaces: of those that its reader may read or could. */
function namespacesIndex(
  view: View,
  shown: readonly string[],
  mayRead: (key: string) => boolean,
): number {
  const since = raisedTo(view, SEEN_LEVEL);
  if (since === undefined) return listIndex(view, 'namespace', DEFAULT_NAMESPACE);
  const gone = [...keysBelow(view, 'deleted', 'namespace')].filter(
    (key) => lastPart(key) !== DEFAULT_NAMESPACE && mayRead(key),
  );
  return Math.max(
    since,
    ...shown.map((key) => modifyIndexOf(view.get(key)!)),
    ...gone.map((key) => Number(view.get(key))),
  );
}
