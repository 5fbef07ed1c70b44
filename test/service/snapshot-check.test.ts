import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync, inflateRawSync } from 'node:zlib';
import { expect } from 'chai';
import tar from 'tar-stream';
import { snapshotRoutes } from '../../src/http/routes/snapshot.js';
import { SnapshotCheck } from '../../src/service/archives/snapshot-check.js';
import { keys } from '../../src/state/keys.js';
import { stored } from '../../src/state/lists.js';
import { ACL_DEFAULTS, ACL_FACT } from '../../src/state/login-limits.js';
import type { AuthMethod } from '../../src/state/methods.js';
import { readRecord } from '../../src/state/record-bytes.js';
import { isRestored, type RestoreAdd } from '../../src/state/restore.js';
import type { Command } from '../../src/state/types.js';
import { writeArchive } from '../../src/storage/archive.js';
import { recordSum, Tally } from '../../src/storage/key-index.js';
import { MemoryState } from '../../src/storage/memory-state.js';
import { fakeService, startFront } from '../http/harness.js';
import { SoloClient } from './client.js';

type Records = readonly (readonly [key: string, value: string])[];
const JOIN_TOKEN = [keys.fact('join-tokens'), '{"Tokens":[],"ModifyIndex":3}'] as const;

const archiveOf = async (content: Records): Promise<Buffer> => {
  const state = new MemoryState();
  state.commit(content);
  return buffer(writeArchive(state, { index: 5, term: 1, configuration: { members: [] } }, 0));
};

/** Returns an archive with every record, as older releases write it. */
async function olderArchive(content: Records): Promise<Buffer> {
  const files = new Map<string, Buffer>();
  const extract = tar.extract();
  extract.end(gunzipSync(await archiveOf(content)));
  for await (const entry of extract) files.set(entry.header.name, await buffer(entry));
  const state = files.get('state.bin')!;
  const tally = new Tally();
  const parts = [state.subarray(0, state.indexOf('\n') + 1)];
  for (const [key, value] of [...content].sort(([one], [other]) => (one < other ? -1 : 1))) {
    tally.add(recordSum(key, value));
    const lengths = Buffer.alloc(8);
    lengths.writeUInt32BE(Buffer.byteLength(key), 0);
    lengths.writeUInt32BE(Buffer.byteLength(value), 4);
    parts.push(lengths, Buffer.from(key), Buffer.from(value));
  }
  const body = Buffer.concat(parts);
  const meta = JSON.parse(files.get('meta.json')!.toString()) as object;
  const head = { ...meta, Size: body.length, Records: tally.count, Sum: tally.sum };
  const pack = tar.pack();
  const sums = [
    ...[
      ['meta.json', Buffer.from(JSON.stringify(head))] as const,
      ['state.bin', body] as const,
    ].map(([name, bytes]) => {
      pack.entry({ name }, bytes);
      return `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`;
    }),
  ];
  pack.entry({ name: 'SHA256SUMS' }, sums.join(''));
  pack.finalize();
  return gzipSync(await buffer(pack));
}
const PUBLIC_KEY =
  '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqRpGmmzvm8YlBnMAfdGvzoaB7ugR\ncsj5v1pQlMOllerstsi0VQb5nDYQHD7iwnjmy/wdSWAeK0DDNOLWyUUEgg==\n-----END PUBLIC KEY-----\n';
const jwt = {
  Name: 'm',
  Type: 'jwt',
  Config: { JWTValidationPubKeys: [PUBLIC_KEY], ClaimMappings: { name: 'name' } },
};
const LOGIN = '0f0f0f0f-1111-4222-8333-444444444444';
const IDENTITY = 'a'.repeat(64);
const node = { NodeName: 'n', Datacenter: 'dc1' };
const template = { TemplateName: 'builtin/dns' };
const route = {
  Kind: 'http-route',
  Name: 'rt',
  Parents: [{ Kind: 'api-gateway', Name: 'gw' }],
  Rules: [{ Services: [{ Name: 'web' }] }],
};
const provider = {
  Kind: 'jwt-provider',
  Name: 'p',
  JSONWebKeySet: { Remote: { URI: '/k', JWKSCluster: {}, RetryPolicy: { NumRetries: 1 } } },
};
const intention = {
  Kind: 'service-intentions',
  Name: 'web',
  Sources: [{ Name: 'a', Action: 'deny' }],
};
const WRITES: readonly [string, object][] = [
  ['/acl/policy', { Name: 'p', Rules: 'service "web" { policy = "write" }' }],
  ['/acl/policy', { Name: 'gone', Rules: '' }],
  [
    '/acl/role',
    { Name: 'r', Policies: [{ Name: 'p' }], ServiceIdentities: [{ ServiceName: 'a' }] },
  ],
  ['/acl/token', { Policies: [{ Name: 'p' }, { Name: 'gone' }], ExpirationTTL: '1h' }],
  ['/acl/token', { Roles: [{ Name: 'r' }], NodeIdentities: [node], TemplatedPolicies: [template] }],
  ['/acl/auth-method', jwt],
  ['/acl/binding-rule', { AuthMethod: 'm', BindType: 'service', BindName: 'x-${value.name}' }],
  ['/namespace', { Name: 'team', ACLs: { PolicyDefaults: [{ Name: 'p' }] }, Meta: { a: 'b' } }],
  ['/namespace', { Name: 'dying' }],
  ['/acl/role?ns=dying', { Name: 'r' }],
  ['/config', { Kind: 'proxy-defaults', Name: 'global', Config: { protocol: 'http', a: [null] } }],
  ['/config', { Kind: 'service-resolver', Name: 'web', Redirect: { Service: 'db' } }],
  [
    '/config',
    { Kind: 'service-intentions', Name: 'W"eb', Sources: [{ Name: 'a', Action: 'deny' }] },
  ],
  [
    '/config',
    { Kind: 'api-gateway', Name: 'gw', Listeners: [{ Name: 'l', Port: 80, Protocol: 'http' }] },
  ],
  ['/config', route],
  ['/config', { ...provider, Issuer: 'i' }],
  ['/config?ns=team', { ...intention, JWT: { Providers: [{ Name: 'P' }] } }],
];

describe('a snapshot', () => {
  let records: Records;
  const dataDir = mkdtempSync(join(tmpdir(), 'snapshot-'));
  after(() => rmSync(dataDir, { recursive: true }));

  before(async () => {
    const client = await SoloClient.open();
    const written: { ID?: string }[] = [];
    for (const [path, body] of WRITES) {
      const { status, text, body: answer } = await client.ask(`PUT ${path}`, body);
      expect(status, `${path} ${text}`).to.equal(200);
      written.push(answer);
    }
    await client.ask(`DELETE /acl/policy/${written[1]!.ID}`);
    await client.ask('DELETE /namespace/dying');
    const { store } = client.solo;
    const { ModifyIndex: modifyIndex } = stored<AuthMethod>(store, keys.method('default', 'm'))!;
    client.solo.must({
      type: 'token.login',
      v: 1,
      ns: 'default',
      createTime: '2030-01-01T00:00:00.5Z',
      accessor: LOGIN,
      secret: '0f0f0f0f-1111-4222-8333-555555555555',
      method: { ns: 'default', name: 'M', modifyIndex },
      token: { Description: '', Policies: [{ Name: 'p' }], Roles: [], Local: true },
      identity: IDENTITY,
    } as Command);
    const configuration = { ...ACL_DEFAULTS, LoginTokenTTL: '1h0m0s', TokensPerIdentity: 3 };
    client.solo.must({ type: 'acl.configure', v: 1, configuration } as Command);
    records = [...store.keys('')].filter(isRestored).map((key) => [key, store.get(key)!]);
    await client.close();
  });

  const problemOf = (some: Records, isWhole = true): string | undefined => {
    const check = new SnapshotCheck();
    try {
      for (const record of some) check.add(record);
      if (isWhole) for (const _ of check.end());
      return undefined;
    } catch (error) {
      expect(error).to.have.nested.property('refusal.code', 'invalid');
      return (error as Error).message;
    }
  };
  const tableOf = (key: string): string => key.split('\u0000')[0]!;
  const replaced = (at: number, ...by: Records): Records => records.toSpliced(at, 1, ...by);

  it('that was saved is accepted, even during deletions', () => {
    expect(problemOf(records)).to.equal(undefined);
    const tables = new Set(records.map(([key]) => tableOf(key)));
    expect([...tables]).to.include.members(['namespace-dying', 'config-ref', 'token-by-expiry']);
    expect([...tables]).to.include.members(['token-identity']);
  });

  it('with an invalid record, a wrong key, or an unknown table is refused', () => {
    const free = new Set(['method-remains']);
    for (const [at, [key, value]] of records.entries()) {
      if (free.has(tableOf(key))) continue;
      const wrong: Records = ['x', '7', '[]', 'null'].map((text) => [key, text]);
      for (const record of wrong) {
        if (record[1] === '7' && /^(index|deleted)/.test(key)) continue;
        expect(problemOf(replaced(at, record)), record.join(' ')).to.be.a('string');
      }
      // A deleted object that is still linked keeps no name.
      if (/^(index|deleted|fact)/.test(key) || value.startsWith('{"Index"')) continue;
      expect(problemOf([...records, [`${key}x`, value]]), `${key}x`).to.be.a('string');
    }
    expect(problemOf([...records, ['strange\u0000x', '{}']])).to.match(/"strange"/);
  });

  it('is refused if an owner belongs to no object', () => {
    const owned = (...place: string[]): string | undefined =>
      problemOf([...records, [['owner', ...place].join('\u0000'), '{"Owner":"x"}']]);
    expect(owned('config', 'default', 'http-route/rt')).to.equal(undefined);
    const strangers = [
      ...['http-route/RT', 'http-route/r', 'http-route', ''].map((id) => ['config', 'default', id]),
      ...[[], ['config'], ['config', 'default'], ['config', 'default', 'http-route/rt', 'x']],
      ['strange', 'default', 'http-route/rt'],
    ];
    for (const place of strangers)
      expect(owned(...place), place.join()).to.match(/"owner": a record belongs to no object/);
  });

  it("without an object's derived records, or without its default namespace, is refused", () => {
    const follow = /^(\w+-(name|link|by|secret|accessor|identity)|namespace-dying|config-ref)/;
    for (const [at, [key, value]] of records.entries()) {
      const isOfDeleted = value.startsWith('{"Index"');
      if (!follow.test(key) || isOfDeleted) continue;
      expect(problemOf(replaced(at)), key).to.be.a('string');
    }
    const home = records.findIndex(([key]) => key === 'namespace\u0000default');
    expect(problemOf(replaced(home))).to.match(/namespace default is missing/);
  });

  it('with an unknown or miscounted login identity is refused; without any, it is older', () => {
    const key = keys.tokenByMethod('default', 'm', 'default', LOGIN);
    const at = records.findIndex(([each]) => each === key);
    expect(records[at]![1]).to.equal(IDENTITY);
    for (const identity of ['', 'b'.repeat(64), 'x'])
      expect(problemOf(replaced(at, [key, identity])), identity).to.be.a('string');
    const counted = records.filter(([each]) => tableOf(each) !== 'token-identity');
    const old = counted.map((record): typeof record => (record[0] === key ? [key, ''] : record));
    expect(problemOf(old)).to.equal(undefined);
  });

  it('with an invalid ACL configuration is refused', () => {
    const at = records.findIndex(([key]) => key === ACL_FACT);
    const good = JSON.parse(records[at]![1]) as object;
    for (const wrong of [
      ...[{ LoginTokenTTL: 7 }, { LoginTokenTTL: 'x' }, { LoginTokenTTLMax: '1s' }],
      ...[{ LoginTokenTTLMax: null }, { TokensPerIdentity: '1' }, { TokensPerIdentity: -1 }],
      ...[{ TokensPerIdentity: null }, { OnTokenLimit: 'no' }, { ModifyIndex: 'x' }, { More: 1 }],
    ]) {
      const text = JSON.stringify({ ...good, ...wrong });
      expect(problemOf(replaced(at, [ACL_FACT, text])), text).to.match(/table "fact"/);
    }
  });

  it('with an object whose field has another type is refused', () => {
    const checked = /^(policy|role|token|method|rule|namespace|config)\0/;
    const free = /^(Hash|Description|Selector|Meta|Conditions)$/;
    for (const [key, value] of records) {
      if (!checked.test(key)) continue;
      const object = JSON.parse(value) as Record<string, unknown>;
      for (const name of Object.keys(object)) {
        if (free.test(name)) continue;
        for (const other of [[7], [{}], [null], { '': 7 }, null]) {
          const text = JSON.stringify({ ...object, [name]: other });
          // The contents of a Config depend on its method.
          if (name === 'Config' && text.includes('{"":7}')) continue;
          if (name === 'Status' && other !== null && !Array.isArray(other)) continue;
          // Lists of entries may be null.
          if (/^config/.test(key) && other === null) continue;
          expect(problemOf([[key, text]], false), `${key} ${text}`).to.be.a('string');
        }
      }
    }
  });

  it('with hostile content is refused before any of it takes effect', async () => {
    const commands: string[] = [];
    const timeouts: number[] = [];
    const proposed: Partial<RestoreAdd>[] = [];
    // A restore needs only the permission check and the level of the node.
    const service = fakeService({
      permit: async () => ({}) as never,
      write: async ({ timeoutMs }, command: Command) => {
        commands.push(command.type);
        proposed.push(command as Partial<RestoreAdd>);
        timeouts.push(timeoutMs);
        return 'true';
      },
    });
    const node = { view: new MemoryState() } as never;
    const parts = { service, node, dataDir, snapshotBytes: 1_000_000, reserveBytes: 0 };
    const front = await startFront(snapshotRoutes(parts), { service });
    const put = async (content: Records) =>
      front.ask('/v1/snapshot', { method: 'PUT', body: await archiveOf(content) });
    expect((await put(records)).status).to.equal(200);
    expect(commands.splice(0).at(-1)).to.equal('restore.commit');
    const older = await front.ask('/v1/snapshot', {
      method: 'PUT',
      body: await olderArchive([...records, JOIN_TOKEN]),
    });
    expect(older.status).to.equal(200);
    expect(commands.splice(0).at(-1)).to.equal('restore.commit');
    const sent = proposed.filter(({ bytes }) => bytes !== undefined).flatMap(keysIn);
    expect(sent).to.include(ACL_FACT).and.not.include(JOIN_TOKEN[0]);
    // Applying all of it takes longer than accepting a part.
    expect(timeouts.at(-1)).to.be.greaterThan(timeouts[0]!);
    const token = records.findIndex(([key]) => key.startsWith('token\u0000'));
    const hostile = await put(replaced(token, [records[token]![0], '{}']));
    const missing = await put(records.filter(([key]) => !key.startsWith('token-secret')));
    expect([hostile.status, missing.status]).to.deep.equal([400, 400]);
    expect(hostile.text).to.match(/^failed to read snapshot file: table "token": /);
    expect(commands).to.not.include('restore.commit');
    // What was proposed before the fault was found is dropped.
    expect(commands.at(-1)).to.equal(commands.length > 0 ? 'restore.abort' : undefined);
    expect(readdirSync(dataDir)).to.deep.equal([]);
    await front.close();
  });

  it('that is truncated, or too long, changes nothing, and leaves no file behind', async () => {
    const commands: string[] = [];
    const service = fakeService({
      permit: async () => ({}) as never,
      write: async (_caller, command: Command) => {
        commands.push(command.type);
        return 'true';
      },
    });
    const node = { view: new MemoryState() } as never;
    const front = await startFront(
      snapshotRoutes({ service, node, dataDir, snapshotBytes: 100_000_000, reserveBytes: 0 }),
      { service },
    );
    const small = await startFront(
      snapshotRoutes({ service, node, dataDir, snapshotBytes: 10_000, reserveBytes: 0 }),
      { service },
    );
    const put = (to: typeof front, body: Buffer) => to.ask('/v1/snapshot', { method: 'PUT', body });
    const state = new MemoryState();
    const value = JSON.stringify({ Index: 5, text: 'x'.repeat(84_000) });
    const many = Array.from(
      { length: 1000 },
      (_, n) => [keys.fact(`n${String(n).padStart(4, '0')}`), value] as const,
    );
    state.commit(many);
    const at = { index: 5, term: 1, configuration: { members: [] } };
    const pieces: Buffer[] = [];
    for await (const piece of writeArchive(state, at, 0)) pieces.push(piece as Buffer);
    const archive = Buffer.concat(pieces);
    expect(archive.length).to.be.below(700_000);
    const cut = await put(front, archive.subarray(0, archive.length - 100));
    expect(cut.status).to.equal(400);
    expect(cut.text).to.match(/^failed to read snapshot file: unexpected end of the archive/);
    const long = await put(small, randomBytes(8 * 2 ** 20));
    expect(long.status).to.equal(413);
    expect(commands.slice(0, 2)).to.deep.equal(['restore.add', 'restore.add']);
    expect(commands.slice(2).filter((type) => type !== 'restore.add')).to.deep.equal([
      'restore.abort',
    ]);
    expect(commands.at(-1)).to.equal('restore.abort');
    expect(readdirSync(dataDir)).to.deep.equal([]);
    await front.close();
    await small.close();
  });

  it('is refused with 507 before it takes the space that the log needs', async () => {
    const service = fakeService({ permit: async () => ({}) as never, write: async () => 'true' });
    const node = { view: new MemoryState() } as never;
    const reserveBytes = Number.MAX_SAFE_INTEGER;
    const parts = { service, node, dataDir, snapshotBytes: 1_000_000, reserveBytes };
    const front = await startFront(snapshotRoutes(parts), { service });
    const body = await archiveOf(records);
    const { status, text } = await front.ask('/v1/snapshot', { method: 'PUT', body });
    expect(status, text).to.equal(507);
    expect(readdirSync(dataDir)).to.deep.equal([]);
    await front.close();
  });
});

/** Returns the keys of the records in a part. */
function keysIn({ bytes = '' }: Partial<RestoreAdd>): string[] {
  const all = inflateRawSync(Buffer.from(bytes, 'base64'));
  const found: string[] = [];
  for (let at = 0; at < all.length; ) {
    const { record, end } = readRecord(all, at);
    found.push(record![0]);
    at = end;
  }
  return found;
}
