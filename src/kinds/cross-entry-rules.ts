/**
 * Rules between entries. Apply checks them on the state with the change already made. It refuses a
 * write or delete if a discovery chain that contains the entry, or an entry that depends on such a
 * chain, becomes invalid:
 *
 *     ingress-gateway "edge" -> service-router "api" -> service-splitter "web"
 *
 * A change of service-defaults "web" affects the chains of "web" and "api", and through "api" the
 * listeners of "edge".
 */
import { OWN, type Refusal, refusal } from '../base/errors.js';
import { quoted } from '../base/text.js';
import {
  type Budget,
  CHAIN_KINDS,
  type Chain,
  type ChainEntries,
  type Compiled,
  compileChain,
  defaultProtocol,
  isHttpLike,
} from './chain.js';
import { type Among, type Change, isWritten, refusalIn, refusalOfBroken } from './conflicts.js';
import { entryOf, ofKind } from './entry-types.js';
import { Exports } from './exports.js';
import { providerRefusal } from './provider-rules.js';
import { routedServices } from './references.js';
import type { ServiceDefaults } from './service-defaults.js';
import { target } from './targets.js';
import type { ConfigEntry, EntryId, EntryLookup, Kind } from './types.js';

const isChainKind = (kind: Kind): boolean => CHAIN_KINDS.includes(kind);

/**
 * Returns the services whose chains a change may alter: lower-case names, each with its spelling.
 * Leaves out those that are `known` already, and adds what it finds to them.
 */
export function affectedServices(
  change: Change,
  lookup: EntryLookup,
  known?: Set<string>,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const add = (name: string): boolean => {
    const lower = name.toLowerCase();
    if ((known ?? found).has(lower)) return false;
    known?.add(lower);
    found.set(lower, name);
    return true;
  };
  if (change.kind === 'proxy-defaults') {
    if (!changesDefaultProtocol(change)) return found;
    for (const name of everyService(lookup)) add(name);
    return found;
  }
  if (
    change.kind === 'service-defaults' ? !changesService(change, lookup) : !isChainKind(change.kind)
  ) {
    return found;
  }
  const pending = [change.name];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (!add(name)) continue;
    for (const { kind, name: namer } of lookup.naming(target.service(name))) {
      if (isChainKind(kind)) pending.push(namer);
    }
  }
  return found;
}

const changesDefaultProtocol = ({ before, after }: Change): boolean =>
  defaultProtocol(ofKind('proxy-defaults', before)) !==
  defaultProtocol(ofKind('proxy-defaults', after));

/** Chains depend only on the Protocol and the presence of the ExternalSNI of service-defaults. */
function changesService({ before, after }: Change, lookup: EntryLookup): boolean {
  const standard = (): string => defaultProtocol(entryOf(lookup, 'proxy-defaults', 'global'));
  const facts = (entry: ServiceDefaults | undefined): string =>
    entry === undefined
      ? `${standard()} false`
      : `${entry.Protocol || 'tcp'} ${entry.ExternalSNI !== undefined}`;
  return facts(ofKind('service-defaults', before)) !== facts(ofKind('service-defaults', after));
}

function* everyService(lookup: EntryLookup): Iterable<string> {
  for (const kind of [...CHAIN_KINDS, 'service-intentions'] as const) {
    for (const { Name: name } of lookup.list(kind)) yield name;
  }
  for (const entry of lookup.list('ingress-gateway')) yield* servicesOf(entry);
  for (const kind of ['http-route', 'tcp-route'] as const) {
    for (const entry of lookup.list(kind)) yield* routedServices(entry);
  }
}

interface ValidateOptions {
  readonly datacenter: string;
  readonly affected?: ReadonlyMap<string, string>;
  readonly budget?: Budget;
  readonly blamesWritten?: () => boolean;
  readonly among?: Among;
}

/**
 * Returns why a change is refused, or undefined. `affected` is the result of affectedServices,
 * `datacenter` that of the cluster. If `blamesWritten`, a chain that the written entry itself
 * breaks is a fault of that entry. Throws ReachesTooFar when the budget is exhausted.
 */
export function validateChange(
  change: Change,
  lookup: EntryLookup,
  options: ValidateOptions,
): Refusal | undefined {
  const [why] = refusalsOf(change, lookup, options);
  return why;
}

/** Yields all reasons for which a change is refused; see validateChange. */
export function* refusalsOf(
  change: Change,
  lookup: EntryLookup,
  options: ValidateOptions,
): Iterable<Refusal> {
  const affected = options.affected ?? affectedServices(change, lookup);
  const own = ownProblem(change, lookup) ?? providerRefusal(change, lookup);
  if (own !== undefined) yield own;
  const validator = new CrossEntryValidator(change, lookup, options);
  for (const name of affected.values()) {
    const why = validator.ofService(name);
    if (why !== undefined) yield why;
  }
  const why = validator.ofEntry();
  if (why !== undefined) yield why;
}

/** Checks the rules between the changed entry and one other. */
function ownProblem(
  { kind, name, before, after }: Change,
  lookup: EntryLookup,
): Refusal | undefined {
  if (after === undefined) return undefined;
  const twin = TWINS.get(kind);
  if (twin !== undefined && lookup.get(twin, name) !== undefined) {
    return refusal(
      'conflict',
      `cannot create a ${quoted(kind)} config entry with name ${quoted(name)}, ` +
        `a ${quoted(twin)} config entry with that name already exists`,
      { pointer: '/Name', ...OWN },
    );
  }
  const mode = 'MutualTLSMode';
  if (after[mode] === 'permissive' && before?.[mode] !== 'permissive') {
    const mesh = entryOf(lookup, 'mesh', 'mesh');
    if (mesh?.AllowEnablingPermissiveMutualTLS !== true) {
      return refusal(
        'invalid',
        'cannot set MutualTLSMode=permissive because ' +
          'AllowEnablingPermissiveMutualTLS=false in the mesh config entry',
        { pointer: `/${mode}`, ...OWN },
      );
    }
  }
  return undefined;
}
const TWINS: ReadonlyMap<Kind, Kind> = new Map([
  ['ingress-gateway', 'terminating-gateway'],
  ['terminating-gateway', 'ingress-gateway'],
]);

/** Checks the services and entries that one change affects. */
class CrossEntryValidator {
  readonly #change: Change;
  readonly #lookup: EntryLookup;
  readonly #datacenter: string;
  readonly #budget: Budget | undefined;
  readonly #blamesWritten: () => boolean;
  readonly #among: Among | undefined;
  #exports: Exports | undefined;

  constructor(
    change: Change,
    lookup: EntryLookup,
    {
      datacenter,
      budget,
      blamesWritten = () => false,
      among,
    }: {
      readonly datacenter: string;
      readonly budget?: Budget;
      readonly blamesWritten?: () => boolean;
      readonly among?: Among;
    },
  ) {
    this.#change = change;
    this.#lookup = lookup;
    this.#datacenter = datacenter;
    this.#budget = budget;
    this.#blamesWritten = blamesWritten;
    this.#among = among;
  }

  #chainOf(service: string): Compiled {
    const known = this.#among?.chains.get(service.toLowerCase());
    if (known !== undefined) return known;
    const compiled = compileChain(this.#lookup, service, this.#budget);
    this.#among?.chains.set(service.toLowerCase(), compiled);
    return compiled;
  }

  /** Checks the chain of a service and the entries that depend on it. */
  ofService(name: string): Refusal | undefined {
    const compiled = this.#chainOf(name);
    if (!compiled.ok) return this.#brokenChain(compiled, name);
    const { chain } = compiled;
    for (const { kind, name: gateway } of this.#lookup.naming(target.service(name))) {
      if (kind !== 'ingress-gateway') continue;
      const fault = this.#listenerFault(gateway, chain);
      if (fault !== undefined) return this.#refuse(fault, { kind, name: gateway });
    }
    return this.#ofIntentions(name, chain.protocol) ?? this.#ofExport(chain);
  }

  /** Checks the changed entry itself if its kind depends on chains without being part of one. */
  ofEntry(): Refusal | undefined {
    const { kind, name, after } = this.#change;
    if (after === undefined) return undefined;
    if (kind === 'ingress-gateway') return this.#ofIngress(after);
    if (kind === 'service-intentions' && name !== '*') {
      const compiled = this.#chainOf(name);
      if (!compiled.ok) return this.#brokenChain(compiled, name);
      return this.#ofIntentions(name, compiled.chain.protocol);
    }
    if (kind === 'exported-services') return this.#ofExports();
    return undefined;
  }

  #ofIngress(after: ConfigEntry): Refusal | undefined {
    for (const service of servicesOf(after)) {
      const compiled = this.#chainOf(service);
      const fault = compiled.ok ? this.#listenerFault(after.Name, compiled.chain) : compiled.fault;
      if (fault !== undefined) return this.#refuse(fault, this.#change);
    }
    return undefined;
  }

  /** A listener must have the protocol of its services. */
  #listenerFault(gateway: string, chain: Chain): string | undefined {
    const entry = entryOf(this.#lookup, 'ingress-gateway', gateway);
    const own = this.#change.kind === 'ingress-gateway';
    for (const { Protocol: protocol, Services: services } of entry?.Listeners ?? []) {
      if (protocol === chain.protocol) continue;
      const named = services?.find((one) => one.Name.toLowerCase() === chain.service.toLowerCase());
      if (named === undefined) continue;
      // A service behind a tcp listener may change from tcp to http if no router or splitter needs
      // its requests.
      if (
        !own &&
        protocol === 'tcp' &&
        isHttpLike(chain.protocol) &&
        chain.startsAt === 'resolver'
      ) {
        continue;
      }
      return (
        `service ${quoted(named.Name)} has protocol ${quoted(chain.protocol)}, ` +
        `which does not match defined listener protocol ${quoted(protocol)}`
      );
    }
    return undefined;
  }

  /** Permissions match HTTP requests, so the destination must have an HTTP protocol. */
  #ofIntentions(name: string, protocol: string): Refusal | undefined {
    if (isHttpLike(protocol)) return undefined;
    const entry = entryOf(this.#lookup, 'service-intentions', name);
    if (!entry?.Sources?.some(({ Permissions }) => Permissions !== undefined)) return undefined;
    return this.#refuse(
      `service ${quoted(entry.Name)} has protocol ${quoted(protocol)}, ` +
        'which is incompatible with L7 intentions permissions',
      { kind: 'service-intentions', name: entry.Name },
    );
  }

  #ofExports(): Refusal | undefined {
    for (const name of this.#exported().names(this.#lookup)) {
      const compiled = this.#chainOf(name);
      const fault = compiled.ok ? this.#exportFault(compiled.chain) : compiled.fault;
      if (fault !== undefined) return this.#refuse(fault, this.#change);
    }
    return undefined;
  }

  #ofExport(chain: Chain): Refusal | undefined {
    if (!this.#exported().has(chain.service)) return undefined;
    const fault = this.#exportFault(chain) ?? this.#newTargetFault(chain);
    if (fault === undefined) return undefined;
    return this.#refuse(fault, { kind: 'exported-services', name: 'default' });
  }

  /** Peers cannot follow a redirect or failover that leaves this datacenter. */
  #exportFault({ service, resolvers }: Chain): string | undefined {
    const foreign = (datacenter = ''): boolean => ![this.#datacenter, ''].includes(datacenter);
    const say = (what: string): string =>
      `peer exported service ${quoted(service)} contains ${what}`;
    for (const { Redirect: redirect, Failover: failovers } of resolvers) {
      if (foreign(redirect?.Datacenter)) return say('cross-datacenter resolver redirect');
      if (redirect?.Peer !== undefined) return say('cross-peer resolver redirect');
      for (const { Datacenters: datacenters, Targets: targets } of Object.values(failovers ?? {})) {
        const named = [
          ...(datacenters ?? []),
          ...(targets ?? []).map((one) => one.Datacenter ?? ''),
        ];
        if (named.some(foreign)) return say('cross-datacenter failover');
      }
    }
    return undefined;
  }

  /**
   * Peers learn the targets of an exported tcp service when it is exported, so none may be added
   * later. Its own subsets and its failovers are resolved behind its gateway and may change.
   */
  #newTargetFault(chain: Chain): string | undefined {
    const { kind, name, before } = this.#change;
    if (isHttpLike(chain.protocol) || kind === 'exported-services') return undefined;
    const entries: ChainEntries = this.#among?.past ?? {
      get: (wanted, of) =>
        wanted === kind && of.toLowerCase() === name.toLowerCase()
          ? before
          : this.#lookup.get(wanted, of),
    };
    if (this.#among !== undefined) {
      const exported = ofKind('exported-services', entries.get('exported-services', 'default'));
      if (!new Exports(exported).has(chain.service)) return undefined;
    }
    const past = compileChain(entries, chain.service, this.#budget);
    if (!past.ok) return undefined;
    const known = new Set([...past.chain.ends, chain.service.toLowerCase()]);
    const added = [...chain.ends].find((service) => !known.has(service));
    if (added === undefined) return undefined;
    return (
      `peer exported service ${quoted(chain.service)} uses protocol=${quoted(chain.protocol)} ` +
      `and cannot introduce new discovery chain targets like ${quoted(added)}`
    );
  }

  #exported(): Exports {
    this.#exports ??= new Exports(entryOf(this.#lookup, 'exported-services', 'default'));
    return this.#exports;
  }

  /** Refuses a change that breaks the chain of a service. */
  #brokenChain({ fault, causes }: Compiled & { readonly ok: false }, service: string): Refusal {
    const head = this.#headOf(service);
    const own = causes.find((cause) => isWritten(cause, this.#changeOf(cause)));
    if (own === undefined || !this.#blamesWritten()) return this.#refuse(fault, head);
    return refusalOfBroken(this.#blamed(own), fault, { head, pointer: own.pointer });
  }

  /** Returns the change of an entry; the change that is checked if it is none of a set. */
  #changeOf(entry: EntryId): Change {
    return this.#among?.changeOf(entry) ?? this.#change;
  }

  #blamed(entry: EntryId): Change {
    const change = this.#changeOf(entry);
    if (this.#among !== undefined) this.#among.blamed = change;
    return change;
  }

  /** Returns the entry with which the chain of a service starts, or the changed one. */
  #headOf(name: string): EntryId {
    for (const kind of CHAIN_KINDS) {
      const entry = this.#lookup.get(kind, name);
      if (entry !== undefined) return { kind, name: entry.Name };
    }
    return this.#change;
  }

  #refuse(fault: string, where: EntryId): Refusal {
    return refusalIn(where, this.#blamed(where), fault);
  }
}

/** Yields the services that an ingress-gateway names, without wildcards. */
function* servicesOf(entry: ConfigEntry): Iterable<string> {
  const seen = new Set<string>();
  for (const { Services: services } of ofKind('ingress-gateway', entry)?.Listeners ?? []) {
    for (const { Name: name } of services ?? []) {
      if (name === '*' || seen.has(name)) continue;
      seen.add(name);
      yield name;
    }
  }
}
