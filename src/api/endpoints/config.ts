/** Config entries, and the discovery chains that they form. */
import type { ChainGraph } from '../../kinds/chain-graph.js';
import { boolean, fraction, keep, omit, text } from '../../languages/fields.js';
import { COMMAND_LEVELS } from '../../state/levels.js';
import { ok, open, PATCH_SCHEMA, read, tagged, write } from './operation.js';
import { PAGES } from './parameters.js';
import { anyAs, listOf, type Made, mapOf, oneOf, rows, shape } from './shapes.js';

const word = text();
const percent = fraction((value) => value);

const chain = shape({
  ServiceName: keep('The service.', word),
  Namespace: keep('The namespace of the chain.', word),
  Datacenter: keep('The datacenter.', word),
  Protocol: keep('The protocol of the services of the chain.', word),
  StartNode: keep('The key of the first node.', word),
  Nodes: keep(
    'The nodes by key, in the form type:name.',
    mapOf(
      shape({
        Type: keep('What the node is.', oneOf('router', 'splitter', 'resolver')),
        Name: keep('The name of the node.', word),
        Routes: omit(
          'The routes of a router. The first one that matches applies.',
          rows({
            Definition: keep('The route as written in its entry.', anyAs<RouteDefinition>()),
            NextNode: keep('The key of the next node.', word),
          }),
        ),
        Splits: omit(
          'The parts of a splitter.',
          rows({
            Weight: keep('The share of requests, in percent.', percent),
            NextNode: keep('The key of the next node.', word),
          }),
        ),
        Resolver: omit(
          'Where a resolver sends requests.',
          shape({
            Default: keep(
              'Whether the service has no resolver, or one that says nothing of its requests.',
              boolean,
            ),
            ConnectTimeout: keep('The time limit for establishing a connection.', word),
            Target: keep('The ID of the target.', word),
            Failover: omit(
              'What is tried if there are no healthy instances.',
              shape({ Targets: keep('The IDs of targets, in order.', listOf(word)) }),
            ),
          }),
        ),
      }),
    ),
  ),
  Targets: keep(
    'The targets by ID.',
    mapOf(
      shape({
        ID: keep('The ID of the target.', word),
        Service: keep('The service.', word),
        ServiceSubset: omit('The subset of the service.', word),
        Namespace: keep('The namespace of the service.', word),
        Datacenter: keep('The datacenter.', word),
        Peer: omit('The peer from which the service is imported.', word),
        Subset: keep(
          'Which instances are in the subset.',
          shape({
            Filter: omit('The filter of the subset.', word),
            OnlyPassing: omit('Whether instances with a warning are also excluded.', boolean),
          }),
        ),
        MeshGateway: keep('How connections use mesh gateways.', anyAs<object>()),
      }),
    ),
  ),
});

const CHAIN = shape({ Chain: keep('The compiled chain.', chain) });

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
    says: 'Creates or replaces a config entry.',
    query: ['cas'],
    body: 'ConfigEntryBody',
    answers: ok('Whether the entry was written: false if its index differs from cas.', boolean),
    refuses: [409, 412],
    rights: KIND_RIGHTS,
  }),
  'GET /v1/config/:kind/:name': read('readConfigEntry', {
    says: 'Reads a config entry.',
    answers: ok('The entry.', 'ConfigEntry', 'index'),
    refuses: [404],
    rights: ['by kind, such as service:read'],
    blocks: true,
  }),
  'DELETE /v1/config/:kind/:name': write('deleteConfigEntry', {
    says: 'Deletes a config entry, if it exists.',
    query: ['cas'],
    answers: ok('An empty object. With cas: whether the entry was deleted.', {
      schema: { anyOf: [{ type: 'boolean' }, { type: 'object', maxProperties: 0 }] },
    }),
    refuses: [404, 409, 412],
    rights: KIND_RIGHTS,
  }),
  'PATCH /v1/config/:kind/:name': write('patchConfigEntry', {
    level: COMMAND_LEVELS['*/match']!,
    says: 'Changes the given fields of a config entry.',
    body: { schema: PATCH_SCHEMA },
    bodyMedia: 'application/merge-patch+json',
    answers: ok('The entry.', 'ConfigEntry', 'etag'),
    refuses: [404, 409, 412, 415],
    rights: KIND_RIGHTS,
  }),
  'GET /v1/config/:kind': read('listConfigEntries', {
    says:
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
    says: 'Always refused, because a deletion must name an entry.',
    answers: {},
    refuses: [404],
  }),
  'GET /v1/discovery-chain/:service': read('readDiscoveryChain', {
    says: 'Compiles the discovery chain of a service.',
    answers: ok('The chain.', CHAIN, 'index'),
    refuses: [409],
    rights: ['service:read'],
    blocks: true,
  }),
});
