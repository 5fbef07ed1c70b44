/** `exported-services`: the services that peers may use. */

import {
  always,
  list,
  type Normal,
  neededList,
  neededText,
  nonEmpty,
  object,
  text,
} from '../languages/fields.js';
import { among, not, rule, ruled } from '../languages/rules.js';
import { metaField, metaProblems, partition } from './common.js';
import { defineKind } from './definition.js';
import { OF_MESH } from './permissions.js';
import { type Problem, problem } from './problems.js';

const namedDefault = rule('The name is default.', among('Name', 'default'));
const onePeer = rule('The peer is not a wildcard.', not(among('Peer', '*')));
const consumer = object({
  Peer: nonEmpty('The peer that may use the service.', text(), 'peer', 'peer_name'),
  Partition: nonEmpty('The admin partition. Only default is supported.', partition),
  SamenessGroup: nonEmpty(
    'A sameness group. Sameness groups are not supported.',
    text(),
    'sameness_group',
  ),
});
const exported = object({
  Name: always('The name of the service, or `*` for all services.', neededText),
  Namespace: nonEmpty(
    'The namespace of the entry, as that of the service. It is not stored.',
    text(),
  ),
  Consumers: always('Who may use the service.', neededList(ruled(consumer, onePeer))),
});

export const exportedServices = defineKind(
  'exported-services',
  { Services: nonEmpty('The services that peers may use.', list(exported)), Meta: metaField },
  {
    description: 'The services that peers may use.',
    permissions: OF_MESH,
    rules: [namedDefault],
    *validate(entry, { namespace }) {
      if (!namedDefault.holds(entry)) {
        yield problem('exported-services Name must be "default"', 'Name');
      }
      yield* metaProblems(entry.Meta);
      for (const [i, service] of (entry.Services ?? []).entries()) {
        yield* serviceProblems(service, i, namespace);
      }
    },
    stored: (entry) => ({
      ...entry,
      ...(entry.Services && {
        Services: entry.Services.map(({ Namespace: _own, ...service }) => service),
      }),
    }),
  },
);
export type ExportedServices = Normal<typeof exportedServices.type>;

function* serviceProblems(
  service: Normal<typeof exported>,
  i: number,
  namespace: string,
): Iterable<Problem> {
  const consumers = service.Consumers ?? [];
  const at = `Services[${i}]`;
  const { Namespace: named = namespace } = service;
  if (named !== namespace) {
    yield problem(
      `${at} Namespace ${JSON.stringify(named)} cannot be used: an entry exports services of its ` +
        `own namespace, here ${JSON.stringify(namespace)}; "ns" chooses another`,
      'Services',
      i,
      'Namespace',
    );
  }
  for (const [j, { SamenessGroup }] of consumers.entries()) {
    if (SamenessGroup === undefined) continue;
    yield problem(
      `${at}.Consumers[${j}]: sameness-groups are an enterprise-only feature, this server does not have them`,
      'Services',
      i,
      'Consumers',
      j,
      'SamenessGroup',
    );
  }
  if (service.Name === '') {
    yield problem(`${at}: service name cannot be empty`, 'Services', i, 'Name');
  }
  if (consumers.length === 0) {
    yield problem(`${at}: must have at least one consumer`, 'Services', i, 'Consumers');
  }
  for (const [j, value] of consumers.entries()) {
    for (const message of consumerFaults(value)) {
      yield problem(`${at}.Consumers[${j}]: ${message}`, 'Services', i, 'Consumers', j);
    }
  }
}

function* consumerFaults(value: Normal<typeof consumer>): Iterable<string> {
  const { Peer: peer, Partition: partition } = value;
  if (peer !== undefined && partition !== undefined) {
    yield 'must define at most one of Peer, Partition, or SamenessGroup';
  }
  if (partition === '*') yield 'exporting to all partitions (wildcard) is not supported';
  if (partition !== undefined) {
    yield 'Partition: partitions are a feature that this server does not have; name a Peer';
  }
  if (!onePeer.holds(value)) yield 'exporting to all peers (wildcard) is not supported';
}
