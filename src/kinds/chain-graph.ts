/**
 * A discovery chain as nodes and targets, as the API answers it. Follows the entries with the steps
 * of the compiler (chain.ts), which has found the chain consistent and of bounded length.
 */
import {
  type ChainEntries,
  type Compiled,
  compileChain,
  failoverTargets,
  keyOf,
  redirected,
  type Target,
} from './chain.js';
import { entryOf } from './entry-types.js';
import type { ServiceResolver } from './service-resolver.js';
import type { ServiceRouter } from './service-router.js';
import type { ServiceSplitter } from './service-splitter.js';
import type { Kind } from './types.js';

/** Where a chain is evaluated. */
export interface ChainPlace {
  readonly namespace: string;
  readonly datacenter: string;
}

type Route = NonNullable<ServiceRouter['Routes']>[number];

/** A stage of a chain. Its key is `<Type>:<Name>`. */
export type ChainNode =
  | {
      readonly Type: 'router';
      readonly Name: string;
      readonly Routes: readonly { readonly Definition: object; readonly NextNode: string }[];
    }
  | { readonly Type: 'splitter'; readonly Name: string; readonly Splits: readonly ChainSplit[] }
  | { readonly Type: 'resolver'; readonly Name: string; readonly Resolver: ChainResolver };
interface ChainSplit {
  /** Percent. */
  readonly Weight: number;
  readonly NextNode: string;
}
interface ChainResolver {
  /** Whether the service has no resolver of its own, or one that says nothing of its requests. */
  readonly Default: boolean;
  readonly ConnectTimeout: string;
  readonly Target: string;
  readonly Failover?: { readonly Targets: readonly string[] };
}

/** Instances that a chain leads to. */
export interface ChainTarget {
  readonly ID: string;
  readonly Service: string;
  readonly ServiceSubset?: string;
  readonly Namespace: string;
  readonly Datacenter: string;
  readonly Peer?: string;
  readonly Subset: { readonly Filter?: string; readonly OnlyPassing?: boolean };
  readonly MeshGateway: object;
}

/** A chain as it is answered. */
export interface ChainGraph {
  readonly ServiceName: string;
  readonly Namespace: string;
  readonly Datacenter: string;
  readonly Protocol: string;
  readonly StartNode: string;
  readonly Nodes: Readonly<Record<string, ChainNode>>;
  readonly Targets: Readonly<Record<string, ChainTarget>>;
}

/** The outcome of chainGraph. `fault` says why the chain cannot be compiled. */
export type Graphed =
  | { readonly ok: true; readonly graph: ChainGraph }
  | Extract<Compiled, { readonly ok: false }>;

/** Compiles the chain of a service into nodes and targets. */
export function chainGraph(entries: ChainEntries, service: string, place: ChainPlace): Graphed {
  const compiled = compileChain(entries, service);
  if (!compiled.ok) return compiled;
  const { protocol } = compiled.chain;
  return { ok: true, graph: new GraphBuilder(entries, place).build(service, protocol) };
}

/** How long a proxy waits for a connection where the resolver says nothing, as in Consul. */
const CONNECT_TIMEOUT = '5s';
/** Kinds whose entries say how a service is spelled. */
const SPELLED_BY: readonly Kind[] = [
  'service-defaults',
  'service-resolver',
  'service-splitter',
  'service-router',
];

/** The members of a resolver that say how requests reach the service. */
const ROUTING = [
  'DefaultSubset',
  'Subsets',
  'Redirect',
  'Failover',
  'ConnectTimeout',
  'RequestTimeout',
  'LoadBalancer',
] as const;

class GraphBuilder {
  readonly #entries: ChainEntries;
  readonly #place: ChainPlace;
  readonly #nodes = new Map<string, ChainNode>();
  readonly #targets = new Map<string, ChainTarget>();
  /** The spelling of each service by its name in lower case. */
  readonly #spellings = new Map<string, string>();

  constructor(entries: ChainEntries, place: ChainPlace) {
    this.#entries = entries;
    this.#place = place;
  }

  build(service: string, Protocol: string): ChainGraph {
    const ServiceName = this.#spelled(service);
    const StartNode = this.#start(ServiceName);
    return {
      ServiceName,
      Namespace: this.#place.namespace,
      Datacenter: this.#place.datacenter,
      Protocol,
      StartNode,
      Nodes: Object.fromEntries(this.#reachable(StartNode)),
      Targets: Object.fromEntries(this.#targets),
    };
  }

  #start(service: string): string {
    const router = entryOf(this.#entries, 'service-router', service);
    if (router === undefined) return this.#forward(service, '');
    const routes = (router.Routes ?? []).map((route) => this.#route(service, route));
    const { namespace } = this.#place;
    const itself = {
      Match: { HTTP: { PathPrefix: '/' } },
      Destination: { Service: service, Namespace: namespace },
    };
    const Routes = [...routes, { Definition: itself, NextNode: this.#forward(service, '') }];
    return this.#add({ Type: 'router', Name: service, Routes });
  }

  #route(service: string, Definition: Route) {
    const { Service = service, ServiceSubset = '' } = Definition.Destination ?? {};
    return { Definition, NextNode: this.#forward(Service, ServiceSubset) };
  }

  /** Returns the splitter of a service, or its resolver if it has none or a subset is named. */
  #forward(service: string, subset: string): string {
    const splitter =
      subset === '' ? entryOf(this.#entries, 'service-splitter', service) : undefined;
    return splitter === undefined
      ? this.#resolve({ service, subset, datacenter: '', peer: '' })
      : this.#split(splitter);
  }

  /** Adds a splitter. Splits to another splitter become splits to where that one leads. */
  #split(splitter: ServiceSplitter): string {
    const Name = this.#spelled(splitter.Name);
    const known = `splitter:${Name}`;
    if (this.#nodes.has(known)) return known;
    const own: ChainSplit[] = [];
    const inner = new Map<string, number>();
    for (const { Weight, Service = Name, ServiceSubset = '' } of splitter.Splits ?? []) {
      const isOwn = this.#spelled(Service) === Name;
      const NextNode = isOwn
        ? this.#resolve({ service: Name, subset: ServiceSubset, datacenter: '', peer: '' })
        : this.#forward(Service, ServiceSubset);
      const next = this.#nodes.get(NextNode)!;
      if (next.Type !== 'splitter') own.push({ Weight, NextNode });
      else for (const split of next.Splits) addWeight(inner, Weight, split);
    }
    const flattened = [...inner].map(([NextNode, Weight]) => ({ Weight, NextNode }));
    return this.#add({ Type: 'splitter', Name, Splits: [...own, ...flattened] });
  }

  /** Adds the resolver in which a target ends, with its failovers. */
  #resolve(first: Target): string {
    const at = this.#end(first);
    const { ID } = this.#target(at);
    const known = `resolver:${ID}`;
    if (this.#nodes.has(known)) return known;
    const resolver = at.peer === '' ? this.#resolver(at.service) : undefined;
    const failovers = resolver === undefined ? [] : failoverTargets(at, resolver);
    const Targets = failovers
      .map((target) => this.#end(target))
      // An entry for all datacenters names the target's own, too.
      .filter((target) => this.#idOf(target) !== ID)
      .map((target) => this.#target(target).ID);
    const Resolver = {
      Default: resolver === undefined || ROUTING.every((name) => resolver[name] === undefined),
      ConnectTimeout: resolver?.ConnectTimeout ?? CONNECT_TIMEOUT,
      Target: ID,
      ...(Targets.length > 0 && { Failover: { Targets } }),
    };
    return this.#add({ Type: 'resolver', Name: ID, Resolver });
  }

  /** Follows redirects and default subsets. Which subsets a peer has is not known here. */
  #end(first: Target): Target {
    let at = first;
    while (at.peer === '') {
      const next = redirected(at, this.#resolver(at.service));
      if (keyOf(next) === keyOf(at)) break;
      at = next;
    }
    return at.peer === '' ? at : { ...at, subset: '' };
  }

  #target(at: Target): ChainTarget {
    const ID = this.#idOf(at);
    const known = this.#targets.get(ID);
    if (known !== undefined) return known;
    const Service = this.#spelled(at.service);
    const { subset, peer } = at;
    const target = {
      ID,
      Service,
      ...(subset !== '' && { ServiceSubset: subset }),
      Namespace: this.#place.namespace,
      Datacenter: peer === '' ? at.datacenter || this.#place.datacenter : '',
      ...(peer !== '' && { Peer: peer }),
      Subset: subset === '' ? {} : (this.#resolver(Service)?.Subsets?.[subset] ?? {}),
      MeshGateway: this.#meshGateway(Service),
    };
    this.#targets.set(ID, target);
    return target;
  }

  #idOf({ service, subset, datacenter, peer }: Target): string {
    const lead = subset === '' ? '' : `${subset}.`;
    const name = `${lead}${this.#spelled(service)}.${this.#place.namespace}.default`;
    return peer === ''
      ? `${name}.${datacenter || this.#place.datacenter}`
      : `${name}.external.${peer}`;
  }

  #meshGateway(service: string): object {
    const own = entryOf(this.#entries, 'service-defaults', service);
    // A service outside the mesh is reached without a gateway.
    if (own?.ExternalSNI !== undefined) return {};
    const all = entryOf(this.#entries, 'proxy-defaults', 'global');
    const Mode = own?.MeshGateway?.Mode ?? all?.MeshGateway?.Mode;
    return Mode === undefined ? {} : { Mode };
  }

  #resolver(service: string): ServiceResolver | undefined {
    return entryOf(this.#entries, 'service-resolver', service);
  }

  /** Returns a service as its entries spell it, otherwise as it was first named. */
  #spelled(service: string): string {
    const lower = service.toLowerCase();
    const known = this.#spellings.get(lower);
    if (known !== undefined) return known;
    const entry = SPELLED_BY.map((kind) => this.#entries.get(kind, service)).find(Boolean);
    const spelling = entry?.Name ?? service;
    this.#spellings.set(lower, spelling);
    return spelling;
  }

  #add(node: ChainNode): string {
    const key = `${node.Type}:${node.Name}`;
    this.#nodes.set(key, node);
    return key;
  }

  /** Yields the nodes that the chain passes: splitters behind splitters are not among them. */
  *#reachable(start: string): Iterable<readonly [key: string, node: ChainNode]> {
    const seen = new Set([start]);
    for (const key of seen) {
      const node = this.#nodes.get(key)!;
      yield [key, node.Type === 'splitter' ? { ...node, Splits: node.Splits.map(rounded) } : node];
      for (const next of nextOf(node)) seen.add(next);
    }
  }
}

function nextOf(node: ChainNode): readonly string[] {
  if (node.Type === 'router') return node.Routes.map(({ NextNode }) => NextNode);
  return node.Type === 'splitter' ? node.Splits.map(({ NextNode }) => NextNode) : [];
}

/** Adds the share that a split behind another split has of the whole. */
function addWeight(to: Map<string, number>, outer: number, { Weight, NextNode }: ChainSplit): void {
  to.set(NextNode, (to.get(NextNode) ?? 0) + (outer * Weight) / 100);
}

/** Returns a split with its weight in hundredths of a percent. */
const rounded = ({ Weight, NextNode }: ChainSplit): ChainSplit => ({
  Weight: Math.round(Weight * 100) / 100,
  NextNode,
});
