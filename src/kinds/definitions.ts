/** The list of all kinds. A new kind is a file of its own and a line here. */
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
import type { ConfigEntry } from './types.js';

/** In alphabetical order, in which lists of all kinds answer them. */
const ALL = [
  apiGateway,
  boundApiGateway,
  exportedServices,
  fileSystemCertificate,
  httpRoute,
  ingressGateway,
  inlineCertificate,
  jwtProvider,
  mesh,
  proxyDefaults,
  serviceDefaults,
  serviceIntentions,
  serviceResolver,
  serviceRouter,
  serviceSplitter,
  tcpRoute,
  terminatingGateway,
] as const;

/** The definition of some kind, with its own fields. */
export type AnyDefinition = (typeof ALL)[number];
/** The name of a kind. */
export type Kind = AnyDefinition['kind'];
/** The names of all kinds, in alphabetical order. */
export const KINDS: readonly Kind[] = ALL.map(({ kind }) => kind);

/** The definition of any kind. */
export type AnyKind = KindDefinition<ConfigEntry, Kind>;

// Each definition has its own entry type. The cast makes them one table, which is safe because
// definitionOf returns the definition of the entry's own kind.
const DEFINITIONS: ReadonlyMap<string, AnyKind> = new Map(
  (ALL as unknown as readonly AnyKind[]).map((definition) => [definition.kind, definition]),
);

/** Returns the definition of a kind. */
export const definitionOf = (kind: Kind): AnyKind => DEFINITIONS.get(kind)!;

/** Whether the text names a kind. */
export const isKind = (text: string): text is Kind => DEFINITIONS.has(text);

/** Whether entries of a kind exist once for the whole cluster. They belong to `default`. */
export const isClusterWide = (kind: Kind): boolean => definitionOf(kind).scope === 'cluster';
