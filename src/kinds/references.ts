/**
 * What an entry names. The state keeps it the other way round, so that a change finds who depends
 * on it without a search.
 */
import type { ApiGateway } from './api-gateway.js';
import { ENTRY_NAME_MAX, isLonger } from './common.js';
import type { IngressGateway } from './ingress-gateway.js';
import type { HttpRoute, TcpRoute } from './routes.js';
import type { ServiceResolver } from './service-resolver.js';
import type { ServiceRouter } from './service-router.js';
import type { ServiceSplitter } from './service-splitter.js';
import type { ConfigEntry } from './types.js';

/** Something that can be named, as text; names count in any letter case. */
export const target = {
  service: (name: string): string => `service ${name.toLowerCase()}`,
  gateway: (name: string): string => `api-gateway ${name.toLowerCase()}`,
  certificate: (kind: string, name: string): string => `${kind} ${name.toLowerCase()}`,
};

/**
 * The services that an entry sends to, own name excluded, wildcards and services of peers aside.
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

/** Everything an entry names, as targets. */
export function targetsOf(entry: ConfigEntry): ReadonlySet<string> {
  return new Set([...namesOf(entry)].filter(isName));
}

/** The word before the name, and what lower case may add to it. */
const TARGET_MAX = 2 * ENTRY_NAME_MAX;
/**
 * What no entry can be called is no target either: it would break the key it becomes part of, or
 * swell it.
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

/** The services of an http-route or tcp-route, once each, in order. */
export function routedServices(route: ConfigEntry): string[] {
  if (route.Kind === 'tcp-route') {
    const { Services: services } = route as unknown as TcpRoute;
    return [...new Set((services ?? []).map(({ Name: name }) => name))];
  }
  const { Rules: rules } = route as unknown as HttpRoute;
  const services = (rules ?? []).flatMap(({ Services }) => Services ?? []);
  return [...new Set(services.map(({ Name: name }) => name))];
}

/** The gateways (and listeners) that a route wants to bind to. */
export function parentsOf(route: ConfigEntry): NonNullable<TcpRoute['Parents']> {
  return (route as unknown as TcpRoute).Parents ?? [];
}
