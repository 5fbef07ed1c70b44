/**
 * Discovery chains. A chain is the route of a request to a service:
 *
 *     router -> splitter -> ... -> splitter -> resolver -> redirect -> ... -> resolver
 *                                                                              |-> failover targets
 *
 * Every stage is optional. Compiling a chain checks that its entries are consistent and returns the
 * services in which it ends.
 */
import { type Cause, resolverCause, splitCause } from './chain-causes.js';
import { entryOf } from './entry-types.js';
import type { ProxyDefaults } from './proxy-defaults.js';
import { hasSubset, type ServiceResolver } from './service-resolver.js';
import type { ServiceSplitter } from './service-splitter.js';
import type { ConfigEntry, Kind } from './types.js';

/** The entries that a chain is compiled from. */
export interface ChainEntries {
  get(kind: Kind, name: string): ConfigEntry | undefined;
}

/** A compiled discovery chain. */
export interface Chain {
  readonly service: string;
  readonly protocol: string;
  readonly startsAt: 'router' | 'splitter' | 'resolver';
  /** The services in which the chain ends, in lower case, without failovers and peers. */
  readonly ends: ReadonlySet<string>;
  readonly resolvers: readonly ServiceResolver[];
}
/**
 * The outcome of a compilation. `fault` is the sentence of the first fault, `causes` the entries
 * any of which can mend it alone: none are known of a chain with too many steps.
 */
export type Compiled =
  | { readonly ok: true; readonly chain: Chain }
  | { readonly ok: false; readonly fault: string; readonly causes: readonly Cause[] };

/**
 * Maximum number of splitters or redirects in a row. No real configuration needs more, and every
 * change to an entry of the chain walks all of them.
 */
const HOPS_MAX = 64;
/** Maximum number of steps of one chain. A member does nothing else while it compiles a chain. */
const STEPS_MAX = 5_000;
/**
 * Maximum number of steps of all chains that one change makes the members compile. The value is
 * replicated behaviour: see state/levels.ts before changing it.
 */
export const CHANGE_STEPS_MAX = 50_000;

/** The steps left for the chains, or for the bindings, of one change. */
export interface Budget {
  left: number;
}
/** The chains or bindings that a change affects are too many or too large for one change. */
export class ReachesTooFar extends Error {
  readonly into: 'bindings' | 'chains';
  constructor(into: ReachesTooFar['into'] = 'chains') {
    super();
    this.into = into;
  }
}

/** Whether the protocol carries HTTP requests, which can be routed and split. */
export const isHttpLike = (protocol: string): boolean =>
  protocol === 'http' || protocol === 'http2' || protocol === 'grpc';

/** The protocol of every service without a `service-defaults` entry. */
export function defaultProtocol(defaults: ProxyDefaults | undefined): string {
  const protocol = defaults?.Config?.['protocol'] ?? '';
  return String(protocol).toLowerCase() || 'tcp';
}

/** The protocol of the service's own entry (tcp if empty), otherwise that of the proxy defaults. */
function protocolOf(entries: ChainEntries, service: string): string {
  const own = entryOf(entries, 'service-defaults', service);
  if (own !== undefined) return own.Protocol || 'tcp';
  return defaultProtocol(entryOf(entries, 'proxy-defaults', 'global'));
}

/**
 * Compiles the chain of a service. The chain of a service without entries ends in the service
 * itself. Throws ReachesTooFar when the budget is exhausted.
 */
export function compileChain(
  entries: ChainEntries,
  service: string,
  budget: Budget = { left: Number.POSITIVE_INFINITY },
): Compiled {
  if (CHAIN_KINDS.every((kind) => entries.get(kind, service) === undefined)) {
    return { ok: true, chain: bareChain(entries, service, budget) };
  }
  try {
    return { ok: true, chain: new Compiler(entries, service, budget).compile() };
  } catch (error) {
    if (error instanceof ChainFault)
      return { ok: false, fault: error.message, causes: error.causes };
    throw error;
  }
}

/** The kinds that a chain is made of. */
export const CHAIN_KINDS: readonly Kind[] = [
  'service-router',
  'service-splitter',
  'service-resolver',
];
/** Steps of the compiler for a service without entries. */
const BARE_STEPS = 2;

/** Returns what the compiler finds for a service without entries, as most are, in as many steps. */
function bareChain(entries: ChainEntries, service: string, budget: Budget): Chain {
  budget.left -= BARE_STEPS;
  if (budget.left < 0) throw new ReachesTooFar();
  return {
    service,
    protocol: protocolOf(entries, service),
    startsAt: 'resolver',
    ends: new Set([service.toLowerCase()]),
    resolvers: [],
  };
}

/** Aborts a compilation. Never leaves this file. */
class ChainFault extends Error {
  readonly causes: readonly Cause[];
  constructor(message: string, causes: readonly (Cause | undefined)[] = []) {
    super(message);
    this.causes = causes.filter((cause) => cause !== undefined);
  }
}

/** Instances of a service. An empty subset, datacenter or peer stands for none named. */
export interface Target {
  readonly service: string;
  readonly subset: string;
  readonly datacenter: string;
  readonly peer: string;
}
/** Returns a text that is the same for equal targets. */
export const keyOf = ({ service, subset, datacenter, peer }: Target): string =>
  [
    subset && `${subset}.`,
    service.toLowerCase(),
    datacenter && `@${datacenter}`,
    peer && `#${peer}`,
  ]
    .filter((part) => part !== '')
    .join('');

/** What a resolver cannot define for a service outside the mesh. */
const EXTERNAL_LACKS = ['Redirect', 'Subsets', 'Failover'] as const;

class Compiler {
  readonly #entries: ChainEntries;
  readonly #service: string;
  readonly #budget: Budget;
  #steps = 0;
  readonly #protocols = new Set<string>();
  #protocol: string | undefined;
  /** What led to the service whose protocol is that of the chain. */
  #protocolBy: Cause | undefined;
  #startsAt: Chain['startsAt'] = 'resolver';
  #routes = false;
  readonly #splitters = new Set<string>();
  readonly #resolved = new Set<string>();
  readonly #ends = new Set<string>();
  readonly #resolvers = new Set<ServiceResolver>();

  constructor(entries: ChainEntries, service: string, budget: Budget) {
    this.#entries = entries;
    this.#service = service;
    this.#budget = budget;
  }

  compile(): Chain {
    const service = this.#service;
    const router = entryOf(this.#entries, 'service-router', service);
    if (router !== undefined) {
      this.#routes = true;
      this.#startsAt = 'router';
      const by = (pointer: string): Cause => ({ kind: router.Kind, name: router.Name, pointer });
      this.#meet(service, by('/Routes'));
      for (const [at, { Destination: to }] of (router.Routes ?? []).entries()) {
        this.#forward(to?.Service ?? service, to?.ServiceSubset ?? '', [], by(`/Routes/${at}`));
      }
    } else if (this.#entries.get('service-splitter', service) !== undefined) {
      this.#startsAt = 'splitter';
    }
    this.#forward(service, '', [], undefined);
    const protocol = this.#protocol ?? 'tcp';
    if (this.#routes && !isHttpLike(protocol)) {
      throw new ChainFault(
        `discovery chain ${JSON.stringify(service)} uses a protocol ${JSON.stringify(protocol)} that does not permit advanced routing or splitting behavior`,
        [
          { kind: 'service-router', name: service, pointer: '/Routes' },
          ...[...this.#splitters].map((name) => splitCause(name)),
        ],
      );
    }
    return {
      service,
      protocol,
      startsAt: this.#startsAt,
      ends: this.#ends,
      resolvers: [...this.#resolvers],
    };
  }

  /** Follows the chain to the splitter of a service, or to its resolver if a subset is named. */
  #forward(service: string, subset: string, path: readonly Cause[], by: Cause | undefined): void {
    this.#step();
    const splitter =
      subset === '' ? entryOf(this.#entries, 'service-splitter', service) : undefined;
    if (splitter !== undefined) this.#split(splitter, path);
    else this.#resolve({ service, subset, datacenter: '', peer: '' }, true, by);
  }

  /** `path` has the splits that lead here, from splitter to splitter. */
  #split(splitter: ServiceSplitter, path: readonly Cause[]): void {
    const name = splitter.Name.toLowerCase();
    const begin = path.findIndex((split) => split.name === name);
    if (begin >= 0) {
      const circle = [...path.slice(begin).map((split) => split.name), name];
      const message = `detected circular reference: [${circle.join(' -> ')}]`;
      throw new ChainFault(message, path.slice(begin));
    }
    if (this.#splitters.has(name)) return;
    if (path.length >= HOPS_MAX) throw this.#tooLong(path);
    this.#routes = true;
    for (const [at, split] of (splitter.Splits ?? []).entries()) {
      const { Service: to = splitter.Name, ServiceSubset: subset = '' } = split;
      const by = splitCause(name, at);
      if (to.toLowerCase() === name) {
        this.#resolve({ service: to, subset, datacenter: '', peer: '' }, true, by);
      } else {
        this.#forward(to, subset, [...path, by], by);
      }
    }
    this.#splitters.add(name);
  }

  /** `lead` is what leads to the first target. */
  #resolve(first: Target, failsOver: boolean, lead: Cause | undefined): void {
    const history: string[] = [];
    const redirects: Cause[] = [];
    let at = first;
    for (;;) {
      this.#step();
      const key = keyOf(at);
      if (history.includes(key)) {
        const begin = history.indexOf(key);
        const circle = [...history.slice(begin), key];
        const message = `detected circular resolver redirect: [${circle.join(' -> ')}]`;
        throw new ChainFault(message, redirects.slice(begin));
      }
      history.push(key);
      if (history.length > HOPS_MAX) throw this.#tooLong(redirects);
      if (at.peer !== '') return;
      this.#meet(at.service, redirects.at(-1) ?? lead);
      const resolver = this.#resolver(at.service);
      const next = redirected(at, resolver);
      if (resolver === undefined || keyOf(next) === key) break;
      const moves = resolver.Redirect === undefined ? 'DefaultSubset' : 'Redirect';
      redirects.push(resolverCause(resolver, moves));
      at = next;
    }
    this.#end(at, failsOver, redirects.at(-1) ?? lead);
  }

  /** Ends in a resolver. Its subset and its failover targets must exist. */
  #end(at: Target, failsOver: boolean, by: Cause | undefined): void {
    if (failsOver) this.#ends.add(at.service.toLowerCase());
    const seen = `${failsOver}${keyOf(at)}`;
    if (this.#resolved.has(seen)) return;
    this.#resolved.add(seen);
    const { service, subset } = at;
    const resolver = this.#resolver(service);
    if (subset !== '' && !hasSubset(resolver, subset)) {
      throw new ChainFault(
        `service ${JSON.stringify(service)} does not have a subset named ${JSON.stringify(subset)}`,
        [by],
      );
    }
    this.#checkExternal(service, resolver);
    if (!failsOver || resolver === undefined) return;
    for (const target of failoverTargets(at, resolver)) {
      this.#resolve(target, false, resolverCause(resolver, 'Failover'));
    }
  }

  #checkExternal(service: string, resolver: ServiceResolver | undefined): void {
    const defaults = entryOf(this.#entries, 'service-defaults', service);
    if ((defaults?.ExternalSNI ?? '') === '') return;
    const member = EXTERNAL_LACKS.find((name) => resolver?.[name] !== undefined);
    if (resolver === undefined || member === undefined) return;
    const what = member === 'Redirect' ? 'redirects' : member.toLowerCase();
    throw new ChainFault(
      `service ${JSON.stringify(service)} has an external SNI set; cannot define ${what} for external services`,
      [resolverCause(resolver, member)],
    );
  }

  #resolver(service: string): ServiceResolver | undefined {
    const resolver = entryOf(this.#entries, 'service-resolver', service);
    if (resolver !== undefined) this.#resolvers.add(resolver);
    return resolver;
  }

  /**
   * Checks that all services that receive requests have the same protocol. A service that only
   * splits its traffic receives none.
   */
  #meet(service: string, by: Cause | undefined): void {
    const name = service.toLowerCase();
    if (this.#protocols.has(name)) return;
    this.#protocols.add(name);
    const protocol = protocolOf(this.#entries, service);
    if (this.#protocol === undefined) {
      this.#protocol = protocol;
      this.#protocolBy = by;
    }
    if (protocol === this.#protocol) return;
    throw new ChainFault(
      `discovery chain ${JSON.stringify(this.#service)} uses inconsistent protocols; service ${JSON.stringify(service)} has ${JSON.stringify(protocol)} which is not ${JSON.stringify(this.#protocol)}`,
      [by, this.#protocolBy],
    );
  }

  #step(): void {
    this.#steps += 1;
    if (this.#steps > STEPS_MAX) {
      throw new ChainFault(
        `discovery chain ${JSON.stringify(this.#service)} has more than ${STEPS_MAX} steps`,
      );
    }
    this.#budget.left -= 1;
    if (this.#budget.left < 0) throw new ReachesTooFar();
  }

  #tooLong(causes: readonly Cause[]): ChainFault {
    return new ChainFault(
      `discovery chain ${JSON.stringify(this.#service)} is longer than ${HOPS_MAX} hops`,
      causes,
    );
  }
}

/** Follows one redirect or default subset. Returns the same target if there is none. */
export function redirected(at: Target, resolver: ServiceResolver | undefined): Target {
  const to = resolver?.Redirect;
  if (to !== undefined) {
    const service = to.Service ?? at.service;
    const moved = service.toLowerCase() !== at.service.toLowerCase();
    const next = {
      service: moved ? service : at.service,
      subset: to.ServiceSubset ?? (moved ? '' : at.subset),
      datacenter: to.Datacenter ?? at.datacenter,
      peer: to.Peer ?? '',
    };
    if (keyOf(next) !== keyOf(at)) return next;
  }
  const standard = resolver?.DefaultSubset ?? '';
  return at.subset === '' && standard !== '' ? { ...at, subset: standard } : at;
}

/** Returns where the requests of a target go if it has no healthy instance. */
export function failoverTargets(at: Target, resolver: ServiceResolver): Target[] {
  const failovers = resolver.Failover ?? {};
  const own = Object.hasOwn(failovers, at.subset) ? failovers[at.subset] : undefined;
  const failover = own ?? (Object.hasOwn(failovers, '*') ? failovers['*'] : undefined);
  if (failover === undefined) return [];
  const one = (to: { Service?: string; ServiceSubset?: string }): Target => {
    const service = to.Service ?? at.service;
    const moved = service.toLowerCase() !== at.service.toLowerCase();
    return { ...at, service, subset: to.ServiceSubset ?? (moved ? '' : at.subset), peer: '' };
  };
  if (failover.Targets) {
    return failover.Targets.map((to) => ({
      ...one(to),
      datacenter: to.Datacenter ?? at.datacenter,
      peer: to.Peer ?? '',
    }));
  }
  const datacenters = failover.Datacenters ?? [at.datacenter];
  return datacenters.map((datacenter) => ({ ...one(failover), datacenter }));
}
