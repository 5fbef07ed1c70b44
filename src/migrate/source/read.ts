/** Reads a source (moving-in.md 3): every list, and again what changed meanwhile. */
import { policyHash } from '../../acl/hash.js';
import type { Finding } from '../../api/migration-report.js';
import { isClusterWide, isKind } from '../../kinds/definitions.js';
import { KINDS } from '../../kinds/types.js';
import { finding } from '../report/findings.js';
import { Asking, jsonOf, listOf, refusedWith } from './asking.js';
import { introduce } from './introduction.js';
import {
  type ObjectType,
  type ReadOptions,
  type Shown,
  type SourceAnswer,
  type SourceConnection,
  SourceError,
  type SourceState,
} from './types.js';

/** How often what moved is read again. */
const AGAIN_MAX = 3;
/** Kinds that only a source has. They are read so that they can be named. */
const OTHER_KINDS = ['sameness-group', 'control-plane-request-limit'];
/** The server makes these by itself. */
const MADE_KIND = 'bound-api-gateway';

/** Reads everything that is asked for. Throws SourceError, and what the connection throws. */
export async function readSource(
  connection: SourceConnection,
  options: ReadOptions,
): Promise<SourceState> {
  const asking = new Asking(connection, options.clock, options.rate);
  const findings: Finding[] = [];
  const isSecondary = options.fromSecondary === true;
  const introduction = await introduce(asking, isSecondary, findings);
  const reading = new Reading(asking, options, introduction.isOurs);
  await reading.partitions(findings);
  await reading.round();
  for (let again = 0; await reading.round(); again += 1) {
    if (options.mayMove === true) break;
    if (again === AGAIN_MAX)
      throw new SourceError('the source changes faster than it can be read: use --watch');
  }
  const state = reading.state();
  const handles = introduction.isOurs ? await handlesOf(asking) : new Map<unknown, string>();
  return {
    ...state,
    bindingRules: state.bindingRules.map((one) => {
      const Handle = handles.get(one['ID']);
      return Handle === undefined ? one : { ...one, Handle };
    }),
    tokens: isSecondary ? state.tokens.filter(({ Local }) => Local === true) : state.tokens,
    info: { ...introduction, ...state.info },
    findings: [...findings, ...state.findings],
  };
}

/** Returns the Handles of binding rules by ID, which an export of ours alone tells. */
async function handlesOf(asking: Asking): Promise<ReadonlyMap<unknown, string>> {
  const path = 'export';
  const answer = await asking.get(path, { types: 'binding-rule', ids: 'true', ns: '*' });
  if (answer.status !== 200) return new Map();
  const { Objects } = jsonOf<{ Objects: { Handle?: string; Object: Shown }[] }>(path, answer);
  return new Map(
    Objects.flatMap(({ Handle, Object: { ID } }) => (Handle === undefined ? [] : [[ID, Handle]])),
  );
}

/** The members of a policy that a list shows. */
interface Policy {
  readonly ID: string;
  readonly Name: string;
  readonly Description: string;
  readonly Datacenters: readonly string[] | null;
  readonly Hash: string;
}

interface List {
  readonly type: ObjectType;
  readonly path: string;
  /** Absent where the source has no namespaces. */
  readonly ns?: string;
  readonly kind?: string;
  /** The rights without which it is not shown whole. */
  readonly rights: string;
}

interface Loaded {
  readonly list: List;
  readonly index: number;
  readonly objects: readonly Shown[];
  readonly findings: readonly Finding[];
}

const ACL_LISTS: readonly [ObjectType, string][] = [
  ['policy', 'acl/policies'],
  ['role', 'acl/roles'],
  ['auth-method', 'acl/auth-methods'],
  ['binding-rule', 'acl/binding-rules'],
  ['token', 'acl/tokens'],
];

const NAMESPACES: List = { type: 'namespace', path: 'namespaces', rights: 'operator:read' };

class Reading {
  readonly #asking: Asking;
  readonly #options: ReadOptions;
  readonly #isOurs: boolean;
  /** What is known by type, namespace and identity, so that it is not read twice. */
  readonly #known = new Map<string, Shown>();
  #loaded = new Map<string, Loaded>();
  #hasNamespaces = true;

  constructor(asking: Asking, options: ReadOptions, isOurs: boolean) {
    this.#asking = asking;
    this.#options = options;
    this.#isOurs = isOurs;
    const { before } = options;
    for (const one of before?.policies ?? []) this.#remember('policy', one);
    for (const one of before?.authMethods ?? []) this.#remember('auth-method', one);
    for (const one of before?.tokens ?? []) this.#remember('token', one);
  }

  /** Notes the partitions of the source, which are left out. */
  async partitions(findings: Finding[]): Promise<void> {
    const path = 'partitions';
    const answer = await this.#asking.get(path);
    if (answer.status !== 200 || this.#isOurs) return;
    for (const { Name } of listOf(path, answer)) {
      if (Name === 'default') continue;
      const message = `the partition "${Name}" is not read: this server has none`;
      findings.push(finding(`partition/${Name}`, 'partition', message, { LeftOut: true }));
    }
  }

  /** Reads all lists, or those that moved. Returns whether one moved. */
  async round(): Promise<boolean> {
    const before = this.#loaded;
    this.#loaded = new Map();
    const take = async (list: List): Promise<Loaded> => {
      const key = keyOf(list);
      const loaded = await this.#load(list, before.get(key));
      this.#loaded.set(key, loaded);
      return loaded;
    };
    const { objects } = await take(NAMESPACES);
    for (const list of this.#lists(this.#chosen(objects))) await take(list);
    return (
      before.size !== this.#loaded.size ||
      [...this.#loaded].some(([key, { index }]) => before.get(key)?.index !== index)
    );
  }

  state(): SourceState {
    const all = [...this.#loaded.values()];
    const of = (type: ObjectType): Shown[] =>
      all.flatMap(({ list, objects }) => (list.type === type ? objects : []));
    const chosen = new Set(this.#chosen(of('namespace')));
    const { only } = this.#options;
    const wants = only === undefined || only.includes('namespace');
    return {
      info: {
        Indexes: Object.fromEntries(all.map(({ list, index }) => [keyOf(list), index])),
        isOurs: this.#isOurs,
        hasNamespaces: this.#hasNamespaces,
      },
      namespaces: wants ? of('namespace').filter(({ Name }) => chosen.has(String(Name))) : [],
      policies: of('policy'),
      roles: of('role'),
      authMethods: of('auth-method'),
      bindingRules: of('binding-rule'),
      tokens: of('token'),
      entries: of('config'),
      findings: all.flatMap(({ findings }) => findings),
    };
  }

  /** Returns the namespaces to read. Throws SourceError for one that is not there. */
  #chosen(namespaces: readonly Shown[]): readonly string[] {
    const { namespaces: wanted } = this.#options;
    const there = namespaces.flatMap(({ Name, DeletedAt }) =>
      typeof Name === 'string' && (DeletedAt ?? null) === null ? [Name] : [],
    );
    if (wanted === 'none') return ['default'];
    if (wanted === 'all') return ['default', ...there.filter((name) => name !== 'default')];
    const missing = wanted.find((name) => name !== 'default' && !there.includes(name));
    if (missing !== undefined) throw new SourceError(`the source shows no namespace "${missing}"`);
    return wanted;
  }

  #lists(namespaces: readonly string[]): readonly List[] {
    const { only, kinds } = this.#options;
    const isWanted = (type: ObjectType): boolean => only === undefined || only.includes(type);
    const all = [...KINDS.filter((kind) => kind !== MADE_KIND), ...OTHER_KINDS];
    const read = all.filter((kind) => kinds === undefined || kinds.includes(kind));
    return namespaces.flatMap((ns): List[] => {
      const place = this.#hasNamespaces ? { ns } : {};
      const acl = ACL_LISTS.filter(([type]) => isWanted(type)).map(
        ([type, path]): List => ({ type, path, ...place, rights: 'acl:read' }),
      );
      const config = (isWanted('config') ? read : [])
        .filter((kind) => ns === 'default' || !isKind(kind) || !isClusterWide(kind))
        .map((kind): List => {
          const path = `config/${kind}`;
          return { type: 'config', path, ...place, kind, rights: 'service:read and mesh:read' };
        });
      return [...acl, ...config];
    });
  }

  async #load(list: List, before: Loaded | undefined): Promise<Loaded> {
    const query = { consistent: '', ...(list.ns !== undefined && { ns: list.ns }) };
    const answer = await this.#asking.get(list.path, query);
    const index = Number(answer.header('x-consul-index') ?? 0);
    if (before !== undefined && answer.status === 200 && before.index === index) return before;
    const absent = this.#absence(list, answer);
    if (absent !== undefined) return { list, index: 0, objects: [], findings: absent };
    const shown = listOf(list.path, answer).filter(
      ({ Partition = 'default' }) => Partition === 'default' || Partition === '',
    );
    const whole = await this.#asking.each(shown, (one) => this.#whole(list, one));
    const isCut = answer.header('x-consul-results-filtered-by-acls') === 'true';
    return {
      list,
      index,
      objects: whole.filter((one) => one !== undefined).map(withAccessor),
      findings: isCut ? [unreadable(list)] : [],
    };
  }

  /** Returns what is found where a list is not there; undefined if it is. Throws SourceError. */
  #absence(list: List, answer: SourceAnswer): readonly Finding[] | undefined {
    const { status, text } = answer;
    if (status === 200) return undefined;
    if (list.type === 'namespace' && status === 404) {
      this.#hasNamespaces = false;
      return [];
    }
    if (status === 403 && /ACL not found/.test(text))
      throw new SourceError('the source does not know the token');
    if (status === 403) return [unreadable(list)];
    if (status === 401) {
      const message = `${keyOf(list)} is not there: ${text.trim()}`;
      return [finding(keyOf(list), 'not_readable', message)];
    }
    // An older release, or another edition, does not know each kind.
    if (list.kind !== undefined && /invalid config entry kind/.test(text)) return [];
    throw refusedWith(list.path, answer);
  }

  /** Returns an object with what the list leaves out; undefined if it has gone meanwhile. */
  async #whole(list: List, shown: Shown): Promise<Shown | undefined> {
    const Namespace = shown['Namespace'] || (list.ns ?? 'default');
    const one: Shown = { ...shown, Namespace };
    const path = this.#detailOf(list, one);
    if (path === undefined) return one;
    const known = this.#known.get(identityOf(list.type, one));
    if (known !== undefined && known['ModifyIndex'] === one['ModifyIndex'])
      return list.type === 'token' ? { ...withoutLinks(known), ...one } : known;
    const Rules = list.type === 'policy' ? this.#provenText(one) : undefined;
    if (Rules !== undefined) return { ...one, Rules };
    const [plain = '', isExpanded] = path.split('?');
    const query = {
      consistent: '',
      ...(list.ns !== undefined && { ns: list.ns }),
      ...(isExpanded !== undefined && { expanded: 'true' }),
    };
    const answer = await this.#asking.get(plain, query);
    // What has gone, or is over, has moved the index: its list is read again.
    if (answer.status === 403 || answer.status === 404) return undefined;
    if (answer.status !== 200) throw refusedWith(plain, answer);
    const detail = jsonOf<Shown>(plain, answer);
    // An expanded token repeats all its policies.
    const { Identity } = detail;
    const more = isExpanded === undefined ? detail : Identity === undefined ? {} : { Identity };
    const whole = { ...one, ...more };
    this.#remember(list.type, whole);
    return whole;
  }

  /** Returns the text of a policy, if it is known that its Hash is made of that. */
  #provenText(listed: Shown): string | undefined {
    const { ID, Name, Description, Datacenters = [], Hash } = listed as Partial<Policy>;
    const Rules = this.#options.texts?.get(ID ?? '');
    if (Rules === undefined || Name === undefined || Description === undefined) return undefined;
    return policyHash({ Name, Description, Rules, Datacenters }) === Hash ? Rules : undefined;
  }

  #detailOf({ type }: List, one: Shown): string | undefined {
    const of = (path: string, name: unknown): string =>
      `${path}/${encodeURIComponent(String(name))}`;
    if (type === 'policy') return of('acl/policy', one['ID']);
    if (type === 'auth-method') return of('acl/auth-method', one['Name']);
    if (type !== 'token' || typeof one['AccessorID'] !== 'string' || one['AccessorID'] === '')
      return undefined;
    // A cluster of ours tells who is behind a login in the expanded form alone.
    if (this.#isOurs && one['AuthMethod']) return `${of('acl/token', one['AccessorID'])}?expanded`;
    return one['SecretID'] === undefined ? of('acl/token', one['AccessorID']) : undefined;
  }

  #remember(type: ObjectType, one: Shown): void {
    this.#known.set(identityOf(type, one), one);
  }
}

const keyOf = ({ path, ns }: List): string =>
  ns === undefined || ns === 'default' ? path : `${path}?ns=${ns}`;

/** A source keeps the letter case of an AccessorID that a client made; here it is in lower case. */
const withAccessor = (one: Shown): Shown => {
  const { AccessorID } = one;
  return typeof AccessorID === 'string' ? { ...one, AccessorID: AccessorID.toLowerCase() } : one;
};

/** Returns what does not change without the index of a token: a link goes with what it names. */
const withoutLinks = ({ Policies: _policies, Roles: _roles, ...rest }: Shown): Shown => rest;

const identityOf = (type: ObjectType, one: Shown): string =>
  [type, one['Namespace'], one['AccessorID'] ?? one['ID'] ?? one['Name']].join('\u0000');

function unreadable(list: List): Finding {
  const where = list.ns === undefined || list.ns === 'default' ? '' : ` in "${list.ns}"`;
  const message = `${list.path}${where} is not shown whole: ${list.rights} is missing`;
  return finding(keyOf(list), 'not_readable', message);
}
