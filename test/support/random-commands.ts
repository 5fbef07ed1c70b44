/** All commands of the product by chance, over a few names, so that they meet. */
import { deflateRawSync } from 'node:zlib';
import type { Random } from '../../cluster/checker/random.js';
import { keys } from '../../src/state/keys.js';
import { stored } from '../../src/state/lists.js';
import { ownerKey } from '../../src/state/owners.js';
import { recordBytes } from '../../src/state/record-bytes.js';
import { isTaken, type RestoreAdd } from '../../src/state/restore.js';
import { isDelete, keyAt, placeOf, type SetApply, type SetChange } from '../../src/state/sets.js';
import { secretKeyOf } from '../../src/state/tokens.js';
import type { Command, StateRecord, View } from '../../src/state/types.js';
import { entryCommand } from './random-entries.js';
import { importOf, releaseOf } from './random-imports.js';

/** What a command is drawn from. */
export interface Draw {
  readonly random: Random;
  /** Another number for each command, so that no two have the same content. */
  readonly n: number;
  /** A state in which they meet. */
  readonly view: View;
  /** The index up to which it is applied. */
  readonly applied: number;
}

type Makers = Readonly<Record<string, (draw: Draw) => object>>;
const AT = '2030-01-01T00:00:00Z';
const HOUR_MS = 3_600_000;
const BUILT_IN = '00000000-0000-0000-0000-000000000001';
const NAMESPACES = ['default', 'default', 'team', 'gone'];

const id = (kind: number, n: number): string =>
  `${String(kind).padStart(8, '0')}-aaaa-4aaa-8aaa-${String(n).padStart(12, '0')}`;
/** The secrets of tokens, in any text. */
export const SECRETS = /0000000[58]-aaaa-4aaa-8aaa-\d{12}/g;

const policyOf = ({ random }: Draw): string => id(1, random.int(4));
const roleOf = ({ random }: Draw): string => id(2, random.int(4));
const accessorOf = ({ random }: Draw): string => id(3, random.int(5));
const ruleOf = ({ random }: Draw): string => id(4, random.int(4));
const secretOf = ({ random, n }: Draw): string =>
  random.pick([id(5, n), id(5, n), id(5, Math.max(0, n - 1 - random.int(40)))]);
const methodOf = ({ random }: Draw): string => random.pick(['m1', 'M1', 'm2']);
const nsOf = ({ random }: Draw): string => random.pick(NAMESPACES);
const nowOf = ({ random }: Draw): number => Date.parse(AT) + random.int(3) * HOUR_MS;
const expiryOf = (draw: Draw): object =>
  draw.random.chance(0.3) ? { expirationTime: new Date(nowOf(draw)).toISOString() } : {};

function some<T>({ random }: Draw, make: () => T): T[] {
  return Array.from({ length: random.int(3) }, make);
}
function policyLinks(draw: Draw): object[] {
  const { random } = draw;
  const ID = policyOf(draw);
  const Name = random.pick(['a', 'b', 'c', 'A']);
  const links = [{ ID }, { Name }, { ID: ID.toUpperCase() }, { ID: 'x' }, { ID: id(1, 9) }, {}];
  return some(draw, () => random.pick<object>(links));
}
function roleLinks(draw: Draw): object[] {
  const Name = draw.random.pick(['a', 'b', 'A']);
  const links = [{ ID: roleOf(draw) }, { Name }, { ID: id(2, 9) }];
  return some(draw, () => draw.random.pick<object>(links));
}
/** That of builtin/service. */
const TEMPLATE_ID = '00000000-0000-0000-0000-000000000003';

function grantsOf({ random }: Draw): object {
  const template = { TemplateID: TEMPLATE_ID, TemplateName: 'builtin/service' };
  return random.pick<object>([
    {},
    { ServiceIdentities: [{ ServiceName: 'web', Datacenters: ['dc1'] }] },
    {
      NodeIdentities: [{ NodeName: 'n', Datacenter: 'dc1' }],
      TemplatedPolicies: [{ ...template, TemplateVariables: { name: 'x' } }],
    },
  ]);
}

const tokenOf = (draw: Draw): object => ({
  Description: `token ${draw.n}`,
  Policies: policyLinks(draw),
  Roles: roleLinks(draw),
  ...grantsOf(draw),
  Local: draw.random.chance(0.3),
});
const newToken = (draw: Draw): object => ({
  ns: nsOf(draw),
  accessor: accessorOf(draw),
  secret: secretOf(draw),
  createTime: AT,
});

const policies: Makers = {
  'policy.set': (draw) => ({
    ns: nsOf(draw),
    id: draw.random.chance(0.1) ? BUILT_IN : policyOf(draw),
    create: draw.random.chance(0.5),
    hash: `${draw.n}`,
    policy: {
      Name: draw.random.pick(['a', 'b', 'c', 'A']),
      Description: `policy ${draw.n}`,
      Rules: draw.random.pick(['acl = "read"', 'service "web" { policy = "write" }', '']),
      ...(draw.random.chance(0.3) && { Datacenters: draw.random.pick([[], ['dc1']]) }),
    },
  }),
  'policy.delete': (draw) => ({
    ns: nsOf(draw),
    id: draw.random.chance(0.1) ? BUILT_IN : policyOf(draw),
  }),
  'role.set': (draw) => ({
    ns: nsOf(draw),
    id: roleOf(draw),
    create: draw.random.chance(0.5),
    role: {
      Name: draw.random.pick(['a', 'b', 'A']),
      Description: `role ${draw.n}`,
      Policies: policyLinks(draw),
      ...grantsOf(draw),
    },
  }),
  'role.delete': (draw) => ({ ns: nsOf(draw), id: roleOf(draw) }),
};

const tokens: Makers = {
  'token.create': (draw) => ({ ...newToken(draw), token: tokenOf(draw), ...expiryOf(draw) }),
  'token.update': (draw) => ({
    ns: nsOf(draw),
    accessor: accessorOf(draw),
    nowMs: nowOf(draw),
    token: tokenOf(draw),
    ...(draw.random.chance(0.2) && { secretKey: secretKeyOf(secretOf(draw)) }),
    ...(draw.random.chance(0.2) && { authMethod: draw.random.pick(['', 'm1']) }),
    ...(draw.random.chance(0.1) && expiryOf(draw)),
    ...(draw.random.chance(0.1) && { expirationTtl: true }),
  }),
  'token.clone': (draw) => ({
    ...newToken(draw),
    source: accessorOf(draw),
    nowMs: nowOf(draw),
    ...(draw.random.chance(0.5) && { description: 'clone' }),
  }),
  'token.delete': (draw) => ({
    ns: nsOf(draw),
    accessor: accessorOf(draw),
    callerKey: draw.random.chance(0.2) ? secretKeyOf(secretOf(draw)) : null,
  }),
  'token.login': (draw) => {
    const ns = nsOf(draw);
    const name = methodOf(draw);
    const found = stored<{ ModifyIndex: number }>(draw.view, keys.method(ns, name));
    const modifyIndex = found?.ModifyIndex ?? draw.random.int(draw.n + 1);
    const hasIdentity = draw.random.chance(0.5);
    const identity = secretKeyOf(draw.random.pick(['x', 'y']));
    return {
      ...newToken(draw),
      ns,
      accessor: id(3, draw.n + 10),
      method: { ns, name, modifyIndex },
      token: tokenOf(draw),
      ...(hasIdentity ? { identity } : expiryOf(draw)),
      ...(hasIdentity && { once: { hash: `${draw.random.int(9)}`, untilMs: nowOf(draw) } }),
      ...(draw.random.chance(0.3) && { replaces: secretKeyOf(secretOf(draw)) }),
    };
  },
  'oidc.rotate': (draw) => ({ key: `key ${draw.n}` }),
  'token.logout': (draw) => ({ secretKey: secretKeyOf(secretOf(draw)) }),
  'token.reap': (draw) => ({ nowMs: nowOf(draw), max: 1 + draw.random.int(3) }),
  'tokens.import': (draw) => importOf(draw, () => ({ ...newToken(draw), token: tokenOf(draw) })),
  'owner.release': releaseOf,
};

/** Subjects as `authored` of simulation/product-commands.ts has them. */
const whomOf = ({ random }: Draw): object =>
  random.chance(0.5)
    ? { Subject: `user-${random.int(4)}` }
    : { SubjectPrefix: random.pick(['', 'user-', 'user-1']) };

const methods: Makers = {
  'method.set': (draw) => ({
    ns: nsOf(draw),
    method: {
      Name: methodOf(draw),
      Type: draw.random.pick(['jwt', 'jwt', 'kubernetes']),
      Description: `method ${draw.n}`,
      Config: { a: draw.n },
    },
  }),
  'method.delete': (draw) => ({ ns: nsOf(draw), name: methodOf(draw) }),
  'identity.revoke': (draw) => ({
    ns: nsOf(draw),
    name: methodOf(draw),
    whom: whomOf(draw),
    count: draw.random.int(3),
    ...(draw.random.chance(0.3) && {
      block: { id: id(11, draw.n), until: draw.random.pick([null, AT]) },
    }),
  }),
  'identity.unblock': (draw) => ({
    ns: nsOf(draw),
    name: methodOf(draw),
    whom: whomOf(draw),
    id: id(11, draw.n - 1 - draw.random.int(10)),
  }),
  'identity.reap': (draw) => ({ ns: nsOf(draw), name: methodOf(draw) }),
  'method.reap': (draw) => ({ ns: nsOf(draw), name: methodOf(draw) }),
  'rule.set': (draw) => ({
    ns: nsOf(draw),
    id: ruleOf(draw),
    create: draw.random.chance(0.5),
    rule: {
      Description: 'x',
      AuthMethod: draw.random.pick(['', methodOf(draw), 'm1']),
      BindType: 'service',
      BindName: 's',
      Selector: '',
    },
  }),
  'rule.delete': (draw) => ({ ns: nsOf(draw), id: ruleOf(draw) }),
};

const system: Makers = {
  'namespace.set': (draw) => ({
    policyId: id(7, draw.n),
    namespace: {
      Name: draw.random.pick(['team', 'gone', 'other']),
      ...(draw.random.chance(0.5) && { Description: `namespace ${draw.n}` }),
      ...(draw.random.chance(0.3) && { Meta: { k: 'v' } }),
      PolicyDefaults: policyLinks(draw),
      RoleDefaults: roleLinks(draw),
    },
  }),
  'namespace.delete': ({ random }) => ({
    name: random.pick(['gone', 'gone', 'team', 'default', 'nope']),
    at: AT,
  }),
  'namespace.reap': ({ random }) => ({ name: random.pick(['gone', 'gone', 'team']) }),
  'system.init': ({ random }) => ({
    createTime: AT,
    ...(random.chance(0.5) && {
      management: { accessor: id(8, 1), secret: id(8, 2), createTime: AT },
    }),
  }),
  bootstrap: (draw) => ({
    token: {
      accessor: id(6, draw.n),
      secret: draw.random.pick([id(8, draw.n + 3), secretOf(draw)]),
      createTime: AT,
    },
    ...(draw.random.chance(0.5) && { resetIndex: draw.random.int(draw.n + 1) }),
  }),
  'fact.set': (draw) => ({
    name: 'autopilot',
    value: { a: draw.n },
    ...(draw.random.chance(0.5) && { cas: draw.random.int(draw.n + 1) }),
  }),
  'request.forget': ({ random, applied }) => ({
    upTo: Math.max(0, applied - random.int(60)),
    max: random.pick([1, 5, 500]),
  }),
  'restore.abort': () => ({ id: 'r' }),
  'history.configure': ({ random }) => ({
    bounds: {
      VersionsPerObject: random.pick([200, 200, 3, 1, 0]),
      Bytes: random.pick([2 ** 28, 2 ** 28, 2 ** 20, 0]),
      LoginBytes: 0,
      MaxAge: random.pick(['', '1h']),
    },
  }),
  'history.trim': (draft) => ({ nowMs: nowOf(draft) }),
  undo: (draft) => ({
    undone: Math.max(0, draft.applied - draft.random.int(20)),
    caller: '',
    nowMs: Date.parse(AT),
    at: AT,
    datacenter: 'dc1',
  }),
};

const configuration = ({ random }: Draw): object => ({
  configuration: {
    LoginTokenTTL: random.pick(['', '1h0m0s']),
    LoginTokenTTLMax: random.pick(['', '2h0m0s']),
    TokensPerIdentity: random.int(3),
    OnTokenLimit: random.pick(['refuse', 'replace']),
  },
  ...(random.chance(0.2) && { ifMatch: [0] }),
});

const ALL: Makers = { ...policies, ...tokens, ...methods, ...system };

/** A command about entries, objects, or what a cluster does by itself. */
export function randomCommand(draw: Draw, isMeant = (_type: string): boolean => true): Command {
  const { random, n } = draw;
  if (random.chance(0.5)) return entryCommand(random, n);
  const types = [...Object.keys(ALL), 'acl.configure'].filter(isMeant);
  const type = random.pick(types);
  return { type, v: 1, ...(ALL[type] ?? configuration)(draw) };
}

const IN_SETS = [
  ...['policy.set', 'policy.set', 'policy.delete', 'role.set', 'role.set', 'role.delete'],
  ...['token.update', 'method.set', 'method.delete', 'rule.set', 'rule.delete', 'namespace.set'],
];

/**
 * A set of up to `max` changes of different objects, compared with the state. What a set would
 * make anew is made anew.
 */
export function randomSet(draw: Draw, max: number): SetApply {
  const { random, n, view } = draw;
  const changes = new Map<string, SetChange>();
  for (let i = random.int(max) + 1; i > 0; i -= 1) {
    const type = random.pick(IN_SETS);
    const made = random.chance(0.4)
      ? entryCommand(random, n)
      : ({ type, v: 1, ...ALL[type]!(draw) } as Command);
    const place = placeOf(made)!;
    const key = keyAt(place);
    const was = stored<{ ModifyIndex: number }>(view, key)?.ModifyIndex;
    if (was === undefined && (isDelete(made) || made.type === 'token.update')) continue;
    const command = 'create' in made ? { ...made, create: was === undefined } : made;
    const owned = view.get(ownerKey(place));
    const owner = random.chance(0.3) && { owner: { Owner: random.pick(['one', 'two']) } };
    const compared = { ...(was !== undefined && { was }), ...(owned !== undefined && { owned }) };
    changes.set(key, { command: withoutCas(command), ...compared, ...owner });
  }
  const facts = { datacenter: 'dc1', at: AT };
  return { type: 'set.apply', v: 1, ...facts, changes: [...changes.values()] };
}

const withoutCas = (command: Command): Command =>
  'cas' in command ? ({ ...command, cas: null } as Command) : command;

/** A namespace or an auth method with what depends on it, and its removal. */
export function cascade(draw: Draw): (() => Command)[] {
  const { random, n, view } = draw;
  const isNamespace = random.chance(0.5);
  const ns = isNamespace ? 'gone' : 'default';
  const method = { Name: 'm3', Type: 'jwt', Description: '', Config: {} };
  const rule = {
    Description: '',
    AuthMethod: 'm3',
    BindType: 'service',
    BindName: 's',
    Selector: '',
  };
  const namespace = { Name: ns, PolicyDefaults: [], RoleDefaults: [] };
  const ServiceIdentities = [{ ServiceName: 'web', Datacenters: ['dc1'] }];
  const token = { Description: '', Policies: [], Roles: [], ServiceIdentities, Local: true };
  const made = { ns, accessor: id(3, n + 10), secret: id(5, n), createTime: AT };
  const login = (): object => {
    const found = stored<{ ModifyIndex: number }>(view, keys.method(ns, 'm3'));
    return { ...made, method: { ns, name: 'm3', modifyIndex: found?.ModifyIndex ?? 0 }, token };
  };
  const command = (type: string, make: () => object) => (): Command => ({ type, v: 1, ...make() });
  return [
    ...(isNamespace ? [command('namespace.set', () => ({ policyId: id(7, n), namespace }))] : []),
    command('method.set', () => ({ ns, method })),
    command('rule.set', () => ({ ns, id: id(4, n + 10), create: true, rule })),
    command('token.login', login),
    ...(isNamespace
      ? [
          command('namespace.delete', () => ({ name: ns, at: AT })),
          command('namespace.reap', () => ({ name: ns })),
        ]
      : [command('method.delete', () => ({ ns, name: 'm3' }))]),
  ];
}

/**
 * The commands that restore what a state holds. They may lack a part. `bytes`: parts hold bytes, as
 * from level 3 on.
 */
export function restoreCommands(
  { random, view, n }: Draw,
  isMeant: (key: string) => boolean = () => true,
  bytes = false,
): Command[] {
  const records: StateRecord[] = [];
  for (const key of view.keys(''))
    if (isTaken(key) && isMeant(key)) records.push([key, view.get(key)!]);
  const half = random.int(records.length + 1);
  const parts = [records.slice(0, half), records.slice(half)];
  const id = `r${n}`;
  const commit = { v: 1, id, parts: random.pick([2, 2, 2, 3]) } as const;
  return [
    ...parts.map((some, part) => restorePart({ id, part, records: some }, bytes)),
    { type: 'restore.commit', ...commit, ...(bytes && { records: records.length }) } as Command,
  ];
}

/** A part of a restore, of records or of bytes. */
export function restorePart(
  { id, part, records }: { id: string; part: number; records: readonly StateRecord[] },
  bytes = true,
): RestoreAdd {
  const deflated = deflateRawSync(Buffer.concat(records.map(recordBytes)));
  const content = bytes ? { bytes: deflated.toString('base64') } : { records };
  return { type: 'restore.add', v: 1, id, part, ...content };
}
