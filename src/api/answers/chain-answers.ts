/** What the discovery chain of a service answers. */

import {
  anyObject,
  boolean,
  fraction,
  keep,
  omit,
  type Type,
  text,
} from '../../languages/fields.js';
import type { Chain, RouteDefinition } from './answers.js';
import { anyAs, listOf, mapOf, oneOf, shape } from './shapes.js';

const word = text();
const percent = fraction((value) => value);

const chain: Type<Chain> = shape({
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
          listOf(
            shape({
              Definition: keep('The route as written in its entry.', anyAs<RouteDefinition>({})),
              NextNode: keep('The key of the next node.', word),
            }),
          ),
        ),
        Splits: omit(
          'The parts of a splitter.',
          listOf(
            shape({
              Weight: keep('The share of requests, in percent.', percent),
              NextNode: keep('The key of the next node.', word),
            }),
          ),
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
        MeshGateway: keep('How connections use mesh gateways.', anyObject),
      }),
    ),
  ),
});

/** `GET /v1/discovery-chain/:service`. */
export const CHAIN = shape({ Chain: keep('The compiled chain.', chain) });
