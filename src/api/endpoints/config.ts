/** Config entries, and the discovery chains that they form. */
import type { ChainGraph } from '../../kinds/chain-graph.js';
import { always, boolean, fraction, nonEmpty, text } from '../../languages/fields.js';
import { COMMAND_LEVELS } from '../../state/levels.js';
import { ok, open, PATCH_SCHEMA, read, tagged, write } from './operation.js';
import { PAGES } from './parameters.js';
import { anyAs, listOf, type Made, mapOf, oneOf, rows, shape } from './shapes.js';

const word = text();
const percent = fraction((value) => value);

const chain = shape({
  ServiceName: always('The service.', word),
  Namespace: always('The namespace of the chain.', word),
  Datacenter: always('The datacenter.', word),
  Protocol: always('The protocol of the services of the chain.', word),
  StartNode: always('The key of the first node.', word),
  Nodes: always(
    'The nodes by key, in the form type:name.',
    mapOf(
      shape({
        Type: always('What the node is.', oneOf('router', 'splitter', 'resolver')),
        Name: always('The name of the node.', word),
        Routes: nonEmpty(
          'The routes of a router. The first one that matches applies.',
          rows({
            Definition: always('The route as written in its entry.', anyAs<RouteDefinition>()),
            NextNode: always('The key of the next node.', word),
          }),
        ),
        Splits: nonEmpty(
          'The parts of a splitter.',
          rows({
            Weight: always('The share of requests, in percent.', percent),
            NextNode: always('The key of the next node.', word),
          }),
        ),
        Resolver: nonEmpty(
          'Where a resolver sends requests.',
          shape({
            Default: always(
              'Whether the service has no resolver, or one that says nothing of its requests.',
              boolean,
            ),
            ConnectTimeout: always('The time limit for establishing a connection.', word),
            Target: always('The ID of the target.', word),
            Failover: nonEmpty(
              'What is tried if there are no healthy instances.',
              shape({ Targets: always('The IDs of targets, in order.', listOf(word)) }),
            ),
          }),
        ),
      }),
    ),
  ),
  Targets: always(
    'The targets by ID.',
    mapOf(
      shape({
        ID: always('The ID of the target.', word),
        Service: always('The service.', word),
        ServiceSubset: nonEmpty('The subset of the service.', word),
        Namespace: always('The namespace of the service.', word),
        Datacenter: always('The datacenter.', word),
        Peer: nonEmpty('The peer from which the service is imported.', word),
        Subset: always(
          'Which instances are in the subset.',
          shape({
            Filter: nonEmpty('The filter of the subset.', word),
            OnlyPassing: nonEmpty('Whether instances with a warning are also excluded.', boolean),
          }),
        ),
        MeshGateway: always('How connections use mesh gateways.', anyAs<object>()),
      }),
    ),
  ),
});

const CHAIN = shape({ Chain: always('The compiled chain.', chain) });

const KIND_RIGHTS = ['by kind, such as service:write'];

/** The chain of `GET /v1/discovery-chain/:service`. */
export type Chain = Made<typeof chain, ChainGraph>;
export type ChainNode = Chain['Nodes'][string];
export type ChainTarget = Chain['Targets'][string];
/** A route as its entry has it, with the members that clients show. */
export interface RouteDefinition {
  readonly Match?: { readonly HTTP?: RouteMatch };
}
/** What a route of a chain matches. */
export interface RouteMatch {
  readonly PathExact?: string;
  readonly PathPrefix?: string;
  readonly PathRegex?: string;
  readonly Methods?: readonly string[] | null;
  readonly Header?: readonly { readonly Name: string }[] | null;
  readonly QueryParam?: readonly { readonly Name: string }[] | null;
}

export const CONFIG_OPERATIONS = tagged('config', {
  'PUT /v1/config': write('writeConfigEntry', {
    description: 'Creates or replaces a config entry.',
    query: ['cas'],
    body: 'ConfigEntryBody',
    answers: ok('Whether the entry was written: false if its index differs from cas.', boolean),
    refuses: [409, 412],
    rights: KIND_RIGHTS,
  }),
  'GET /v1/config/:kind/:name': read('readConfigEntry', {
    description: 'Reads a config entry.',
    answers: ok('The entry.', 'ConfigEntry', 'index'),
    refuses: [404],
    rights: ['by kind, such as service:read'],
    blocks: true,
  }),
  'DELETE /v1/config/:kind/:name': write('deleteConfigEntry', {
    description: 'Deletes a config entry, if it exists.',
    query: ['cas'],
    answers: ok('An empty object. With cas: whether the entry was deleted.', {
      schema: { anyOf: [{ type: 'boolean' }, { type: 'object', maxProperties: 0 }] },
    }),
    refuses: [404, 409, 412],
    rights: KIND_RIGHTS,
  }),
  'PATCH /v1/config/:kind/:name': write('patchConfigEntry', {
    level: COMMAND_LEVELS['*/match']!,
    description: 'Changes the given fields of a config entry.',
    body: { schema: PATCH_SCHEMA },
    bodyMedia: 'application/merge-patch+json',
    answers: ok('The entry.', 'ConfigEntry', 'etag'),
    refuses: [404, 409, 412, 415],
    rights: KIND_RIGHTS,
  }),
  'GET /v1/config/:kind': read('listConfigEntries', {
    description:
      'Lists the config entries of a kind that the caller may read, or of all kinds if ' +
      'none is given.',
    query: ['filter', ...PAGES],
    answers: ok(
      'The entries.',
      {
        schema: { type: 'array', items: { $ref: '#/components/schemas/ConfigEntry' } },
      },
      'index',
      'page',
    ),
    rights: ['by kind, such as service:read'],
    blocks: true,
  }),
  'DELETE /v1/config/:kind': open('deleteConfigEntries', {
    description: 'Always refused, because a deletion must name an entry.',
    answers: {},
    refuses: [404],
  }),
  'GET /v1/discovery-chain/:service': read('readDiscoveryChain', {
    description: 'Compiles the discovery chain of a service.',
    answers: ok('The chain.', CHAIN, 'index'),
    refuses: [409],
    rights: ['service:read'],
    blocks: true,
  }),
});
