/**
 * Looks at all records of a snapshot before it takes the place of the state: a checksum says that they are those which were
 * saved, not that any member could go on with them. Objects must have the fields that the state machine relies on and stand
 * under their own key; what follows from them (names, secrets, links, references) must be there, and nothing else.
 */
import { isNamespaceName } from '../acl/names.js';
import { templateByName } from '../acl/templates.js';
import { ApiError, reject } from '../errors.js';
import { isKind } from '../kinds/definitions.js';
import { storedProblem } from '../kinds/index.js';
import { targetsOf } from '../kinds/references.js';
import type { ConfigEntry } from '../kinds/types.js';
import type { Grants } from '../state/grants.js';
import { keys } from '../state/keys.js';
import { holderKey, type Link, type LinkFact } from '../state/links.js';
import { ACL_FACT } from '../state/login-limits.js';
import type { AuthMethod } from '../state/methods.js';
import { DEFAULT_NAMESPACE, type Namespace } from '../state/namespaces.js';
import type { Policy } from '../state/policies.js';
import type { Role } from '../state/roles.js';
import type { BindingRule } from '../state/rules.js';
import { type LoginOf, loginRecords, type Token, tokenRecords } from '../state/tokens.js';
import { decodeConfiguration } from './acl-configuration.js';
import { METHOD_FIELDS } from './auth-methods.js';
import { RULE_FIELDS } from './binding-rules.js';
import { decodeBody, type Fields, text } from './decode.js';
import { NAMESPACE_FIELDS } from './namespaces.js';
import { POLICY_FIELDS } from './policies.js';
import { modifyIndexOf } from './reading.js';
import { ROLE_FIELDS } from './roles.js';
import { TOKEN_FIELDS } from './tokens.js';

type StateRecord = readonly [key: string, value: string];
type Stored = Record<string, unknown>;

/** What follows from the objects of other tables. */
const DERIVED: ReadonlySet<string> = new Set([
  ...['policy-name', 'role-name', 'role-by-policy', 'namespace-by-policy', 'namespace-by-role'],
  ...['token-secret', 'token-accessor', 'token-by-policy', 'token-by-role', 'token-by-method'],
  ...['token-by-expiry', 'token-identity', 'rule-by-method', 'namespace-dying', 'config-ref'],
]);

/** Records compared between two turns of the event loop. */
const SLICE_RECORDS = 5000;

/** Checks records as they come, and what is missing at the end. Both throw ApiError `invalid`. */
export class SnapshotCheck {
  readonly #derived = new Map<string, string>();
  readonly #found = new Map<string, string>();
  /** Names by the keys of the facts that links show. */
  readonly #names = new Map<string, string>();
  readonly #facts = new Map<string, string | undefined>();
  readonly #dying = new Set<string>();
  /** Of tokens that logins have made: what tells of the login stands in another record. */
  readonly #logins: LoginOf[] = [];
  #hasDefault = false;

  add([key, value]: StateRecord): void {
    const [table = '', ns = ''] = key.split('\u0000');
    if (DERIVED.has(table)) this.#found.set(key, value);
    else if (Object.hasOwn(this.#tables, table)) this.#tables[table]?.(key, value, ns);
    else fail(table, 'this version does not know that table');
  }

  /** Yields where the event loop may have a turn: a large state takes many. */
  *end(): Generator<void> {
    let compared = 0;
    const isTurn = (): boolean => ++compared % SLICE_RECORDS === 0;
    if (!this.#hasDefault) fail('namespace', `the namespace ${DEFAULT_NAMESPACE} is missing`);
    for (const login of this.#logins) {
      if (isTurn()) yield;
      for (const [key, value] of loginRecords(login, (of) => this.#identityAt(of)))
        this.#derived.set(key, value);
    }
    for (const [key, value] of this.#derived) {
      if (isTurn()) yield;
      if (this.#found.get(key) !== value) fail(tableOf(key), 'a record is missing or wrong');
    }
    for (const key of this.#found.keys()) {
      if (isTurn()) yield;
      if (!this.#derived.has(key) && !this.#isLeft(key))
        fail(tableOf(key), 'a record is of nothing');
    }
    for (const [key, name] of this.#names) {
      if (isTurn()) yield;
      if (this.#facts.get(key) !== name) fail(tableOf(key), 'a name is missing or wrong');
    }
    for (const [key, name] of this.#facts) {
      if (isTurn()) yield;
      if (name !== undefined && !this.#names.has(key)) fail(tableOf(key), 'a name is of nothing');
    }
  }

  #identityAt(key: string): string | undefined {
    const identity = this.#found.get(key);
    const isIdentity = identity === undefined || /^([0-9a-f]{64})?$/.test(identity);
    return isIdentity ? identity : fail(tableOf(key), 'an identity is no SHA-256');
  }

  /** A namespace is emptied part by part, of references last. */
  #isLeft(key: string): boolean {
    const [table, ns = ''] = key.split('\u0000');
    return table === 'config-ref' && this.#dying.has(ns);
  }

  readonly #tables: Readonly<Record<string, (key: string, value: string, ns: string) => void>> = {
    index: (_key, value) => mustBeNumber('index', value),
    deleted: (_key, value) => mustBeNumber('deleted', value),
    fact: (key, value) => mustBeFact(key, value),
    'method-remains': () => {},
    'policy-link': (key, value) => this.#fact('policy-link', key, value),
    'role-link': (key, value) => this.#fact('role-link', key, value),
    policy: (key, value) => {
      const policy = read<Policy>('policy', value, POLICY_FIELDS, ['ID', 'Name', 'Rules']);
      const { ID, Name, Namespace } = policy;
      mustBeKey('policy', key, keys.policy(Namespace, ID));
      this.#derived.set(keys.policyName(Namespace, Name), ID);
      this.#names.set(keys.policyLink(ID), Name);
    },
    role: (key, value) => {
      const role = read<Role>('role', value, ROLE_FIELDS, ['ID', 'Name']);
      const { ID, Name, Namespace } = role;
      mustBeKey('role', key, keys.role(Namespace, ID));
      mustBeGrants('role', role);
      this.#derived.set(keys.roleName(Namespace, Name), ID);
      this.#names.set(keys.roleLink(ID), Name);
      this.#links({ holder: 'role', target: 'policy', ns: Namespace, id: ID }, role.Policies);
    },
    token: (key, value) => this.#token(key, value),
    method: (key, value) => {
      const fields = ['Name', 'Type', 'Config'];
      const { Name, Namespace } = read<AuthMethod>('method', value, METHOD_FIELDS, fields);
      mustBeKey('method', key, keys.method(Namespace, Name));
    },
    rule: (key, value) => {
      const fields = ['ID', 'AuthMethod', 'BindType', 'BindName'];
      const {
        ID,
        AuthMethod: of,
        Namespace,
      } = read<BindingRule>('rule', value, RULE_FIELDS, fields);
      mustBeKey('rule', key, keys.rule(Namespace, ID));
      this.#derived.set(keys.ruleByMethod(Namespace, of, ID), '');
    },
    namespace: (key, value) => this.#namespace(key, value),
    config: (key, value, ns) => this.#config(key, value, ns),
  };

  #fact(table: string, key: string, value: string): void {
    const { Name, Index } = objectOf(table, value) as Stored & LinkFact;
    const isName = Name === undefined || typeof Name === 'string';
    if (!isName || !Number.isSafeInteger(Index)) fail(table, 'a fact has other fields');
    this.#facts.set(key, Name);
  }

  #token(key: string, value: string): void {
    const fields = ['AccessorID', 'SecretID', 'Description', 'CreateTime', 'Local'];
    const token = read<Token>('token', value, STORED_TOKEN_FIELDS, fields);
    const { AccessorID: accessor, Namespace: ns } = token;
    mustBeKey('token', key, keys.token(ns, accessor));
    mustBeGrants('token', token);
    for (const [record, is] of tokenRecords(token)) this.#derived.set(record, is);
    const { AuthMethod, AuthMethodNamespace: home, CreateTime, Namespace } = token;
    if (AuthMethod !== undefined) {
      const method = { AuthMethod, ...(home !== undefined && { AuthMethodNamespace: home }) };
      this.#logins.push({ AccessorID: accessor, CreateTime, Namespace, ...method });
    }
    const holder = { holder: 'token', ns, id: accessor } as const;
    this.#links({ ...holder, target: 'policy' }, token.Policies);
    this.#links({ ...holder, target: 'role' }, token.Roles);
  }

  /** Notes who must be known to hold these links. */
  #links(holder: Parameters<typeof holderKey>[0], links: readonly Link[] | undefined): void {
    for (const id of idsOf(holder.holder, links)) this.#derived.set(holderKey(holder, id), '');
  }

  #namespace(key: string, value: string): void {
    const namespace = read<Namespace>('namespace', value, NAMESPACE_FIELDS, ['Name'], []);
    const { Name, ACLs, DeletedAt } = namespace;
    mustBeKey('namespace', key, keys.namespace(Name));
    if (!isNamespaceName(Name)) fail('namespace', 'it has a name that none can have');
    const holder = { holder: 'namespace', ns: Name, id: Name } as const;
    this.#links({ ...holder, target: 'policy' }, ACLs?.PolicyDefaults);
    this.#links({ ...holder, target: 'role' }, ACLs?.RoleDefaults);
    if (Name === DEFAULT_NAMESPACE && DeletedAt === undefined) this.#hasDefault = true;
    if (DeletedAt === undefined) return;
    this.#dying.add(Name);
    this.#derived.set(keys.namespaceDying(Name), '');
  }

  #config(key: string, value: string, ns: string): void {
    const {
      Status,
      CreateIndex,
      ModifyIndex,
      Namespace: own,
      ...content
    } = objectOf('config', value);
    const Name = textOf('config', content['Name']);
    const Kind = textOf('config', content['Kind']);
    if (!isKind(Kind)) fail('config', `the kind ${JSON.stringify(Kind.slice(0, 60))} is not known`);
    mustBeKey('config', key, keys.config(ns, Kind, Name));
    const start = `{"Kind":${JSON.stringify(Kind)},"Name":${JSON.stringify(Name)}`;
    mustHaveIndexes('config', value, { CreateIndex, ModifyIndex });
    if (own !== ns || !value.startsWith(start)) fail('config', 'an entry is not in stored form');
    if (Status !== undefined && !isObject(Status)) fail('config', 'a Status is none');
    const why = storedProblem(Kind, content);
    if (why !== undefined) fail('config', `${Kind} ${JSON.stringify(Name)}: ${why}`);
    // storedProblem has just shown that it has the fields of its kind
    const entry = content as unknown as ConfigEntry;
    for (const target of targetsOf(entry)) {
      this.#derived.set(keys.configRef(ns, target, Kind, Name), '');
    }
  }
}

const STORED_TOKEN_FIELDS = { ...TOKEN_FIELDS, AuthMethodNamespace: text };
const ALWAYS = ['Namespace'];

/** An object whose fields have their types, of which none of `needed` may be missing. */
function read<T>(
  table: string,
  value: string,
  fields: Fields,
  needed: readonly string[],
  always: readonly string[] = ALWAYS,
): T {
  const object = objectOf(table, value);
  try {
    decodeBody(table, object, fields);
  } catch (error) {
    if (error instanceof ApiError) fail(table, error.message);
    throw error;
  }
  // null counts as absent in a body, but is no value of a stored field
  const missing = [...needed, ...always].find((name) => object[name] === undefined);
  if (missing !== undefined) fail(table, `an object has no ${missing}`);
  if (Object.values(object).includes(null)) fail(table, 'a field of an object is null');
  mustHaveIndexes(table, value, object);
  return object as T;
}

function mustHaveIndexes(table: string, value: string, object: Stored): void {
  const { CreateIndex, ModifyIndex } = object;
  const areIndexes = [CreateIndex, ModifyIndex].every((one) => Number.isSafeInteger(one));
  if (!areIndexes || modifyIndexOf(value) !== ModifyIndex) fail(table, 'an object has no indexes');
}

/** Grants are worked out at every request: each must be one. */
function mustBeGrants(table: string, grants: Grants): void {
  const services = (grants.ServiceIdentities ?? []).map(({ ServiceName }) => ServiceName);
  const nodes = (grants.NodeIdentities ?? []).flatMap((one) => [one.NodeName, one.Datacenter]);
  const templates = (grants.TemplatedPolicies ?? []).map((one) => one.TemplateName);
  const names: unknown[] = [...services, ...nodes, ...templates];
  if (names.some((name) => typeof name !== 'string')) fail(table, 'an identity has no name');
  if (templates.some((name) => templateByName(name) === undefined)) {
    fail(table, 'a template is not known');
  }
}

function idsOf(table: string, links: readonly Link[] = []): string[] {
  return links.map(({ ID }) => (typeof ID === 'string' ? ID : fail(table, 'a link has no ID')));
}

const tableOf = (key: string): string => key.split('\u0000', 1)[0]!;

function mustBeKey(table: string, key: string, own: string): void {
  if (key !== own) fail(table, 'an object stands under the key of another');
}

function mustBeFact(key: string, value: string): void {
  const fact = objectOf('fact', value);
  if (key !== ACL_FACT) return;
  try {
    decodeConfiguration('ACL configuration', fact);
  } catch (error) {
    if (error instanceof ApiError) fail('fact', error.message);
    throw error;
  }
  const { OnTokenLimit, TokensPerIdentity, LoginTokenTTL, LoginTokenTTLMax } = fact;
  const texts = [OnTokenLimit, LoginTokenTTL, LoginTokenTTLMax];
  const isWhole = texts.every((text) => typeof text === 'string');
  if (!isWhole || typeof TokensPerIdentity !== 'number')
    fail('fact', 'a configuration has other fields');
  if (!Number.isSafeInteger(fact['ModifyIndex'])) fail('fact', 'a configuration has no index');
}

function mustBeNumber(table: string, value: string): void {
  if (!/^\d{1,16}$/.test(value)) fail(table, 'an index is no number');
}

const textOf = (table: string, value: unknown): string =>
  typeof value === 'string' ? value : fail(table, 'a Kind or Name is no text');

const isObject = (value: unknown): value is Stored =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function objectOf(table: string, value: string): Stored {
  let object: unknown;
  try {
    object = JSON.parse(value);
  } catch {
    object = undefined;
  }
  return isObject(object) ? object : fail(table, 'a record is not a JSON object');
}

function fail(table: string, why: string): never {
  const shown = JSON.stringify(table.slice(0, 60));
  return reject('invalid', `failed to read snapshot file: table ${shown}: ${why}`);
}
