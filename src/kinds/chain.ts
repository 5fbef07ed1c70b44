/**
 * Discovery chains: how a request to a service goes from its router over splitters to resolvers,
 * redirects and failovers. A chain is compiled to find out whether its entries fit together, and
 * what it ends in.
 */
import type { ProxyDefaults } from './proxy-defaults.js';
import type { ServiceDefaults } from './service-defaults.js';
import { hasSubset, type ServiceResolver } from './service-resolver.js';
import type { ServiceRouter } from './service-router.js';
import type { ServiceSplitter } from './service-splitter.js';
import type { Kind } from './types.js';

/** What a chain is compiled from. */
export interface ChainEntries {
  get(kind: Kind, name: string): unknown;
}

export interface Chain {
  readonly service: string;
  readonly protocol: string;
  readonly startsAt: 'router' | 'splitter' | 'resolver';
  /** The services in which its ways end, in lower case; failovers and peers aside. */
  readonly ends: ReadonlySet<string>;
  /** The resolvers that were met. */
  readonly resolvers: readonly ServiceResolver[];
}
export type Compiled =
  | { readonly ok: true; readonly chain: Chain }
  | { readonly ok: false; readonly fault: string };

/** Longer ways are nobody's intention, and they would be walked at every change along them. */
const HOPS_MAX = 64;
/**
 * Steps of one chain, and of all chains that one change makes be compiled: no member can do
 * anything else meanwhile.
 */
const STEPS_MAX = 5_000;
/**
 * The same of a whole change. Replicated: see state/levels.ts before changing it.
 */
export const CHANGE_STEPS_MAX = 50_000;

/** Steps that are left for the chains of one change. */
export interface Budget {
  left: number;
}
/** The chains that a change reaches are too many, or too large, to be judged. */
export class ReachesTooFar extends Error {}

export const isHttpLike = (protocol: string): boolean =>
  protocol === 'http' || protocol === 'http2' || protocol === 'grpc';

/** The protocol of every service without an entry of its own. */
export function defaultProtocol(defaults: ProxyDefaults | undefined): string {
  const protocol = defaults?.Config?.['protocol'] ?? '';
  return String(protocol).toLowerCase() || 'tcp';
}

/** A service speaks what its own entry says (nothing: tcp), else what the proxy defaults say. */
function protocolOf(entries: ChainEntries, service: string): string {
  const own = entries.get('service-defaults', service) as ServiceDefaults | undefined;
  if (own !== undefined) return own.Protocol || 'tcp';
  return defaultProtocol(entries.get('proxy-defaults', 'global') as ProxyDefaults | undefined);
}

/**
 * Compiles the chain of a service. A service without entries has a chain that ends in itself.
 * Throws ReachesTooFar when the budget is used up.
 */
export function compileChain(
  entries: ChainEntries,
  service: string,
  budget: Budget = { left: Number.POSITIVE_INFINITY },
): Compiled {
  try {
    return { ok: true, chain: new Compiler(entries, service, budget).compile() };
  } catch (error) {
    if (error instanceof ChainFault) return { ok: false, fault: error.message };
    throw error;
  }
}

/** Ends a compilation; it never leaves this file. */
class ChainFault extends Error {}

interface Target {
  readonly service: string;
  readonly subset: string;
  readonly datacenter: string;
  readonly peer: string;
}
const keyOf = ({ service, subset, datacenter, peer }: Target): string =>
  [
    subset && `${subset}.`,
    service.toLowerCase(),
    datacenter && `@${datacenter}`,
    peer && `#${peer}`,
  ]
    .filter((part) => part !== '')
    .join('');

class Compiler {
  readonly #entries: ChainEntries;
  readonly #service: string;
  readonly #budget: Budget;
  #steps = 0;
  readonly #protocols = new Set<string>();
  #protocol: string | undefined;
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
    const router = this.#entries.get('service-router', service) as ServiceRouter | undefined;
    if (router !== undefined) {
      this.#routes = true;
      this.#startsAt = 'router';
      this.#meet(service);
      for (const { Destination: to } of router.Routes ?? []) {
        this.#forward(to?.Service ?? service, to?.ServiceSubset ?? '', []);
      }
    } else if (this.#entries.get('service-splitter', service) !== undefined) {
      this.#startsAt = 'splitter';
    }
    this.#forward(service, '', []);
    const protocol = this.#protocol ?? 'tcp';
    if (this.#routes && !isHttpLike(protocol)) {
      throw new ChainFault(
        `discovery chain ${JSON.stringify(service)} uses a protocol ${JSON.stringify(protocol)} that does not permit advanced routing or splitting behavior`,
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

  /** To the splitter of a service, if it has one and no subset is named, else to its resolver. */
  #forward(service: string, subset: string, path: readonly string[]): void {
    this.#step();
    const splitter =
      subset === ''
        ? (this.#entries.get('service-splitter', service) as ServiceSplitter | undefined)
        : undefined;
    if (splitter === undefined) this.#resolve({ service, subset, datacenter: '', peer: '' }, true);
    else this.#split(splitter, path);
  }

  #split(splitter: ServiceSplitter, path: readonly string[]): void {
    const name = splitter.Name.toLowerCase();
    if (path.includes(name)) {
      const circle = [...path.slice(path.indexOf(name)), name];
      throw new ChainFault(`detected circular reference: [${circle.join(' -> ')}]`);
    }
    if (this.#splitters.has(name)) return;
    if (path.length >= HOPS_MAX) throw this.#tooLong();
    this.#routes = true;
    for (const { Service: to = splitter.Name, ServiceSubset: subset = '' } of splitter.Splits ??
      []) {
      if (to.toLowerCase() === name) {
        this.#resolve({ service: to, subset, datacenter: '', peer: '' }, true);
      } else {
        this.#forward(to, subset, [...path, name]);
      }
    }
    this.#splitters.add(name);
  }

  #resolve(first: Target, failsOver: boolean): void {
    const history: string[] = [];
    let at = first;
    for (;;) {
      this.#step();
      const key = keyOf(at);
      if (history.includes(key)) {
        const circle = [...history.slice(history.indexOf(key)), key];
        throw new ChainFault(`detected circular resolver redirect: [${circle.join(' -> ')}]`);
      }
      history.push(key);
      if (history.length > HOPS_MAX) throw this.#tooLong();
      if (at.peer !== '') return;
      this.#meet(at.service);
      const resolver = this.#resolver(at.service);
      const next = redirected(at, resolver);
      if (keyOf(next) === key) break;
      at = next;
    }
    this.#end(at, failsOver);
  }

  /**
   * The resolver where a way ends: its subset must be there, and so must those it fails over to.
   */
  #end(at: Target, failsOver: boolean): void {
    if (failsOver) this.#ends.add(at.service.toLowerCase());
    const seen = `${failsOver}${keyOf(at)}`;
    if (this.#resolved.has(seen)) return;
    this.#resolved.add(seen);
    const { service, subset } = at;
    const resolver = this.#resolver(service);
    if (subset !== '' && !hasSubset(resolver, subset)) {
      throw new ChainFault(
        `service ${JSON.stringify(service)} does not have a subset named ${JSON.stringify(subset)}`,
      );
    }
    this.#checkExternal(service, resolver);
    if (!failsOver || resolver === undefined) return;
    for (const target of failoverTargets(at, resolver)) this.#resolve(target, false);
  }

  #checkExternal(service: string, resolver: ServiceResolver | undefined): void {
    const defaults = this.#entries.get('service-defaults', service) as ServiceDefaults | undefined;
    if ((defaults?.ExternalSNI ?? '') === '') return;
    let what: string;
    if (resolver?.Redirect !== undefined) what = 'redirects';
    else if (resolver?.Subsets !== undefined) what = 'subsets';
    else if (resolver?.Failover !== undefined) what = 'failover';
    else return;
    throw new ChainFault(
      `service ${JSON.stringify(service)} has an external SNI set; cannot define ${what} for external services`,
    );
  }

  #resolver(service: string): ServiceResolver | undefined {
    const resolver = this.#entries.get('service-resolver', service) as ServiceResolver | undefined;
    if (resolver !== undefined) this.#resolvers.add(resolver);
    return resolver;
  }

  /**
   * All services that requests can reach speak one protocol: one that only splits is not among
   * them.
   */
  #meet(service: string): void {
    const name = service.toLowerCase();
    if (this.#protocols.has(name)) return;
    this.#protocols.add(name);
    const protocol = protocolOf(this.#entries, service);
    this.#protocol ??= protocol;
    if (protocol === this.#protocol) return;
    throw new ChainFault(
      `discovery chain ${JSON.stringify(this.#service)} uses inconsistent protocols; service ${JSON.stringify(service)} has ${JSON.stringify(protocol)} which is not ${JSON.stringify(this.#protocol)}`,
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

  #tooLong(): ChainFault {
    return new ChainFault(
      `discovery chain ${JSON.stringify(this.#service)} is longer than ${HOPS_MAX} hops`,
    );
  }
}

/** Where a target leads by redirect or default subset; the same target when it stays. */
function redirected(at: Target, resolver: ServiceResolver | undefined): Target {
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

function failoverTargets(at: Target, resolver: ServiceResolver): Target[] {
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
