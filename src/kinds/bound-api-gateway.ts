/** `bound-api-gateway`: what is bound to an api-gateway. Made by the server alone. */
import { certificateReference } from './api-gateway.js';
import { defineKind } from './definition.js';
import { keep, list, map, type Normal, object, text } from './fields.js';

const routeReference = object({
  Kind: keep(text({ values: ['http-route', 'tcp-route'] })),
  Name: keep(text()),
  SectionName: keep(text()),
});

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
  { *validate() {} },
);
export type BoundApiGateway = Normal<typeof boundApiGateway.type>;
export type Reference = Normal<typeof routeReference>;
