/**
 * `bound-api-gateway`: the routes and certificates bound to an api-gateway. Only the server writes
 * entries of this kind.
 */

import { always, list, map, type Normal, object, text } from '../languages/fields.js';
import { certificateReference } from './api-gateway.js';
import { defineKind } from './definition.js';
import { BY_SERVER_ONLY } from './permissions.js';

const routeReference = object({
  Kind: always('The kind of the route.', text({ values: ['http-route', 'tcp-route'] })),
  Name: always('The name of the route.', text()),
  SectionName: always('The listener to which the route is bound.', text()),
});

export const boundApiGateway = defineKind(
  'bound-api-gateway',
  {
    Listeners: always(
      'The listeners of the gateway, with the routes and certificates bound to them.',
      list(
        object({
          Name: always('The name of the listener.', text()),
          Routes: always('The routes that are bound to the listener.', list(routeReference)),
          Certificates: always('The certificates of the listener.', list(certificateReference)),
        }),
      ),
    ),
    Services: always(
      'The routes, keyed by the service to which they lead.',
      map(list(routeReference)),
    ),
  },
  {
    description:
      'The routes and certificates that are bound to an api-gateway. Only the server ' +
      'writes this entry.',
    permissions: BY_SERVER_ONLY,
    *validate() {},
  },
);
export type BoundApiGateway = Normal<typeof boundApiGateway.type>;
export type Reference = Normal<typeof routeReference>;
