/**
 * `bound-api-gateway`: the routes and certificates bound to an api-gateway. Only the server writes
 * entries of this kind.
 */

import { keep, list, map, type Normal, object, text } from '../languages/fields.js';
import { certificateReference } from './api-gateway.js';
import { defineKind } from './definition.js';
import { BY_SERVER_ONLY } from './permissions.js';

const routeReference = object({
  Kind: keep(text({ values: ['http-route', 'tcp-route'] })),
  Name: keep(text()),
  SectionName: keep(text()),
});

/** The kind `bound-api-gateway`. */
export const boundApiGateway = defineKind(
  'bound-api-gateway',
  {
    Listeners: keep(
      list(
        object({
          Name: keep(text()),
          Routes: keep(list(routeReference)),
          Certificates: keep(list(certificateReference)),
        }),
      ),
    ),
    Services: keep(map(list(routeReference))),
  },
  { permissions: BY_SERVER_ONLY, *validate() {} },
);
/** A normalised `bound-api-gateway` entry. */
export type BoundApiGateway = Normal<typeof boundApiGateway.type>;
/** A reference from a bound gateway to a route. */
export type Reference = Normal<typeof routeReference>;
