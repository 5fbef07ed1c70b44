/**
 * Checks all records of a snapshot before it replaces the state. A checksum proves that the records
 * are those that were saved, not that a member can use them. Objects must have the fields of their
 * definition and be stored under their own key. The records that derive from them (names, secrets,
 * links, references) must be present, and no others.
 */

import { isNamespaceName } from '../../acl/names.js';
import { templateByName } from '../../acl/templates.js';
import { ApiError, reject } from '../../base/errors.js';
import { storedProblem } from '../../kinds/decode.js';
import { isKind } from '../../kinds/definitions.js';
import { targetsOf } from '../../kinds/references.js';
import type { ConfigEntry } from '../../kinds/types.js';
import { isObject } from '../../languages/fields.js';
import { tableOf } from '../../state/checksum.js';
import type { Grants } from '../../state/grants.js';
import { historyProblem, objectKeyOf, RINGS, VERSION } from '../../state/history/records.js';
import { HISTORY_FACT } from '../../state/history/settings.js';
import { IDENTITY_BLOCK, identityBlockProblem } from '../../state/identity-blocks.js';
import { keys } from '../../state/keys.js';
import { type Link, type LinkFact, linkKey } from '../../state/links.js';
import { ACL_FACT } from '../../state/login-limits.js';
import type { Namespace } from '../../state/namespaces.js';
import {
  DEFAULT_NAMESPACE,
  linksAt,
  type ObjectDefinition,
  objectKey,
  recordsOf,
  type StoredObject,
} from '../../state/object.js';
import { OBJECTS } from '../../state/objects.js';
import { KEY_BYTES, OIDC_FACT } from '../../state/oidc.js';
import { type ObjectType, TYPES } from '../../state/refs.js';
import { isSubject } from '../../state/stamp.js';
import {
  type LoginOf,
  loggedIn,
  loggedInText,
  loginRecords,
  type Token,
} from '../../state/tokens.js';
import { decodeConfiguration } from '../acl/acl-configuration.js';
import { decodeBody } from '../common/decode.js';
import { modifyIndexOf } from '../common/reading.js';
import { decodeBounds } from '../history/bounds.js';

type StateRecord = readonly [key: string, value: string];
type Stored = Record<string, unknown>;

/** Tables of records that derive from the objects of other tables. */
const DERIVED: ReadonlySet<string> = new Set([
  ...Object.values(OBJECTS).flatMap(({ recordTables }) => recordTables),
  'config-ref',
  'rule-handle',
]);

const RULE_TYPE = TYPES.rule;

/** Records compared between two turns of the event loop. */
const SLICE_RECORDS = 5000;

/** Checks each record, and at the end that none is missing. Both throw ApiError `invalid`. */
export class SnapshotCheck {
  readonly #keys = new Set<string>();
  readonly #derived = new Map<string, string>();
  readonly #found = new Map<string, string>();
  /** Names that objects have and links show, by the keys of their facts. */
  readonly #names = new Map<string, string>();
  readonly #facts = new Map<string, string | undefined>();
  readonly #dying = new Set<string>();
  /** Tokens of logins. Another record holds the identity that logged in. */
  readonly #logins: LoginOf[] = [];
  /** The keys of the owners of objects. */
  readonly #owners = new Set<string>();
  /** Keys that must be there because identities of a method were revoked or blocked. */
  readonly #blocked = new Set<string>();
  #hasDefault = false;

  add([key, value]: StateRecord): void {
    const table = tableOf(key);
    const ns = key.slice(table.length + 1).split('\u0000', 1)[0]!;
    // The state would have the last one, and its checksums each of them.
    if (this.#keys.has(key)) fail(table, 'a record appears twice');
    this.#keys.add(key);
    if (DERIVED.has(table)) this.#found.set(key, value);
    else if (Object.hasOwn(this.#tables, table)) this.#tables[table]?.(key, value, ns);
    else fail(table, 'this version does not support the table');
  }

  /** Checks that nothing is missing. Yields between slices, because a large state takes a while. */
  *end(): Generator<void> {
    let compared = 0;
    const isTurn = (): boolean => ++compared % SLICE_RECORDS === 0;
    if (!this.#hasDefault) fail('namespace', `the namespace ${DEFAULT_NAMESPACE} is missing`);
    for (const login of this.#logins) {
      if (isTurn()) yield;
      for (const [key, value] of loginRecords(login, (of) => this.#loggedInAt(of)))
        this.#derived.set(key, value);
    }
    for (const [key, value] of this.#derived) {
      if (isTurn()) yield;
      if (this.#found.get(key) !== value) fail(tableOf(key), 'a record is missing or wrong');
    }
    for (const key of this.#found.keys()) {
      if (isTurn()) yield;
      if (!this.#derived.has(key) && !this.#isLeft(key))
        fail(tableOf(key), 'a record belongs to no object');
    }
    for (const [key, name] of this.#names) {
      if (isTurn()) yield;
      if (this.#facts.get(key) !== name) fail(tableOf(key), 'a name is missing or wrong');
    }
    for (const key of this.#blocked) {
      if (isTurn()) yield;
      if (!this.#keys.has(key)) fail(IDENTITY_BLOCK, 'a record belongs to no auth method');
    }
    for (const key of this.#owners) {
      if (isTurn()) yield;
      if (!this.#hasOwned(key)) fail('owner', 'a record belongs to no object');
    }
    for (const [key, name] of this.#facts) {
      if (isTurn()) yield;
      if (name !== undefined && !this.#names.has(key))
        fail(tableOf(key), 'a name belongs to no object');
    }
  }

  #loggedInAt(key: string): string | undefined {
    const text = this.#found.get(key);
    if (text === undefined) return undefined;
    const login = loggedIn(text);
    const { identity, subject, before } = login;
    if (!/^([0-9a-f]{64})?$/.test(identity))
      fail(tableOf(key), 'an identity is not a SHA-256 digest');
    if (subject !== undefined && !isSubject(subject))
      fail(tableOf(key), 'a subject is too long or has control characters');
    if (!Number.isSafeInteger(before) || text !== loggedInText(login))
      fail(tableOf(key), 'a login is not in stored form');
    return text;
  }

  /** Whether the object is there whose owner a record names. */
  #hasOwned(key: string): boolean {
    const [, named = '', ns = '', id = ''] = key.split('\u0000');
    const type = named as ObjectType;
    const isHome = type !== 'namespace' || ns === DEFAULT_NAMESPACE;
    return (
      isHome && key === keys.owner(type, ns, id) && this.#keys.has(objectKeyOf({ type, ns, id }))
    );
  }

  /** Whether a record is left over: a dying namespace is emptied in parts, references last. */
  #isLeft(key: string): boolean {
    const [table, ns = ''] = key.split('\u0000');
    return table === 'config-ref' && this.#dying.has(ns);
  }

  readonly #tables: Readonly<Record<string, (key: string, value: string, ns: string) => void>> = {
    index: (_key, value) => mustBeNumber('index', value),
    deleted: (_key, value) => mustBeNumber('deleted', value),
    fact: (key, value) => mustBeFact(key, value),
    'method-remains': () => {},
    ...Object.fromEntries([VERSION, ...RINGS].map((table) => [table, mustBeHistory])),
    [IDENTITY_BLOCK]: (key, value) => this.#identityBlock(key, value),
    owner: (key, value, type) => this.#owner(key, value, type),
    'policy-link': (key, value) => this.#fact('policy-link', key, value),
    'role-link': (key, value) => this.#fact('role-link', key, value),
    ...Object.fromEntries(
      Object.values(OBJECTS).map((definition) => [
        definition.table,
        (key: string, value: string) => this.#object(definition, key, value),
      ]),
    ),
    config: (key, value, ns) => this.#config(key, value, ns),
  };

  /** Checks an object, and collects the records that derive from it. */
  #object(definition: ObjectDefinition, key: string, value: string): void {
    const { table, linkedAs } = definition;
    const object = read(definition, value);
    mustBeKey(table, key, objectKey(definition, object));
    if (Object.hasOwn(definition.fields, 'TemplatedPolicies')) mustBeGrants(table, object as Token);
    for (const field of definition.linkFields) mustBeLinks(table, linksAt(object, field));
    for (const [record, is] of recordsOf(definition, object)) this.#derived.set(record, is);
    if (linkedAs !== undefined) this.#names.set(linkKey(linkedAs, object.ID!), object.Name!);
    if (table === 'token') this.#login(object as Token);
    if (table === 'namespace') this.#namespace(object as Namespace);
  }

  #owner(key: string, value: string, type: string): void {
    const { Owner, Handle, ...others } = objectOf('owner', value);
    const isHandle = Handle === undefined || (typeof Handle === 'string' && type === RULE_TYPE);
    if (typeof Owner !== 'string' || !isHandle || Object.keys(others).length > 0)
      fail('owner', 'a record is not an owner');
    this.#owners.add(key);
    const [, , ns = '', id = ''] = key.split('\u0000');
    if (Handle !== undefined) this.#derived.set(keys.ruleHandle(ns, Handle as string), id);
  }

  #identityBlock(key: string, value: string): void {
    const why = identityBlockProblem(key, value);
    if (why !== undefined) fail(IDENTITY_BLOCK, why);
    const [, ns = '', name = ''] = key.split('\u0000');
    this.#blocked.add(keys.method(ns, name)).add(keys.identityBlock(ns, name));
  }

  #login({ AccessorID, AuthMethod, AuthMethodNamespace, CreateTime, Namespace }: Token): void {
    if (AuthMethod === undefined) return;
    const home = AuthMethodNamespace !== undefined && { AuthMethodNamespace };
    this.#logins.push({ AccessorID, CreateTime, Namespace, AuthMethod, ...home });
  }

  #namespace({ Name, DeletedAt }: Namespace): void {
    if (!isNamespaceName(Name)) fail('namespace', 'the name of a namespace is not valid');
    if (DeletedAt !== undefined) this.#dying.add(Name);
    else if (Name === DEFAULT_NAMESPACE) this.#hasDefault = true;
  }

  #fact(table: string, key: string, value: string): void {
    const { Name, Index } = objectOf(table, value) as Stored & LinkFact;
    const isName = Name === undefined || typeof Name === 'string';
    if (!isName || !Number.isSafeInteger(Index))
      fail(table, 'a fact does not have a Name and an Index');
    this.#facts.set(key, Name);
  }

  #config(key: string, value: string, ns: string): void {
    const content = objectOf('config', value);
    const { Status, CreateIndex, ModifyIndex, Namespace: own } = content;
    // In the reverse order of the text, which is faster than a copy of the others.
    for (const name of ['Namespace', 'ModifyIndex', 'CreateIndex', 'Status']) delete content[name];
    const Name = textOf('config', content['Name']);
    const Kind = textOf('config', content['Kind']);
    if (!isKind(Kind)) fail('config', `the kind ${JSON.stringify(Kind.slice(0, 60))} is not known`);
    mustBeKey('config', key, keys.config(ns, Kind, Name));
    const start = `{"Kind":${JSON.stringify(Kind)},"Name":${JSON.stringify(Name)}`;
    mustHaveIndexes('config', value, { CreateIndex, ModifyIndex });
    if (own !== ns || !value.startsWith(start)) fail('config', 'an entry is not in stored form');
    if (Status !== undefined && !isObject(Status)) fail('config', 'a Status is not an object');
    const why = storedProblem(Kind, content);
    if (why !== undefined) fail('config', `${Kind} ${JSON.stringify(Name)}: ${why}`);
    // `storedProblem` has checked that it has the fields of its kind.
    const entry = content as unknown as ConfigEntry;
    for (const target of targetsOf(entry)) {
      this.#derived.set(keys.configRef(ns, target, Kind, Name), '');
    }
  }
}

/** Members of a stored object that a body may leave out. */
const INDEXES = ['CreateIndex', 'ModifyIndex'];

/** Parses an object. Checks the types of its fields, and that no required field is missing. */
function read(definition: ObjectDefinition, value: string): StoredObject {
  const { fields, table } = definition;
  const object = objectOf(table, value);
  mustDecode(table, () => decodeBody(table, object, definition.storedType));
  // A body may have null for an absent member, but a stored object has none.
  const needed = Object.keys(fields).filter((name) => fields[name]!.mode === 'always');
  const missing = needed.find((name) => !INDEXES.includes(name) && object[name] === undefined);
  if (missing !== undefined) fail(table, `an object has no ${missing}`);
  if (Object.values(object).includes(null)) fail(table, 'a field of an object is null');
  mustHaveIndexes(table, value, object);
  return object as unknown as StoredObject;
}

function mustDecode(table: string, decode: () => unknown): void {
  try {
    decode();
  } catch (error) {
    if (error instanceof ApiError) fail(table, error.message);
    throw error;
  }
}

function mustHaveIndexes(table: string, value: string, object: Stored): void {
  const { CreateIndex, ModifyIndex } = object;
  const areIndexes = [CreateIndex, ModifyIndex].every((one) => Number.isSafeInteger(one));
  if (!areIndexes || modifyIndexOf(value) !== ModifyIndex)
    fail(table, 'an object has no valid indexes');
}

/** Checks the names of grants, because requests compile them into rights. */
function mustBeGrants(table: string, grants: Grants): void {
  const services = (grants.ServiceIdentities ?? []).map(({ ServiceName }) => ServiceName);
  const nodes = (grants.NodeIdentities ?? []).flatMap((one) => [one.NodeName, one.Datacenter]);
  const templates = (grants.TemplatedPolicies ?? []).map((one) => one.TemplateName);
  const names: unknown[] = [...services, ...nodes, ...templates];
  if (names.some((name) => typeof name !== 'string')) fail(table, 'an identity has no name');
  if (templates.some((name) => templateByName(name) === undefined)) {
    fail(table, 'a templated policy is not known');
  }
}

function mustBeLinks(table: string, links: readonly Link[]): void {
  if (links.some(({ ID }) => typeof ID !== 'string')) fail(table, 'a link has no ID');
}

function mustBeKey(table: string, key: string, own: string): void {
  if (key !== own) fail(table, 'an object is stored under the key of another');
}

function mustBeFact(key: string, value: string): void {
  const fact = objectOf('fact', value);
  if (key === HISTORY_FACT) mustBeBounds(fact);
  if (key === OIDC_FACT) mustBeKeys(fact);
  if (key !== ACL_FACT) return;
  mustDecode('fact', () => decodeConfiguration('ACL configuration', fact));
  const { OnTokenLimit, TokensPerIdentity, LoginTokenTTL, LoginTokenTTLMax } = fact;
  const texts = [OnTokenLimit, LoginTokenTTL, LoginTokenTTLMax];
  const isWhole = texts.every((text) => typeof text === 'string');
  if (!isWhole || typeof TokensPerIdentity !== 'number')
    fail('fact', 'a field of the ACL configuration is missing or wrong');
  if (!Number.isSafeInteger(fact['ModifyIndex']))
    fail('fact', 'the ACL configuration has no index');
}

function mustBeKeys({ Key, Before = Key, ModifyIndex }: Stored): void {
  const isKey = (value: unknown): boolean =>
    typeof value === 'string' && Buffer.from(value, 'base64').length === KEY_BYTES;
  if (![Key, Before].every(isKey) || !Number.isSafeInteger(ModifyIndex))
    fail('fact', 'a key of OIDC logins is missing or wrong');
}

function mustBeBounds(fact: Stored): void {
  mustDecode('fact', () => decodeBounds('history configuration', fact));
  const { VersionsPerObject, Bytes, LoginBytes, MaxAge, ModifyIndex } = fact;
  const numbers = [VersionsPerObject, Bytes, LoginBytes, ModifyIndex];
  if (!numbers.every((one) => Number.isSafeInteger(one)) || typeof MaxAge !== 'string')
    fail('fact', 'a field of the history configuration is missing or wrong');
}

function mustBeHistory(key: string, value: string): void {
  const why = historyProblem(key, value);
  if (why !== undefined) fail(tableOf(key), why);
}

function mustBeNumber(table: string, value: string): void {
  if (!/^\d{1,16}$/.test(value)) fail(table, 'an index is not a number');
}

const textOf = (table: string, value: unknown): string =>
  typeof value === 'string' ? value : fail(table, 'a Kind or Name is not a string');

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
