/** `service-resolver`: which instances receive the requests of a service. */

import {
  boolean,
  ifSent,
  list,
  map,
  type Normal,
  neededText,
  nonEmpty,
  object,
  positiveDurationText,
  text,
} from '../languages/fields.js';
import { atLeastOne, atMostOne, excludes, needs, ruled } from '../languages/rules.js';
import { FILTER_LENGTH_MAX } from './budget.js';
import { metaField, metaProblems, nameProblems, type Path, partition } from './common.js';
import { defineKind, type EntryOf } from './definition.js';
import { filterFault } from './filters.js';
import { loadBalancer, loadBalancerProblems } from './load-balancer.js';
import { OF_SERVICE } from './permissions.js';
import { PAUSE, type Problem, problem } from './problems.js';
import { localityProblems, prioritizeByLocality } from './proxy-defaults.js';

/** Maximum number of characters of a subset's name, which becomes a label of a DNS name. */
const SUBSET_LENGTH_MAX = 63;
const SUBSET_NAME = '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$';
const isSubsetName = new RegExp(SUBSET_NAME);

const subset = object({
  Filter: nonEmpty('Which instances are in the subset. Empty means all.', text()),
  OnlyPassing: nonEmpty(
    'Whether instances with a warning are also excluded.',
    boolean,
    'only_passing',
  ),
});
const redirectOrFailover = atMostOne('Redirect', 'Failover');
const peerOrSubset = excludes('Peer', 'ServiceSubset');
const peerOrDatacenter = excludes('Peer', 'Datacenter');
const subsetOfService = needs('ServiceSubset', 'Service');
const peerOfService = needs('Peer', 'Service');
const redirect = object({
  Service: nonEmpty('The other service. Defaults to the service of the entry.', text()),
  ServiceSubset: nonEmpty('A subset of the service.', text(), 'service_subset'),
  Namespace: nonEmpty(
    'A namespace. It must not be set, because a resolver stays within its own namespace.',
    text(),
  ),
  Partition: nonEmpty('The admin partition. Only default is supported.', partition),
  Datacenter: nonEmpty('The datacenter of the service.', text()),
  Peer: nonEmpty('The peer from which the service is imported.', text()),
  SamenessGroup: nonEmpty(
    'A sameness group. Sameness groups are not supported.',
    text(),
    'sameness_group',
  ),
});
const someRedirect = atLeastOne(...Object.keys(redirect.fields));
const target = object({
  Service: nonEmpty('The service to try. Defaults to the service of the entry.', text()),
  ServiceSubset: nonEmpty('A subset of the service.', text(), 'service_subset'),
  Partition: nonEmpty('The admin partition. Only default is supported.', partition),
  Namespace: nonEmpty(
    'A namespace. It must not be set, because a resolver stays within its own namespace.',
    text(),
  ),
  Datacenter: nonEmpty('The datacenter of the service.', text()),
  Peer: nonEmpty('The peer from which the service is imported.', text()),
});
const someFailover = atLeastOne('Service', 'ServiceSubset', 'Datacenters', 'Targets');
const ALONE = ['Datacenters', 'ServiceSubset', 'Service'] as const;
const targetsAlone = excludes('Targets', ...ALONE);
const failover = object({
  Service: nonEmpty('The service to try. Defaults to the service of the entry.', text()),
  ServiceSubset: nonEmpty(
    'A subset of the service. Defaults to the one that failed.',
    text(),
    'service_subset',
  ),
  Namespace: nonEmpty(
    'A namespace. It must not be set, because a resolver stays within its own namespace.',
    text(),
  ),
  Datacenters: nonEmpty('The datacenters to try, in order.', list(neededText)),
  Targets: nonEmpty(
    'The targets to try, in order, instead of the service and datacenters in the other fields.',
    list(ruled(target, peerOrSubset, peerOrDatacenter)),
  ),
  Policy: ifSent(
    'The order in which targets are tried.',
    object({
      Mode: nonEmpty('The order of targets. Only the given order is supported.', text()),
      Regions: nonEmpty('The regions to try, in order.', list(text())),
    }),
  ),
  SamenessGroup: nonEmpty(
    'A sameness group. Sameness groups are not supported.',
    text(),
    'sameness_group',
  ),
});

const fields = {
  DefaultSubset: nonEmpty(
    'The subset for requests that do not name one.',
    text(),
    'default_subset',
  ),
  Subsets: nonEmpty(
    'Subsets of the instances, by name.',
    map(subset, { key: SUBSET_LENGTH_MAX, pattern: SUBSET_NAME }),
  ),
  Redirect: ifSent(
    'Another service, or part of one, that receives all requests.',
    ruled(redirect, someRedirect, peerOrSubset, peerOrDatacenter, subsetOfService, peerOfService),
  ),
  Failover: nonEmpty(
    'What receives the requests to a subset without healthy instances, by subset. `*` ' +
      'means all subsets.',
    map(ruled(failover, someFailover, targetsAlone)),
  ),
  PrioritizeByLocality: ifSent(
    'A preference for nearby instances. It is not supported.',
    prioritizeByLocality,
    'prioritize_by_locality',
  ),
  ConnectTimeout: nonEmpty(
    'The time limit for connecting to an instance.',
    positiveDurationText,
    'connect_timeout',
  ),
  RequestTimeout: nonEmpty(
    'How long a response may take.',
    positiveDurationText,
    'request_timeout',
  ),
  LoadBalancer: ifSent('How an instance is chosen for a request.', loadBalancer, 'load_balancer'),
  Meta: metaField,
};
export type ServiceResolver = EntryOf<typeof fields>;

export const serviceResolver = defineKind('service-resolver', fields, {
  description:
    'Which instances receive the requests to a service: subsets, redirects and failover.',
  permissions: OF_SERVICE,
  rules: [redirectOrFailover],
  *forwardsTo({ Redirect: redirect, Failover: failovers }): Iterable<string | undefined> {
    if (redirect?.Peer === undefined) yield redirect?.Service;
    for (const { Service: service, Targets: targets } of Object.values(failovers ?? {})) {
      yield service;
      for (const one of targets ?? []) if (one.Peer === undefined) yield one.Service;
    }
  },
  *validate(entry) {
    yield* nameProblems(entry.Name);
    yield* metaProblems(entry.Meta);
    yield* localityProblems(entry.PrioritizeByLocality);
    yield* subsetProblems(entry);
    yield* redirectProblems(entry);
    for (const [name, value] of Object.entries(entry.Failover ?? {})) {
      yield* failoverProblems(entry, name, value);
    }
    for (const field of ['ConnectTimeout', 'RequestTimeout'] as const) {
      const value = entry[field];
      if (value?.startsWith('-')) yield problem(`Bad ${field} '${value}', must be >= 0`, field);
    }
    yield* loadBalancerProblems(entry.LoadBalancer);
  },
});

/** Whether a resolver defines a subset. Subset names are data, so only own keys count. */
export const hasSubset = (resolver: ServiceResolver | undefined, name: string): boolean =>
  Object.hasOwn(resolver?.Subsets ?? {}, name);

function* subsetProblems(entry: ServiceResolver): Iterable<Problem | typeof PAUSE> {
  let filterLength = 0;
  for (const [name, value] of Object.entries(entry.Subsets ?? {})) {
    const path: Path = ['Subsets', name];
    const quoted = JSON.stringify(name);
    if (name === '') {
      yield problem('Subset defined with empty name', ...path);
    } else if (name.length > SUBSET_LENGTH_MAX) {
      yield problem(
        `Subset ${quoted} is invalid: must be non-empty and ${SUBSET_LENGTH_MAX} characters or fewer`,
        ...path,
      );
    } else if (!isSubsetName.test(name)) {
      yield problem(
        `Subset ${quoted} is invalid: must be ${SUBSET_LENGTH_MAX} characters or fewer, begin or end with lower case alphanumeric characters, and contain lower case alphanumeric characters or '-' in between`,
        ...path,
      );
    }
    if (value.Filter === undefined) continue;
    filterLength += value.Filter.length;
    if (filterLength > FILTER_LENGTH_MAX) {
      yield problem(
        `the Filters of all Subsets together are longer than ${FILTER_LENGTH_MAX} characters`,
        ...path,
        'Filter',
      );
      return;
    }
    yield PAUSE;
    const fault = filterFault(value.Filter);
    if (fault !== undefined) {
      yield problem(
        `Filter for subset ${quoted} is not a valid expression: ${fault}`,
        ...path,
        'Filter',
      );
    }
  }
  const standard = entry.DefaultSubset;
  if (standard !== undefined && !hasSubset(entry, standard)) {
    yield problem(
      `DefaultSubset ${JSON.stringify(standard)} is not a valid subset`,
      'DefaultSubset',
    );
  }
}

/** Refuses a field of another edition. Clients know the phrase up to "requires". */
const editionProblem = (at: string, field: string, ...path: Path): Problem =>
  problem(
    `${at}Setting ${field} requires another edition of this API; here a resolver stays within its namespace`,
    ...path,
    field,
  );

function* redirectProblems(entry: ServiceResolver): Iterable<Problem> {
  const value = entry.Redirect;
  if (value === undefined) return;
  const say = (message: string, ...path: Path): Problem => problem(message, 'Redirect', ...path);
  for (const field of ['Partition', 'Namespace', 'SamenessGroup'] as const) {
    if (value[field] !== undefined) yield editionProblem('Redirect: ', field, 'Redirect');
  }
  if (!redirectOrFailover.holds(entry)) yield say('Redirect and Failover cannot both be set');
  if (!someRedirect.holds(value)) yield say('Redirect is empty');
  if (!peerOrSubset.holds(value)) {
    yield say('Redirect.Peer cannot be set with Redirect.ServiceSubset', 'Peer');
  }
  if (!peerOrDatacenter.holds(value)) {
    yield say('Redirect.Peer cannot be set with Redirect.Datacenter', 'Peer');
  }
  if (!subsetOfService.holds(value)) {
    yield say('Redirect.ServiceSubset defined without Redirect.Service', 'ServiceSubset');
  }
  if (!peerOfService.holds(value)) {
    yield say('Redirect.Peer defined without Redirect.Service', 'Peer');
  }
  const { Service: service, ServiceSubset: wanted } = value;
  if (service === entry.Name && wanted !== undefined && !hasSubset(entry, wanted)) {
    yield say(
      `Redirect.ServiceSubset ${JSON.stringify(wanted)} is not a valid subset of ${JSON.stringify(service)}`,
      'ServiceSubset',
    );
  }
}

function* failoverProblems(
  entry: ServiceResolver,
  name: string,
  value: Normal<typeof failover>,
): Iterable<Problem> {
  const at = `Bad Failover[${JSON.stringify(name)}]`;
  const path: Path = ['Failover', name];
  const say = (message: string, ...more: Path): Problem =>
    problem(`${at}: ${message}`, ...path, ...more);
  for (const field of ['Namespace', 'SamenessGroup'] as const) {
    if (value[field] !== undefined) yield editionProblem(`${at}: `, field, ...path);
  }
  if (name !== '*' && !hasSubset(entry, name)) yield say('not a valid subset subset');
  if (!someFailover.holds(value)) {
    yield say(
      'one of Service, ServiceSubset, Namespace, Targets, SamenessGroup, or Datacenters is required',
    );
  }
  const { Service: service, ServiceSubset: wanted, Datacenters: datacenters } = value;
  if (value.Policy?.Mode !== undefined) {
    yield say('Setting failover policies requires another edition of this API', 'Policy', 'Mode');
  }
  if (wanted !== undefined && (service ?? entry.Name) === entry.Name && !hasSubset(entry, wanted)) {
    yield say(
      `ServiceSubset ${JSON.stringify(wanted)} is not a valid subset of ${JSON.stringify(service ?? '')}`,
      'ServiceSubset',
    );
  }
  if (!targetsAlone.holds(value)) {
    for (const field of ALONE) {
      if (value[field] !== undefined) yield say(`Targets cannot be set with ${field}`, 'Targets');
    }
  }
  for (const [i, datacenter] of (datacenters ?? []).entries()) {
    if (datacenter === '') {
      yield problem(`${at}.Datacenters: found empty datacenter`, ...path, 'Datacenters', i);
    }
  }
  for (const [i, one] of (value.Targets ?? []).entries()) {
    yield* targetProblems(entry, one, `${at}.Targets[${i}]: `, ...path, 'Targets', i);
  }
}

function* targetProblems(
  entry: ServiceResolver,
  one: Normal<typeof target>,
  at: string,
  ...path: Path
): Iterable<Problem> {
  for (const field of ['Partition', 'Namespace'] as const) {
    if (one[field] !== undefined) yield editionProblem(at, field, ...path);
  }
  if (!peerOrSubset.holds(one)) {
    yield problem(`${at}Peer cannot be set with ServiceSubset`, ...path, 'Peer');
  }
  if (!peerOrDatacenter.holds(one)) {
    yield problem(`${at}Peer cannot be set with Datacenter`, ...path, 'Peer');
  }
  const wanted = one.ServiceSubset;
  if (
    wanted !== undefined &&
    (one.Service ?? entry.Name) === entry.Name &&
    !hasSubset(entry, wanted)
  ) {
    yield problem(
      `${at}ServiceSubset ${JSON.stringify(wanted)} is not a valid subset of ${JSON.stringify(entry.Name)}`,
      ...path,
      'ServiceSubset',
    );
  }
}
