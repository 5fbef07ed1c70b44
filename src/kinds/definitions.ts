/** The definitions of all kinds. A new kind is a file of its own, and a line here and in KINDS. */
import { apiGateway } from './api-gateway.js';
import { boundApiGateway } from './bound-api-gateway.js';
import { fileSystemCertificate, inlineCertificate } from './certificates.js';
import type { KindDefinition } from './definition.js';
import { exportedServices } from './exported-services.js';
import { ingressGateway } from './ingress-gateway.js';
import { jwtProvider } from './jwt-provider.js';
import { mesh } from './mesh.js';
import { proxyDefaults } from './proxy-defaults.js';
import { httpRoute, tcpRoute } from './routes.js';
import { serviceDefaults } from './service-defaults.js';
import { serviceIntentions } from './service-intentions.js';
import { serviceResolver } from './service-resolver.js';
import { serviceRouter } from './service-router.js';
import { serviceSplitter } from './service-splitter.js';
import { terminatingGateway } from './terminating-gateway.js';
import type { ConfigEntry, Kind } from './types.js';

const BY_KIND = {
  'api-gateway': apiGateway,
  'bound-api-gateway': boundApiGateway,
  'exported-services': exportedServices,
  'file-system-certificate': fileSystemCertificate,
  'http-route': httpRoute,
  'ingress-gateway': ingressGateway,
  'inline-certificate': inlineCertificate,
  'jwt-provider': jwtProvider,
  mesh,
  'proxy-defaults': proxyDefaults,
  'service-defaults': serviceDefaults,
  'service-intentions': serviceIntentions,
  'service-resolver': serviceResolver,
  'service-router': serviceRouter,
  'service-splitter': serviceSplitter,
  'tcp-route': tcpRoute,
  'terminating-gateway': terminatingGateway,
} satisfies { readonly [K in Kind]: { readonly kind: K } };

/** The definition of a kind, with its own fields. */
export type DefinitionOf<K extends Kind> = (typeof BY_KIND)[K];

/** The definition of any kind. */
export type AnyKind = KindDefinition<ConfigEntry, Kind>;

// Each definition has its own entry type. The cast makes them one table, which is safe because
// definitionOf returns the definition of the entry's own kind.
const DEFINITIONS = new Map(Object.entries(BY_KIND as unknown as Record<Kind, AnyKind>));

/** Returns the definition of a kind. */
export const definitionOf = (kind: Kind): AnyKind => DEFINITIONS.get(kind)!;

export const isKind = (text: string): text is Kind => DEFINITIONS.has(text);

/** Whether entries of a kind exist once for the whole cluster. They belong to `default`. */
export const isClusterWide = (kind: Kind): boolean => definitionOf(kind).scope === 'cluster';
