/** What the rights of the tokens of one side are made from, as each side collects it. */
import { compileRights } from '../../acl/authorizer.js';
import { ANONYMOUS_ACCESSOR, BUILT_IN_POLICIES } from '../../acl/builtin.js';
import { Layer, type Rights } from '../../acl/layer.js';
import type { Origins, Path, PathStep, PlacedGrant } from '../../acl/origins.js';
import { atOnce } from '../../acl/steps.js';
import { policyGrant, templateGrant } from '../../acl/synthetic.js';
import { templateByName, templateId } from '../../acl/templates.js';
import { mergeWritten, readRules, type SourceReading, type Written } from './rules.js';
import type { HolderShown, PolicyShown, RightsState, RoleShown, TokenShown } from './types.js';

const DEFAULT = 'default';

/** An identity or a templated policy, as the template that it stands for. */
interface Template {
  readonly type: 'service-identity' | 'node-identity' | 'templated-policy';
  readonly template: string;
  readonly name: string;
  readonly datacenters: readonly string[];
  readonly path: Path;
}
interface Linked {
  readonly policy: PolicyShown;
  readonly path: Path;
}
/** A layer of a token's rights before it is read: what is linked in it, holder by holder. */
interface Collected {
  readonly policies: Linked[];
  /** One list for each holder. */
  readonly templates: (readonly Template[])[];
}

/** Changes to a side, by which the reason of a difference is found. */
export interface Variant {
  /** Objects that are left out, such as `policy/default/ops`. */
  readonly without?: ReadonlySet<string>;
  /** A narrower identity of one holder takes nothing from another. */
  readonly addsUp?: boolean;
  readonly defaultPolicy?: 'allow' | 'deny';
}

type Kind = 'policy' | 'role';
/** The name of an object in reports. */
const refOf = (kind: Kind, ns: string, name: string): string => `${kind}/${ns}/${name}`;

/** The namespace of an object; community editions show none. */
const namespaceOf = ({ Namespace }: { readonly Namespace?: string }): string =>
  Namespace === undefined || Namespace === '' ? DEFAULT : Namespace;

/** One side of a comparison. Texts are parsed once. */
export class Side {
  readonly state: RightsState;
  readonly #policies: ReadonlyMap<string, PolicyShown>;
  readonly #roles: ReadonlyMap<string, RoleShown>;
  readonly #readings = new Map<PolicyShown, SourceReading>();
  readonly #grants = new Map<PolicyShown, PlacedGrant>();
  readonly #isOurs: boolean;

  constructor(state: RightsState) {
    this.state = state;
    this.#isOurs = state.reader === 'ours';
    this.#policies = byLink(state.policies);
    this.#roles = byLink(state.roles);
  }

  /** Whether a token is the anonymous one of this server, which never has operator:write. */
  isRestricted({ AccessorID }: TokenShown): boolean {
    return this.#isOurs && AccessorID === ANONYMOUS_ACCESSOR;
  }

  /** Returns what is the same for tokens with the same rights. */
  keyOf(token: TokenShown): string {
    const ids = (links: HolderShown['Policies']): string[] =>
      (links ?? []).map(({ ID, Name }) => ID ?? `name ${Name}`).sort();
    return JSON.stringify([
      namespaceOf(token),
      ids(token.Policies),
      ids(token.Roles),
      token.ServiceIdentities ?? [],
      token.NodeIdentities ?? [],
      token.TemplatedPolicies ?? [],
      token.AccessorID === ANONYMOUS_ACCESSOR,
    ]);
  }

  /** Returns the objects on which the rights of a token rest. */
  refsOf(token: TokenShown): ReadonlySet<string> {
    const refs = new Set<string>();
    for (const layer of this.#layers(token)) {
      for (const { policy } of layer.policies) {
        refs.add(refOf('policy', namespaceOf(policy), policy.Name));
      }
    }
    for (const { Roles } of [token, this.#defaultsOf(token)]) {
      for (const link of Roles ?? []) {
        const role = found(this.#roles, namespaceOf(token), link);
        if (role !== undefined) refs.add(refOf('role', namespaceOf(role), role.Name));
      }
    }
    return refs;
  }

  rightsOf(token: TokenShown, variant: Variant = {}): Rights {
    const { defaultPolicy = this.state.defaultPolicy } = variant;
    if (this.#isOurs) {
      const { own, defaults } = this.originsOf(token, variant);
      return atOnce(compileRights(own, { defaultPolicy, defaults }));
    }
    const layers: Layer[] = [];
    for (const collected of this.#layers(token, variant)) {
      const written = this.#written(collected, namespaceOf(token), variant);
      if (written === undefined) return NO_RIGHTS;
      const grant = { rules: mergeWritten(written), namespace: namespaceOf(token) };
      layers.push(atOnce(Layer.of([grant])));
    }
    return { layers, allowByDefault: defaultPolicy === 'allow', weight: 0 };
  }

  /** Returns where the rules of a token of this server come from. */
  originsOf(token: TokenShown, variant: Variant = {}): Origins {
    const elsewhere: PlacedGrant[] = [];
    const [own = [], defaults = []] = this.#layers(token, variant).map((layer) => {
      const here: PlacedGrant[] = [];
      const add = (grant: PlacedGrant, datacenters: readonly string[] | null | undefined): void => {
        (this.#isHere(datacenters) ? here : elsewhere).push(grant);
      };
      for (const { policy, path } of layer.policies) {
        add({ ...this.#grantOf(policy, namespaceOf(token)), path }, policy.Datacenters);
      }
      for (const one of layer.templates.flatMap(withoutRepeats)) {
        const { template, name, datacenters, path } = one;
        const text = templateByName(template)?.Template ?? '';
        add({ ...templateGrant(template, { name }, namespaceOf(token)), path, text }, datacenters);
      }
      return here;
    });
    return { own, defaults, elsewhere, dangling: [] };
  }

  #isHere(datacenters: readonly string[] | null | undefined): boolean {
    return !datacenters?.length || datacenters.includes(this.state.datacenter);
  }

  /** Parses a policy as this server does. That of a default acts in the token's namespace. */
  #grantOf(policy: PolicyShown, actIn: string): PlacedGrant {
    let grant = this.#grants.get(policy);
    if (grant === undefined) {
      grant = { ...policyGrant(policy.Rules, namespaceOf(policy)), path: [], text: policy.Rules };
      this.#grants.set(policy, grant);
    }
    return { ...grant, namespace: actIn };
  }

  /**
   * Returns the rules of a layer as the source merges them: policies by ID, then those of
   * identities, which it merges across holders. Undefined if it cannot read one.
   */
  #written(layer: Collected, ns: string, { addsUp = false }: Variant): Written[] | undefined {
    const texts: Written[] = [];
    const policies = new Set(layer.policies.map(({ policy }) => policy));
    for (const policy of [...policies].sort((a, b) => (a.ID < b.ID ? -1 : 1))) {
      if (!this.#isHere(policy.Datacenters)) continue;
      const reading = this.#readingOf(policy);
      if (!reading.ok) return undefined;
      texts.push(reading.written);
    }
    const templates = addsUp
      ? layer.templates.flatMap(withoutRepeats)
      : withoutRepeats(layer.templates.flat());
    for (const { template, name, datacenters } of templates) {
      if (this.#isHere(datacenters)) texts.push(templateGrant(template, { name }, ns).rules);
    }
    return texts;
  }

  /** Reads a policy as the source does. A built-in one grants its rights in all namespaces. */
  #readingOf(policy: PolicyShown): SourceReading {
    let reading = this.#readings.get(policy);
    if (reading === undefined) {
      const builtIn = BUILT_IN_POLICIES.find(({ ID }) => ID === policy.ID);
      const isOwn = this.state.reader === 'community' && policy.Rules !== '';
      const text = builtIn === undefined || isOwn ? policy.Rules : builtIn.Rules;
      reading = readRules(text, this.state.reader);
      if (reading.ok && builtIn !== undefined && isOwn) {
        const ours = readRules(builtIn.Rules, 'enterprise');
        const namespaces = ours.ok ? ours.written.namespaces : [];
        reading = { ...reading, written: { ...reading.written, namespaces } };
      }
      this.#readings.set(policy, reading);
    }
    return reading;
  }

  /** Collects the layers of a token's rights: its own, then the defaults of its namespace. */
  #layers(token: TokenShown, variant: Variant = {}): Collected[] {
    const ns = namespaceOf(token);
    const first: PathStep = { Type: 'token', ID: token.AccessorID, Name: token.Description ?? '' };
    const own = this.#collect(token, ns, [first], variant);
    const step: PathStep = { Type: 'namespace', ID: ns, Name: ns };
    const defaults = this.#collect(this.#defaultsOf(token), DEFAULT, [first, step], variant);
    return [own, defaults];
  }

  /** Returns the defaults of a token's namespace as a holder of links. */
  #defaultsOf(token: TokenShown): HolderShown {
    const namespace = this.state.namespaces.find(({ Name }) => Name === namespaceOf(token));
    const { PolicyDefaults, RoleDefaults } = namespace?.ACLs ?? {};
    return { Policies: PolicyDefaults ?? [], Roles: RoleDefaults ?? [] };
  }

  #collect(holder: HolderShown, ns: string, path: Path, { without }: Variant): Collected {
    const collected: Collected = { policies: [], templates: [] };
    const add = (one: HolderShown, to: Path): void => {
      for (const link of one.Policies ?? []) {
        const policy = found(this.#policies, ns, link);
        if (policy === undefined || without?.has(refOf('policy', ns, policy.Name))) continue;
        const step: PathStep = { Type: 'policy', ID: policy.ID, Name: policy.Name };
        collected.policies.push({ policy, path: [...to, step] });
      }
      collected.templates.push([...templatesOf(one, to)]);
    };
    add(holder, path);
    for (const link of holder.Roles ?? []) {
      const role = found(this.#roles, ns, link);
      if (role === undefined || without?.has(refOf('role', ns, role.Name))) continue;
      add(role, [...path, { Type: 'role', ID: role.ID, Name: role.Name }]);
    }
    return collected;
  }
}

/** The rights of no token, and of one with a policy that the source cannot read. */
export const NO_RIGHTS: Rights = { layers: [], allowByDefault: false, weight: 0 };

/** Objects by their ID, and by their name for links without an ID. */
function byLink<T extends { readonly ID: string; readonly Name: string }>(
  objects: readonly (T & { readonly Namespace?: string })[],
): ReadonlyMap<string, T> {
  const all = new Map<string, T>();
  for (const object of objects) {
    const ns = namespaceOf(object);
    all.set(`${ns}\u0000id\u0000${object.ID}`, object);
    all.set(`${ns}\u0000name\u0000${object.Name.toLowerCase()}`, object);
  }
  return all;
}

function found<T>(
  objects: ReadonlyMap<string, T>,
  ns: string,
  { ID, Name }: { readonly ID?: string; readonly Name?: string },
): T | undefined {
  if (ID) return objects.get(`${ns}\u0000id\u0000${ID}`);
  return Name ? objects.get(`${ns}\u0000name\u0000${Name.toLowerCase()}`) : undefined;
}

/** Yields the identities and templated policies of a holder, but those of unknown templates. */
function* templatesOf(holder: HolderShown, path: Path): Iterable<Template> {
  const made = (
    type: Template['type'],
    template: string,
    name: string,
    datacenters: readonly string[] | null | undefined,
  ): Template => {
    const ID = type === 'templated-policy' ? (templateId(template) ?? '') : '';
    const Name = type === 'templated-policy' ? template : name;
    return {
      type,
      template,
      name,
      datacenters: datacenters ?? [],
      path: [...path, { Type: type, ID, Name }],
    };
  };
  for (const { ServiceName, Datacenters } of holder.ServiceIdentities ?? []) {
    yield made('service-identity', 'builtin/service', ServiceName, Datacenters);
  }
  for (const { NodeName, Datacenter } of holder.NodeIdentities ?? []) {
    yield made('node-identity', 'builtin/node', NodeName, [Datacenter]);
  }
  for (const { TemplateName, TemplateVariables, Datacenters } of holder.TemplatedPolicies ?? []) {
    const template = templateByName(TemplateName);
    if (template === undefined) continue;
    const { name, Name } = TemplateVariables ?? {};
    const variable = template.Schema === '' ? '' : (name ?? Name ?? '');
    yield made('templated-policy', TemplateName, variable, Datacenters);
  }
}

/**
 * Merges repeats, as both sides do for one holder and the source does for all. A service keeps the
 * datacenters of both, and a restriction outlives one without; of templates the first one counts.
 */
function withoutRepeats(templates: readonly Template[]): Template[] {
  const unique = new Map<string, Template>();
  for (const one of templates) {
    const isNode = one.type === 'node-identity';
    const key = JSON.stringify([one.type, one.template, one.name, isNode && one.datacenters]);
    const past = unique.get(key);
    if (past === undefined) unique.set(key, one);
    else if (one.type === 'service-identity') {
      unique.set(key, { ...past, datacenters: [...past.datacenters, ...one.datacenters] });
    }
  }
  return [...unique.values()];
}
