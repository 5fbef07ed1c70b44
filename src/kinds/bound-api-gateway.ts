/**
 * `bound-api-gateway`: the routes and certificates bound to an api-gateway. Only the server writes
 * entries of this kind.
 */

import { keep, list, map, type Normal, object, text } from '../languages/fields.js';
import { certificateReference } from './api-gateway.js';
import { defineKind } from './definition.js';
import { BY_SERVER_ONLY } from './permissions.js';

const routeReference = object({
  Kind: keep('The kind of the route.', text({ values: ['http-route', 'tcp-route'] })),
  Name: keep('The name of the route.', text()),
  SectionName: keep('The listener to which the route is bound.', text()),
});

export const boundApiGateway = defineKind(
  'bound-api-gateway',
  {
    Listeners: keep(
      'The listeners of the gateway, with the routes and certificates bound to them.',
      list(
        object({
          Name: keep('The name of the listener.', text()),
          Routes: keep('The routes that are bound to the listener.', list(routeReference)),
          Certificates: keep('The certificates of the listener.', list(certificateReference)),
        }),
      ),
    ),
    Services: keep(
      'The routes, keyed by the service to which they lead.',
      map(list(routeReference)),
    ),
  },
  {
    says:
      'The routes and certificates that are bound to an api-gateway. Only the server ' +
      'writes this entry.',
    permissions: BY_SERVER_ONLY,
    *validate() {},
  },
);
export type BoundApiGateway = Normal<typeof boundApiGateway.type>;
export type Reference = Normal<typeof routeReference>;
