/**
 * The services, gateways and certificates that an entry names. The state indexes entries by these
 * targets, so that a change finds the entries that depend on it without a scan.
 */
import type { ApiGateway } from './api-gateway.js';
import { ENTRY_NAME_MAX, isLonger } from './common.js';
import type { IngressGateway } from './ingress-gateway.js';
import type { HttpRoute, TcpRoute } from './routes.js';
import type { ServiceResolver } from './service-resolver.js';
import type { ServiceRouter } from './service-router.js';
import type { ServiceSplitter } from './service-splitter.js';
import type { ConfigEntry } from './types.js';

/** Builds the index key of a target. Names match in any letter case. */
export const target = {
  service: (name: string): string => `service ${name.toLowerCase()}`,
  gateway: (name: string): string => `api-gateway ${name.toLowerCase()}`,
  certificate: (kind: string, name: string): string => `${kind} ${name.toLowerCase()}`,
};

/**
 * Returns the services to which an entry forwards requests, without itself, wildcards and peers.
 */
export function servicesNamed(entry: ConfigEntry): string[] {
  return [...new Set(namedBy(entry))].filter(
    (name) => name !== '*' && name.toLowerCase() !== entry.Name.toLowerCase(),
  );
}

function namedBy(entry: ConfigEntry): string[] {
  const given = (names: readonly (string | undefined)[]): string[] =>
    names.filter((name) => name !== undefined && name !== '') as string[];
  switch (entry.Kind) {
    case 'service-resolver': {
      const { Redirect: redirect, Failover: failovers } = entry as unknown as ServiceResolver;
      const targets = Object.values(failovers ?? {}).flatMap((failover) => [
        failover.Service,
        ...(failover.Targets ?? []).flatMap((one) => (one.Peer === undefined ? [one.Service] : [])),
      ]);
      return given([redirect?.Peer === undefined ? redirect?.Service : undefined, ...targets]);
    }
    case 'service-router': {
      const { Routes: routes } = entry as unknown as ServiceRouter;
      return given((routes ?? []).map(({ Destination: to }) => to?.Service));
    }
    case 'service-splitter': {
      const { Splits: splits } = entry as unknown as ServiceSplitter;
      return given((splits ?? []).map(({ Service: to }) => to));
    }
    default:
      return [];
  }
}

/** Returns the index keys of everything that an entry names. */
export function targetsOf(entry: ConfigEntry): ReadonlySet<string> {
  return new Set([...namesOf(entry)].filter(isName));
}

/** Maximum number of bytes of a target: a name with its prefix, which lower-casing may lengthen. */
const TARGET_MAX = 2 * ENTRY_NAME_MAX;
/**
 * Whether the text can be the name of an entry. Any other text is not a reference: it would corrupt
 * or bloat the index key.
 */
const isName = (text: string): boolean =>
  !text.includes('\u0000') && !/\p{Surrogate}/u.test(text) && !isLonger(text, TARGET_MAX);

function* namesOf(entry: ConfigEntry): Iterable<string> {
  for (const name of servicesNamed(entry)) yield target.service(name);
  if (entry.Kind === 'ingress-gateway') {
    const { Listeners: listeners } = entry as unknown as IngressGateway;
    for (const { Services: services } of listeners ?? []) {
      for (const { Name: name } of services ?? []) {
        if (name !== '*') yield target.service(name);
      }
    }
  }
  if (entry.Kind === 'http-route' || entry.Kind === 'tcp-route') {
    for (const name of routedServices(entry)) yield target.service(name);
    for (const { Name: name } of parentsOf(entry)) yield target.gateway(name);
  }
  if (entry.Kind === 'api-gateway') {
    const { Listeners: listeners } = entry as unknown as ApiGateway;
    for (const { TLS: tls } of listeners ?? []) {
      for (const { Kind: kind, Name: name } of tls.Certificates ?? []) {
        yield target.certificate(kind, name);
      }
    }
  }
}

/** Returns the services of an http-route or tcp-route, each once, in order. */
export function routedServices(route: ConfigEntry): string[] {
  if (route.Kind === 'tcp-route') {
    const { Services: services } = route as unknown as TcpRoute;
    return [...new Set((services ?? []).map(({ Name: name }) => name))];
  }
  const { Rules: rules } = route as unknown as HttpRoute;
  const services = (rules ?? []).flatMap(({ Services }) => Services ?? []);
  return [...new Set(services.map(({ Name: name }) => name))];
}

/** Returns the gateways and listeners to which a route asks to bind. */
export function parentsOf(route: ConfigEntry): NonNullable<TcpRoute['Parents']> {
  return (route as unknown as TcpRoute).Parents ?? [];
}
