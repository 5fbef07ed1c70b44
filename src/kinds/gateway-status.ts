/**
 * What the server computes about api-gateways: the routes bound to each gateway, and the status
 * conditions of gateways and routes. It does so inside apply, so a read after a write shows both.
 */
import { quoted } from '../base/text.js';
import { type ApiGateway, providersOfListener } from './api-gateway.js';
import type { BoundApiGateway, Reference } from './bound-api-gateway.js';
import { type Budget, compileChain, ReachesTooFar } from './chain.js';
import {
  conditionOf,
  gatewayAccepted,
  INVALID_JWT,
  type Missing,
  place,
  type Status,
  type UntimedCondition,
  unresolved,
} from './conditions.js';
import { isKind } from './definitions.js';
import { type EntryOfKind, entryOf, ofKind } from './entry-types.js';
import { type Affecting, reached } from './gateway-reach.js';
import { parentsOf, providersNamed, routedServices } from './references.js';
import { target } from './targets.js';
import type { ConfigEntry, EntryId, EntryLookup } from './types.js';

/** The effects of a change: new statuses and bound-api-gateways. An undefined entry is deleted. */
export interface Settled {
  readonly statuses: readonly { readonly id: EntryId; readonly status: Status }[];
  readonly bound: readonly { readonly name: string; readonly entry: ConfigEntry | undefined }[];
}

const NOTHING: Settled = { statuses: [], bound: [] };

/**
 * Maximum number of steps of the bindings that one change makes the members compute in a namespace:
 * comparisons of routes with listeners, and bytes of references to routes in bound-api-gateways,
 * whose number is a product. A record must fit into a message between members. The value is
 * replicated behaviour: see state/levels.ts before changing it.
 */
export const BINDING_STEPS_MAX = 2 ** 23;

interface SettleOptions {
  /** The time of the changes as RFC 3339 text. */
  readonly at: string;
  /** For chains. */
  readonly budget: Budget;
  /** For bindings. */
  readonly bindings: Budget;
}

/**
 * Computes the effects of changes on gateways and routes. Throws ReachesTooFar when a budget is
 * exhausted.
 */
export function settleGateways(
  changes: readonly Affecting[],
  lookup: EntryLookup,
  options: SettleOptions,
): Settled {
  const { gateways, routes } = reached(changes, lookup);
  if (gateways.size === 0 && routes.length === 0) return NOTHING;
  const status = new GatewayStatus(lookup, options);
  const statuses: Settled['statuses'][number][] = [];
  const bound: Settled['bound'][number][] = [];
  for (const route of routes) {
    const entry = lookup.get(route.kind, route.name);
    if (entry !== undefined) statuses.push({ id: route, status: status.ofRoute(entry) });
  }
  for (const name of gateways) {
    const entry = entryOf(lookup, 'api-gateway', name);
    bound.push({ name, entry: entry && status.bound(entry) });
    if (entry === undefined) continue;
    statuses.push({ id: { kind: 'api-gateway', name }, status: status.ofGateway(entry) });
  }
  return { statuses, bound };
}

/** Computes the status of gateways and routes of one namespace. Compiles each chain once. */
class GatewayStatus {
  readonly #lookup: EntryLookup;
  readonly #at: string;
  readonly #budget: Budget;
  readonly #bindings: Budget;
  /** The protocol or the fault of each chain, by service. */
  readonly #chains = new Map<string, { readonly protocol?: string; readonly fault?: string }>();
  readonly #accepted = new Map<string, UntimedCondition>();
  readonly #bound = new Map<string, readonly ConfigEntry[]>();
  readonly #byListener = new Map<string, ReadonlyMap<string, readonly ConfigEntry[]>>();
  readonly #missing = new Map<string, ReadonlyMap<string, Missing>>();

  constructor(lookup: EntryLookup, { at, budget, bindings }: SettleOptions) {
    this.#lookup = lookup;
    this.#at = at;
    this.#budget = budget;
    this.#bindings = bindings;
  }

  ofRoute(route: ConfigEntry): Status {
    const bindings = parentsOf(route).map((parent) => this.#binding(route, parent));
    const lost = this.#missingProvider(providersNamed(route));
    const refs = lost === undefined ? [] : [unresolved({ provider: lost })];
    return this.#status(route, [this.#routeAccepted(route), ...bindings, ...refs]);
  }

  ofGateway(gateway: EntryOfKind<'api-gateway'>): Status {
    const missing = this.#missingReferences(gateway);
    const untimed = [gatewayAccepted([...missing.values()])];
    for (const { Name: section, Protocol: protocol } of gateway.Listeners ?? []) {
      const place = { Kind: 'api-gateway', Name: gateway.Name, SectionName: section };
      const lost = missing.get(section);
      const conflicts = protocol === 'tcp' && this.#routesOf(gateway, section).length > 1;
      untimed.push(
        lost === undefined
          ? conditionOf('ResolvedRefs', 'True', 'ResolvedRefs', 'resolved refs', place)
          : unresolved(lost, place),
        conflicts
          ? conditionOf('Conflicted', 'True', 'RouteConflict', ONE_ROUTE_ONLY, place)
          : conditionOf('Conflicted', 'False', 'NoConflict', NO_CONFLICT, place),
      );
    }
    return this.#status(gateway, untimed);
  }

  bound(gateway: ApiGateway): ConfigEntry {
    const services = new Map<string, Reference[]>();
    const listeners = (gateway.Listeners ?? []).map(({ Name, TLS }) => {
      const routes = this.#routesOf(gateway, Name).map((route) => this.#reference(route));
      const certificates = (TLS.Certificates ?? []).filter((one) => this.#exists(one));
      return {
        Name,
        Routes: routes.length > 0 ? routes : null,
        Certificates: certificates.length > 0 ? certificates : null,
      };
    });
    for (const route of this.#boundRoutes(gateway)) {
      for (const service of routedServices(route)) {
        const references = services.get(service) ?? [];
        references.push(this.#reference(route));
        services.set(service, references);
      }
    }
    return {
      Kind: 'bound-api-gateway',
      Name: gateway.Name,
      Listeners: listeners,
      Services: Object.fromEntries([...services].sort(([a], [b]) => (a < b ? -1 : 1))),
    } satisfies BoundApiGateway & ConfigEntry;
  }

  #reference({ Kind, Name }: ConfigEntry): Reference {
    const reference = { Kind, Name, SectionName: '' };
    this.#spend(Buffer.byteLength(JSON.stringify(reference)));
    return reference;
  }

  #spend(steps: number): void {
    this.#bindings.left -= steps;
    if (this.#bindings.left < 0) throw new ReachesTooFar('bindings');
  }

  /** Returns the routes bound to a gateway, in order of kind and name. */
  #boundRoutes(gateway: ApiGateway): readonly ConfigEntry[] {
    const known = this.#bound.get(gateway.Name);
    if (known !== undefined) return known;
    const routes: ConfigEntry[] = [];
    for (const { kind, name } of this.#lookup.naming(target.gateway(gateway.Name))) {
      const route = this.#lookup.get(kind, name);
      if (route === undefined) continue;
      const all = parentsOf(route);
      this.#spend(all.length);
      const parents = all.filter((parent) => sameName(parent.Name, gateway.Name));
      const binds = parents.some((parent) => this.#binding(route, parent).Status === 'True');
      if (binds) routes.push(route);
    }
    this.#bound.set(gateway.Name, routes);
    return routes;
  }

  #routesOf(gateway: ApiGateway, listener: string): readonly ConfigEntry[] {
    let routes = this.#byListener.get(gateway.Name);
    if (routes === undefined) {
      routes = this.#sortRoutes(gateway);
      this.#byListener.set(gateway.Name, routes);
    }
    return routes.get(listener) ?? [];
  }

  /** Groups the bound routes of a gateway by listener, in one pass: there may be many of both. */
  #sortRoutes(gateway: ApiGateway): ReadonlyMap<string, readonly ConfigEntry[]> {
    const sorted = new Map<string, ConfigEntry[]>();
    for (const route of this.#boundRoutes(gateway)) {
      const sections = parentsOf(route).flatMap((parent) =>
        sameName(parent.Name, gateway.Name) ? [parent.SectionName] : [],
      );
      const listeners = sections.flatMap((one) => this.#listenersFor(route, gateway, one));
      for (const listener of new Set(listeners)) {
        const routes = sorted.get(listener);
        if (routes === undefined) sorted.set(listener, [route]);
        else routes.push(route);
      }
    }
    return sorted;
  }

  /** Whether a route binds to a gateway, or to one of its listeners if `SectionName` names one. */
  #binding(route: ConfigEntry, parent: { Name: string; SectionName: string }): UntimedCondition {
    const { Name: name, SectionName: section } = parent;
    const place = { Kind: 'api-gateway', Name: name, SectionName: section };
    const gateway = entryOf(this.#lookup, 'api-gateway', name);
    if (gateway === undefined) {
      return conditionOf('Bound', 'False', 'GatewayNotFound', 'gateway was not found', place);
    }
    const why = this.#bindingFault(route, gateway, section);
    if (why === undefined) {
      return conditionOf('Bound', 'True', 'Bound', 'successfully bound route', place);
    }
    const message = `failed to bind route to gateway ${gateway.Name}: ${why}`;
    return conditionOf('Bound', 'False', 'FailedToBind', message, place);
  }

  #bindingFault(route: ConfigEntry, gateway: ApiGateway, section: string): string | undefined {
    if (this.#missingReferences(gateway).size > 0) return 'gateway has not been accepted';
    if (this.#routeAccepted(route).Status === 'False') return 'route has not been accepted';
    const listeners = gateway.Listeners ?? [];
    if (section !== '' && !listeners.some((one) => one.Name === section)) {
      return `it has no listener ${quoted(section)}`;
    }
    return this.#listenersFor(route, gateway, section).length > 0
      ? undefined
      : 'no listener has the protocol and a hostname of the route';
  }

  #listenersFor(route: ConfigEntry, gateway: ApiGateway, section: string): string[] {
    const protocol = route.Kind === 'tcp-route' ? 'tcp' : 'http';
    const hosts = ofKind('http-route', route)?.Hostnames ?? [];
    const listeners = gateway.Listeners ?? [];
    const meant = listeners.filter(
      (one) => (section === '' || one.Name === section) && one.Protocol === protocol,
    );
    this.#spend(listeners.length + meant.length * hosts.length);
    if (meant.length === 0) return [];
    const lower = hosts.map((host) => host.toLowerCase());
    return meant
      .filter(({ Hostname }) => hosts.length === 0 || takesHost(Hostname.toLowerCase(), lower))
      .map((one) => one.Name);
  }

  /** A route is accepted if the chain of every service has the protocol of the route. */
  #routeAccepted(route: ConfigEntry): UntimedCondition {
    const key = `${route.Kind} ${route.Name}`;
    let accepted = this.#accepted.get(key);
    if (accepted === undefined) {
      accepted = this.#acceptRoute(route);
      this.#accepted.set(key, accepted);
    }
    return accepted;
  }

  #acceptRoute(route: ConfigEntry): UntimedCondition {
    const services = routedServices(route);
    if (services.length === 0) {
      return conditionOf('Accepted', 'False', 'NoUpstreamServicesTargeted', NO_SERVICES);
    }
    for (const name of services) {
      const fault = this.#serviceFault(route, name);
      if (fault !== undefined)
        return conditionOf('Accepted', 'False', 'InvalidDiscoveryChain', fault);
    }
    if (this.#missingProvider(providersNamed(route)) !== undefined) {
      return conditionOf('Accepted', 'False', 'InvalidJWTProviders', `route ${INVALID_JWT}`);
    }
    return conditionOf('Accepted', 'True', 'Accepted', 'route is valid');
  }

  #serviceFault(route: ConfigEntry, service: string): string | undefined {
    let chain = this.#chains.get(service);
    if (chain === undefined) {
      const compiled = compileChain(this.#lookup, service, this.#budget);
      chain = compiled.ok ? { protocol: compiled.chain.protocol } : { fault: compiled.fault };
      this.#chains.set(service, chain);
    }
    if (chain.fault !== undefined) return chain.fault;
    const wanted = route.Kind === 'tcp-route' ? 'tcp' : 'http';
    return chain.protocol === wanted
      ? undefined
      : 'route protocol does not match targeted service protocol';
  }

  #exists({ Kind: kind, Name: name }: { readonly Kind: string; readonly Name: string }): boolean {
    return isKind(kind) && this.#lookup.get(kind, name) !== undefined;
  }

  /** Returns what each listener names and does not exist: a provider, else a certificate. */
  #missingReferences(gateway: ApiGateway): ReadonlyMap<string, Missing> {
    const known = this.#missing.get(gateway.Name);
    if (known !== undefined) return known;
    const missing = new Map<string, Missing>();
    this.#missing.set(gateway.Name, missing);
    for (const listener of gateway.Listeners ?? []) {
      const provider = this.#missingProvider(providersOfListener(listener));
      const certificate = (listener.TLS.Certificates ?? []).find((one) => !this.#exists(one));
      if (provider !== undefined) missing.set(listener.Name, { provider });
      else if (certificate) missing.set(listener.Name, { certificate: certificate.Name });
    }
    return missing;
  }

  #missingProvider(names: Iterable<string>): string | undefined {
    for (const name of names) {
      if (this.#lookup.get('jwt-provider', name) === undefined) return name;
    }
    return undefined;
  }

  /** Sorts the conditions. A condition that did not change keeps its LastTransitionTime. */
  #status(entry: ConfigEntry, untimed: readonly UntimedCondition[]): Status {
    // The server alone writes a Status: bodies lose theirs.
    const before = (entry['Status'] as Status | undefined)?.Conditions ?? [];
    const past = new Map(before.map((one) => [place(one), one]));
    const conditions = untimed.map((condition) => {
      const known = past.get(place(condition));
      const same =
        known !== undefined &&
        known.Status === condition.Status &&
        known.Reason === condition.Reason &&
        known.Message === condition.Message;
      const { Type, Status, Reason, Message, Resource } = condition;
      const LastTransitionTime = same ? known.LastTransitionTime : this.#at;
      return { Type, Status, Reason, Message, Resource, LastTransitionTime };
    });
    conditions.sort((a, b) => (place(a) < place(b) ? -1 : 1));
    return { Conditions: conditions };
  }
}

const ONE_ROUTE_ONLY = 'TCP-based listeners currently only support binding a single route';
const NO_CONFLICT = 'listener has no route conflicts';
const NO_SERVICES = 'route must target at least one upstream service';
const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/**
 * Whether a listener accepts one of some hosts, all in lower case. A wildcard listener accepts the
 * names below its domain, and a listener without a name accepts every host.
 */
function takesHost(listener: string, hosts: readonly string[]): boolean {
  if (listener === '' || listener === '*') return true;
  if (!listener.startsWith('*.')) return hosts.includes(listener);
  const domain = listener.slice(1);
  return hosts.some((host) => host.endsWith(domain));
}
