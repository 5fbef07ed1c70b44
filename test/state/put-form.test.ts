import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { Random } from '../../cluster/checker/random.js';
import { bodyOf } from '../../src/languages/fields.js';
import { decodeValue } from '../../src/service/common/decode.js';
import { HANDLERS } from '../../src/state/handlers.js';
import type { Table } from '../../src/state/keys.js';
import { linkFact, resolveLinks } from '../../src/state/links.js';
import { Machine } from '../../src/state/machine.js';
import { OBJECTS } from '../../src/state/objects.js';
import { HIDDEN, keepSecrets, putForm, secretsOf } from '../../src/state/put-form.js';
import { TYPES } from '../../src/state/refs.js';
import { decodeEntry } from '../kinds/decode-entry.js';
import { cascade, randomCommand } from '../support/random-commands.js';
import { entry } from './puts.js';
import { MapStore } from './store.js';

// biome-ignore lint/suspicious/noExplicitAny: tests look into objects freely
type Any = any;
const ADDED = ['Status', 'CreateIndex', 'ModifyIndex', 'Namespace', 'Hash'];
const without = (object: Any, names: readonly string[]): Any =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));

/** The body that a PUT would get, with the secrets that stand for `<hidden>`. */
function bodyFor(view: MapStore, table: Table, object: Any): Any {
  const kept = keepSecrets(table, putForm(view, table, object), object);
  if ('problem' in kept) throw new Error(kept.problem.message);
  return kept.body;
}

/** What a PUT of a body would store of it: each member that is sent, links by ID. */
function writtenObject(
  view: MapStore,
  table: Exclude<Table, 'config'>,
  body: Any,
  ns: string,
): Any {
  const sent: Any = decodeValue('PUT', body, bodyOf(OBJECTS[table].fields));
  const written: Any = {};
  for (const [name, { mode, type }] of Object.entries(OBJECTS[table].fields)) {
    if (type.computed !== undefined || mode === 'never') continue;
    if ([...ADDED, 'ID'].includes(name)) continue;
    const value = sent[name] ?? type.zero();
    if (mode === 'nonEmpty' && type.isEmpty(value)) continue;
    if (mode !== 'always' && sent[name] === undefined) continue;
    written[name] = name === 'ExpirationTime' ? new Date(value).toISOString() : value;
  }
  for (const { path, to } of OBJECTS[table].linkFields) {
    const holder = path.length === 1 ? written : written[path[0]!];
    const links = holder?.[path.at(-1)!];
    if (links === undefined) continue;
    const found: Any = resolveLinks(view, to, table === 'namespace' ? 'default' : ns, links);
    holder[path.at(-1)!] = found.ids.map((ID: string) => ({ ID }));
  }
  return written;
}

/** The members of a stored object that a client writes, without links to deleted objects. */
function writable(view: MapStore, table: Exclude<Table, 'config'>, object: Any): Any {
  const copy = without(object, ADDED);
  const { fields, linkFields } = OBJECTS[table];
  for (const name of Object.keys(copy)) {
    const { mode, type } = fields[name]!;
    // Only a command by chance stores what is left out when it is empty.
    const isEmpty = mode === 'nonEmpty' && type.description.is === 'text' && copy[name] === '';
    if (isEmpty || type.computed !== undefined || name === 'ID') delete copy[name];
    // Texts of one time may differ in the digits of its fraction.
    if (name === 'ExpirationTime') copy[name] = new Date(copy[name]).toISOString();
  }
  for (const { path, to } of linkFields) {
    const holder = path.length === 1 ? copy : copy[path[0]!];
    const name = path.at(-1)!;
    const alive = holder?.[name]?.filter(
      ({ ID }: Any) => linkFact(view, to, ID)?.Name !== undefined,
    );
    if (alive?.length > 0) holder[name] = alive;
    else delete holder?.[name];
    if (path.length > 1 && Object.keys(holder ?? { a: 1 }).length === 0) delete copy[path[0]!];
  }
  return copy;
}

describe('state: the form of a PUT', function () {
  this.timeout(60_000);

  it('writes back what is stored, for objects of all types after any commands', () => {
    const seen = new Map<string, number>();
    for (let seed = 1; seed <= 60; seed += 1) {
      const random = new Random(seed);
      const store = new MapStore();
      const machine = new Machine(store, HANDLERS);
      machine.apply([entry(1, { type: 'system.init', createTime: '2030-01-01T00:00:00Z' })]);
      machine.apply([entry(2, { type: 'system.level', level: 3 })]);
      for (let n = 3; n < 120; n += 1) {
        const draw = { random, n, view: store, applied: n - 1 };
        // The first commands of a cascade make what it removes later, an auth method with a rule.
        const command = n > 115 ? cascade(draw)[n % 3]!() : randomCommand(draw);
        machine.apply([entry(n, command)]);
      }
      for (const table of Object.keys(TYPES) as Table[]) {
        for (const key of store.keys(`${table}\u0000`)) {
          const object = JSON.parse(store.get(key)!);
          seen.set(table, (seen.get(table) ?? 0) + 1);
          const body = bodyFor(store, table, object);
          if (table === 'config') {
            if (object.Kind === 'bound-api-gateway') continue;
            const decoded: Any = decodeEntry(body, { namespace: object.Namespace });
            expect(JSON.stringify(decoded.entry)).to.equal(JSON.stringify(without(object, ADDED)));
          } else {
            const written = writtenObject(store, table, body, object.Namespace);
            expect(written, key).to.deep.equal(writable(store, table, object));
          }
        }
      }
    }
    expect([...seen.keys()].sort()).to.deep.equal(Object.keys(TYPES).sort());
  });

  it('writes back every entry of the table of config entries', () => {
    const rows: Any[] = JSON.parse(readFileSync('test/tables/config-decode.json', 'utf8'));
    for (const { accepted, input } of rows) {
      const decoded: Any = accepted ? decodeEntry(input, { namespace: 'default' }) : undefined;
      if (!decoded?.ok || decoded.entry.Kind === 'bound-api-gateway') continue;
      const stored = JSON.parse(JSON.stringify(decoded.entry));
      const body = bodyFor(new MapStore(), 'config', stored);
      const again: Any = decodeEntry(body, { namespace: 'default' });
      expect(JSON.stringify(again.entry), JSON.stringify(body)).to.equal(JSON.stringify(stored));
    }
  });

  it('has writable members alone, links by name, and IDs only if they are asked for', () => {
    const store = new MapStore([
      ['policy-link\u0000p1', '{"Name":"ops","Index":3}'],
      ['policy-link\u0000p2', '{"Index":4}'],
    ]);
    const role = {
      ID: 'r1',
      Name: 'admins',
      Description: '',
      Policies: [{ ID: 'p2' }, { ID: 'p1' }],
      Hash: 'h',
      CreateIndex: 3,
      ModifyIndex: 5,
      Namespace: 'default',
    };
    expect(putForm(store, 'role', role)).to.deep.equal({
      Name: 'admins',
      Policies: [{ Name: 'ops' }],
    });
    expect(putForm(store, 'role', role, { ids: true })).to.deep.equal({
      ID: 'r1',
      Name: 'admins',
      Policies: [{ Name: 'ops' }],
    });
    const namespace = { Name: 'team', ACLs: { PolicyDefaults: [{ ID: 'p2' }] }, DeletedAt: 'x' };
    expect(putForm(store, 'namespace', namespace)).to.deep.equal({ Name: 'team' });
  });

  it('hides secrets, and keeps them in a body that hides them, however it spells them', () => {
    const store = new MapStore();
    const method = {
      Name: 'k8s',
      Type: 'kubernetes',
      Config: { Host: 'https://h', ServiceAccountJWT: 'secret' },
    };
    const form: Any = putForm(store, 'method', method);
    expect(form.Config).to.deep.equal({ Host: 'https://h', ServiceAccountJWT: HIDDEN });
    expect(secretsOf('method', form)).to.have.length(1);
    const other = { ...form, Config: { serviceaccountjwt: HIDDEN } };
    const kept: Any = keepSecrets('method', other, method);
    expect(kept.body.Config).to.deep.equal({ serviceaccountjwt: 'secret' });
    expect(other.Config).to.deep.equal({ serviceaccountjwt: HIDDEN });
    const certificate = {
      Kind: 'inline-certificate',
      Name: 'c',
      Certificate: 'C',
      PrivateKey: 'K',
    };
    expect(putForm(store, 'config', certificate)['PrivateKey']).to.equal(HIDDEN);
    const spelled = { Kind: 'inline-certificate', Name: 'c', privatekey: HIDDEN };
    const entryKept: Any = keepSecrets('config', spelled, certificate);
    expect(entryKept.body.privatekey).to.equal('K');
    const token = { AccessorID: 'a', SecretID: 's', Description: 'd' };
    expect(putForm(store, 'token', token)).to.deep.equal({ ...token, SecretID: HIDDEN });
  });

  it('refuses a hidden secret of which none is stored, with its place', () => {
    const body = { Name: 'k8s', Config: { ServiceAccountJWT: HIDDEN } };
    for (const stored of [undefined, { Name: 'k8s', Config: {} }]) {
      const kept: Any = keepSecrets('method', body, stored);
      expect(kept.problem).to.include({ code: 'invalid', pointer: '/Config/ServiceAccountJWT' });
    }
    for (const odd of [{ Config: 5 }, { Config: null }, { Config: [HIDDEN] }, {}]) {
      expect(keepSecrets('method', odd, undefined)).to.deep.equal({ body: odd });
    }
    expect(keepSecrets('config', { Kind: 'constructor' }, undefined)).to.have.property('body');
  });
});
