/** Revoking and blocking identities over HTTP. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { BlockRow } from '../../src/api/endpoints/identities.js';
import { historyRoutes } from '../../src/http/routes/history.js';
import { SnapshotCheck } from '../../src/service/archives/snapshot-check.js';
import { keys } from '../../src/state/keys.js';
import { secretKeyOf, type Token } from '../../src/state/tokens.js';
import type { Command } from '../../src/state/types.js';
import { type Signer, signer } from '../login/signers.js';
import { SoloClient } from './client.js';
import { partsOf } from './serve.js';
import { Solo } from './solo.js';

const LEVEL = { type: 'system.level', v: 1, level: 3 } as Command;
const REVOKE = 'POST /acl/tokens/revoke';
const BLOCKS = 'GET /acl/identity-blocks';
const AUTHOR = 'Initial Management Token';

describe('an identity', function () {
  this.timeout(60_000);
  let key: Signer;
  let client: SoloClient;
  before(async () => {
    key = await signer('EdDSA');
  });
  beforeEach(async () => {
    const solo = new Solo();
    client = await SoloClient.open(historyRoutes(partsOf(solo)), solo);
    solo.must(LEVEL);
    await client.must('PUT /acl/role', { Name: 'r', Policies: [{ Name: 'global-management' }] });
    for (const Name of ['Jwt1', 'jwt2']) await method(Name);
  });
  afterEach(() => client.close());

  const method = async (Name: string, Namespace = 'default'): Promise<void> => {
    const Config = { JWTValidationPubKeys: [key.pem] };
    await client.must('PUT /acl/auth-method', { Name, Type: 'jwt', Config, Namespace });
    const rule = { AuthMethod: Name, BindType: 'service', BindName: 'web', Namespace };
    await client.must('PUT /acl/binding-rule', rule);
    const management = { AuthMethod: Name, BindType: 'role', BindName: 'r', Namespace };
    if (Namespace === 'default') await client.must('PUT /acl/binding-rule', management);
  };
  const loginBody = async (sub: string, AuthMethod: string, Namespace = 'default') => {
    const now = Math.floor(client.solo.nowMs / 1000);
    const BearerToken = await key.sign({ iat: now - 10, exp: now + 600, sub });
    return { AuthMethod, BearerToken, Namespace };
  };
  const login = async (sub: string, AuthMethod = 'jwt1', Namespace = 'default') =>
    client.must('POST /acl/login', await loginBody(sub, AuthMethod, Namespace), '');
  const revoke = (body: object) => client.must(REVOKE, { AuthMethod: 'jwt1', ...body });
  const refused = async (body: object, token?: string): Promise<string> => {
    const { status, body: problem } = await client.ask(REVOKE, body, token);
    return `${status} ${problem.code} ${problem.pointer ?? ''}: ${problem.detail}`;
  };

  it('has its tokens listed, of one method and in any letter case of its name', async () => {
    const [first, second] = [await login('a/b'), await login('a/b')];
    await login('a');
    await login('a/b', 'jwt2');
    const of = async (query: string) => {
      const listed = await client.must(`GET /acl/tokens?${query}`);
      return listed.map((token: { AccessorID: string }) => token.AccessorID).sort();
    };
    const both = [first.AccessorID, second.AccessorID].sort();
    expect(await of('subject=JWT1/a%2Fb')).to.deep.equal(both);
    expect(await of('subject=jwt1/a%2Fb&sort=name&limit=5')).to.deep.equal(both);
    expect(await of('subject=jwt1/a%2Fb&ns=*&authmethod-ns=default')).to.deep.equal(both);
    expect(await of('subject=jwt1/c')).to.deep.equal([]);
    await client.must('POST /acl/logout', undefined, first.SecretID);
    expect(await of('subject=jwt1/a%2Fb')).to.deep.equal([second.AccessorID]);
    for (const query of ['subject=a', 'subject=jwt1/a&authmethod=jwt1']) {
      const { status } = await client.ask(`GET /acl/tokens?${query}`);
      expect(status, query).to.equal(400);
    }
  });

  it('is revoked with everything that it has, from one index on', async () => {
    const [first, second] = [await login('a'), await login('a')];
    const others = [await login('b'), await login('a', 'jwt2')];
    const done = await revoke({ Subject: 'a', DryRun: false, Reason: 'INC-7' });
    expect(done).to.deep.equal({
      DryRun: false,
      Total: 2,
      Tokens: [second, first].map(({ AccessorID, Description, Namespace, CreateTime }) => ({
        AccessorID,
        Description,
        Namespace,
        Subject: 'a',
        CreateTime,
      })),
      More: 0,
      BlockID: '',
      Index: client.solo.machine.appliedIndex(),
    });
    for (const { AccessorID, SecretID } of [first, second]) {
      const own = await client.ask('GET /acl/token/self', undefined, SecretID);
      expect([own.status, own.text]).to.deep.equal([403, 'token does not exist: ACL not found']);
      expect((await client.ask(`GET /acl/token/${AccessorID}`)).status).to.equal(403);
    }
    for (const { SecretID } of others)
      await client.must('GET /acl/token/self', undefined, SecretID);
    await login('a');
  });

  it('is revoked at once, however many tokens it has, for reads that wait too', async () => {
    const { solo } = client;
    const last = await login('a');
    const { ModifyIndex: modifyIndex } = await client.must('GET /acl/auth-method/jwt1');
    const Identity = { AuthMethod: 'Jwt1', Namespace: 'default', Subject: 'a' };
    for (let n = 0; n < 1500; n++) {
      solo.must({
        type: 'token.login',
        v: 1,
        ns: 'default',
        accessor: randomUUID(),
        secret: randomUUID(),
        createTime: last.CreateTime,
        method: { ns: 'default', name: 'Jwt1', modifyIndex },
        token: { Description: '', Policies: [], Roles: last.Roles, Local: true },
        identity: 'a'.repeat(64),
        author: { AccessorID: '', Description: '', Identity },
        time: last.CreateTime,
      } as Command);
    }
    const tokens = [...solo.store.keys('token\u0000')].map(
      (at) => JSON.parse(solo.store.get(at)!) as Token,
    );
    const live = tokens.filter(({ AuthMethod }) => AuthMethod !== undefined);
    const isKnown = ({ SecretID }: Token): boolean =>
      solo.authorizers.of(secretKeyOf(SecretID)) !== undefined;
    expect(live.filter(isKnown)).to.have.length(1501);
    const left = (): Token[] =>
      live.filter(({ AccessorID }) => solo.store.get(keys.token('default', AccessorID)));
    // what waits is that of a token that is not removed by the entry itself
    const waiting = live.at(-1)!;
    const { woken } = await client.across(
      '/acl/token/self',
      () => revoke({ Subject: 'a', DryRun: false }),
      waiting.SecretID,
    );
    expect(left()).to.have.length(501);
    expect(left()).to.include(waiting);
    expect(woken?.status).to.equal(403);
    expect(live.filter(isKnown)).to.deep.equal([]);
    expect(await client.must('GET /acl/tokens')).to.have.length(2);
  });

  it('is shown by a dry run, which is the default, and for which reading suffices', async () => {
    await login('a');
    const { Index, ...shown } = await revoke({ Subject: 'a', BlockFor: '24h' });
    expect(Index).to.equal(client.solo.machine.appliedIndex());
    expect([shown.DryRun, shown.Total, shown.BlockID]).to.deep.equal([true, 1, '']);
    expect(await client.must(BLOCKS)).to.deep.equal([]);
    const reader = await client.must('PUT /acl/token', {
      Policies: [
        (await client.must('PUT /acl/policy', { Name: 'p', Rules: 'acl = "read"' })).ID,
      ].map((ID) => ({ ID })),
    });
    const body = { AuthMethod: 'jwt1', Subject: 'a' };
    expect((await client.must(REVOKE, body, reader.SecretID)).Total).to.equal(1);
    expect(await refused({ ...body, DryRun: false }, reader.SecretID)).to.match(
      /^403 permission_denied .*acl:write/,
    );
    expect(await refused(body, 'x')).to.match(/^403 acl_not_found/);
    expect(await refused(body, '')).to.match(/^403 permission_denied/);
  });

  it('has nothing proposed where it has nothing', async () => {
    const before = client.solo.machine.appliedIndex();
    const none = await revoke({ Subject: 'nobody', DryRun: false });
    expect([none.Total, none.Index, none.Tokens]).to.deep.equal([0, 0, []]);
    expect(client.solo.machine.appliedIndex()).to.equal(before);
  });

  it('may be the one that asks: it gets its answer', async () => {
    const token = await login('me');
    const body = { AuthMethod: 'jwt1', Subject: 'me', DryRun: false };
    expect((await client.must(REVOKE, body, token.SecretID)).Total).to.equal(1);
    expect((await client.ask(REVOKE, body, token.SecretID)).status).to.equal(403);
  });

  it('is refused where a request does not say whom it means', async () => {
    const ask = (body: object) => refused({ AuthMethod: 'jwt1', ...body });
    const one = '400 invalid : Exactly one of Subject and SubjectPrefix is required';
    expect(await ask({})).to.equal(one);
    expect(await ask({ Subject: 'a', SubjectPrefix: 'a' })).to.equal(one);
    expect(await ask({ Subject: '' })).to.equal('400 invalid /Subject: Subject is empty');
    expect(await ask({ SubjectPrefix: 'a\nb' })).to.match(/^400 invalid \/SubjectPrefix/);
    expect(await ask({ Subject: 'a', BlockFor: '10s' })).to.equal(
      '400 invalid /BlockFor: BlockFor must be a duration from 1m to 8760h, or "forever"',
    );
    expect(await ask({ Subject: 'a', BlockFor: '8761h' })).to.match(/^400 invalid \/BlockFor/);
    expect(await ask({ Subject: 'a', BlockFor: 'x' })).to.match(/^400 invalid \/BlockFor/);
    expect(await ask({ Subject: 'a', Reason: 'a\nb' })).to.match(/^400 invalid \/Reason/);
    expect(await ask({ Subject: 'a', Dryrun: 1 })).to.match(/^400 invalid/);
    expect(await refused({ Subject: 'a' })).to.match(/^400 invalid \/AuthMethod/);
    expect(await refused({ AuthMethod: 'x', Subject: 'a' })).to.equal(
      '404 not_found /AuthMethod: Auth method "x" does not exist',
    );
    expect(
      (await client.ask(`${REVOKE}?dry-run`, { AuthMethod: 'jwt1', Subject: 'a' })).status,
    ).to.equal(400);
  });

  it('counts the tokens that do not tell who is behind them', async () => {
    const token = await login('a');
    const { store } = client.solo;
    const own = keys.tokenByMethod('default', 'jwt1', 'default', token.AccessorID);
    const [identity] = store.get(own)!.split('\u0000');
    store.commit([[own, identity]]);
    const shown = await revoke({ SubjectPrefix: '' });
    expect([shown.Total, shown.Unknown]).to.deep.equal([0, 1]);
  });

  it('without a subject is met by the empty prefix alone', async () => {
    const nobody = await login('');
    for (const whom of [{ SubjectPrefix: 'a' }, { Subject: 'b' }])
      await revoke({ ...whom, BlockFor: '1h', DryRun: false });
    await login('');
    const self = async () =>
      (await client.ask('GET /acl/token/self', undefined, nobody.SecretID)).status;
    expect(await self()).to.equal(200);
    const all = await revoke({ SubjectPrefix: '', BlockFor: '1h', DryRun: false });
    expect([all.Total, all.Unknown]).to.deep.equal([2, undefined]);
    expect(await self()).to.equal(403);
    const late = await client.ask('POST /acl/login', await loginBody('', 'jwt1'), '');
    expect(late.status).to.equal(403);
  });

  it('shows the newest hundred tokens, and counts the others', async () => {
    for (let n = 0; n < 103; n++) await login('a');
    const newest = await login('a');
    const shown = await revoke({ Subject: 'a' });
    expect([shown.Total, shown.Tokens.length, shown.More]).to.deep.equal([104, 100, 4]);
    expect(shown.Tokens[0].AccessorID).to.equal(newest.AccessorID);
  });

  it('has one line in the history, with who and why', async () => {
    await login('a');
    const { Index } = await revoke({ Subject: 'a', DryRun: false, Reason: 'INC-7' });
    const { Changes } = await client.must('GET /history?types=login-tokens');
    expect(Changes).to.have.length(1);
    const [{ Author, Time, ...line }] = Changes;
    expect(Author.Description).to.equal(AUTHOR);
    expect(line).to.deep.equal({
      Index,
      Operation: 'revoke',
      Reason: 'INC-7',
      Type: 'login-tokens',
      Count: 1,
      ID: 'default/Jwt1',
      Name: 'a',
      Namespace: 'default',
      Ref: 'login-tokens/default/Jwt1',
    });
    const logins = await client.must('GET /history?logins=true&limit=3');
    const ends = logins.Changes.filter(({ Type }: { Type: string }) => Type === 'token');
    expect(ends[0].Operation).to.equal('delete');
  });

  it('that is blocked cannot log in, and whoever asks why is told', async () => {
    const until = new Date(client.solo.nowMs + 86_400_000).toISOString();
    const done = await revoke({ Subject: 'a', BlockFor: '24h', DryRun: false, Reason: 'INC-7' });
    expect(done.Total).to.equal(0);
    const late = await client.ask('POST /acl/login', await loginBody('a', 'jwt1'), '');
    expect([late.status, late.text]).to.deep.equal([403, 'Permission denied']);
    const explained = await client.must('POST /acl/login/explain', await loginBody('a', 'jwt1'));
    expect([explained.Outcome, explained.ReasonCode]).to.deep.equal(['refused', 'blocked']);
    expect(explained.Reason).to.match(
      /^blocked: the identity is blocked until 20.* by [0-9a-f-]{36}$/,
    );
    const { Login } = await client.must(`GET /acl/decision/${late.decision}`);
    expect(Login.ReasonCode).to.equal('blocked');
    const [{ Author, Time, ...block }, ...more] = await client.must(BLOCKS);
    expect(more).to.deep.equal([]);
    expect(Author.Description).to.equal(AUTHOR);
    expect(Date.parse(block.Until)).to.equal(Date.parse(until));
    expect({ ...block, Until: '' }).to.deep.equal({
      ID: done.BlockID,
      AuthMethod: 'Jwt1',
      Namespace: 'default',
      Subject: 'a',
      Until: '',
      Reason: 'INC-7',
      ModifyIndex: done.Index,
    });
    await login('a', 'jwt2');
    expect(await client.must(`DELETE /acl/identity-block/${done.BlockID}`)).to.equal(true);
    expect(await client.must(BLOCKS)).to.deep.equal([]);
    await login('a');
    const gone = await client.ask(`DELETE /acl/identity-block/${done.BlockID}`);
    expect(gone.status).to.equal(404);
    expect((await client.ask('DELETE /acl/identity-block/x')).status).to.equal(400);
    const { Changes } = await client.must('GET /history?types=login-tokens');
    expect(Changes.map(({ Operation }: { Operation: string }) => Operation)).to.deep.equal([
      'unblock',
      'revoke',
    ]);
  });

  it('cannot log in past a block of its prefix by a name that is stored as a hash', async () => {
    await revoke({ SubjectPrefix: 'a/', BlockFor: '1h', DryRun: false });
    const long = await loginBody(`a/${'x'.repeat(600)}`, 'jwt1');
    const { ReasonCode } = await client.must('POST /acl/login/explain', long);
    const { status } = await client.ask('POST /acl/login', long, '');
    expect([ReasonCode, status]).to.deep.equal(['blocked', 403]);
  });

  it('that is blocked is listed until the block is over', async () => {
    await client.must('PUT /namespace', { Name: 'red' });
    await method('jwt1', 'red');
    const block = (more: object) => revoke({ BlockFor: 'forever', DryRun: false, ...more });
    await block({ Subject: 'b', Namespace: 'red' });
    await block({ Subject: 'b', AuthMethod: 'jwt2' });
    await block({ SubjectPrefix: 'c/' });
    await block({ Subject: 'a', BlockFor: '1m' });
    const list = async (query: string) =>
      (await client.must(`${BLOCKS}?${query}`)).map(
        ({ Namespace, AuthMethod, Subject, SubjectPrefix }: BlockRow) =>
          `${Namespace}/${AuthMethod}/${Subject ?? `${SubjectPrefix}*`}`,
      );
    expect((await list('ns=*')).join(' ')).to.equal(
      'default/Jwt1/a default/Jwt1/c/* default/jwt2/b red/jwt1/b',
    );
    expect(await list('authmethod=JWT1')).to.deep.equal(['default/Jwt1/a', 'default/Jwt1/c/*']);
    expect(await list('ns=red')).to.deep.equal(['red/jwt1/b']);
    client.solo.nowMs += 61_000;
    expect(await list('authmethod=jwt1')).to.deep.equal(['default/Jwt1/c/*']);
    const { woken } = await client.across('/acl/identity-blocks', () =>
      client.must('DELETE /acl/auth-method/jwt2'),
    );
    expect(woken?.body).to.have.length(1);
  });

  it('of a namespace is hidden from those who have no right in it', async () => {
    await client.must('PUT /namespace', { Name: 'red' });
    await method('jwt1', 'red');
    const { BlockID } = await revoke({
      Subject: 'b',
      Namespace: 'red',
      BlockFor: 'forever',
      DryRun: false,
    });
    const policy = await client.must('PUT /acl/policy', { Name: 'w', Rules: 'acl = "write"' });
    const { SecretID } = await client.must('PUT /acl/token', { Policies: [{ ID: policy.ID }] });
    const lift = await client.ask(`DELETE /acl/identity-block/${BlockID}`, undefined, SecretID);
    const other = await client.ask(`DELETE /acl/identity-block/${policy.ID}`, undefined, SecretID);
    expect([lift.status, lift.body.detail]).to.deep.equal([other.status, other.body.detail]);
    expect(lift.status).to.equal(404);
    expect((await client.ask(`${BLOCKS}?ns=red`, undefined, SecretID)).status).to.equal(403);
    expect(await client.must(`${BLOCKS}?ns=*`, undefined, SecretID)).to.deep.equal([]);
  });

  it('cannot be revoked below level 3', async () => {
    const older = await SoloClient.open();
    const body = { AuthMethod: 'x', Subject: 'a' };
    const { status, body: problem } = await older.ask(REVOKE, body);
    expect([status, problem.code]).to.deep.equal([503, 'unavailable']);
    expect((await older.ask(BLOCKS)).status).to.equal(503);
    await older.close();
  });

  it('stays revoked and blocked in archives, which are checked', async () => {
    await login('a');
    await revoke({ Subject: 'a', BlockFor: 'forever', DryRun: false });
    await login('b');
    const { store } = client.solo;
    const all = [...store.keys('')].map((at) => [at, store.get(at)!] as const);
    const checked = (change: (key: string, text: string) => string | undefined): string => {
      const check = new SnapshotCheck();
      try {
        for (const [at, text] of all) {
          if (/^(machine|request|level|restore)/.test(at)) continue;
          const changed = at.startsWith('identity-block') ? change(at, text) : text;
          if (changed !== undefined) check.add([at, changed]);
        }
        for (const _ of check.end());
        return 'whole';
      } catch (error) {
        return (error as Error).message.replace(/^failed to read snapshot file: /, '');
      }
    };
    expect(all.filter(([at]) => at.startsWith('identity-block'))).to.have.length(3);
    expect(checked((_, text) => text)).to.equal('whole');
    const is = (kind: string | undefined) => (at: string) => at.split('\u0000')[3] === kind;
    const without = (kind: string | undefined) =>
      checked((at, text) => (is(kind)(at) ? undefined : text));
    const table = 'table "identity-block": ';
    expect(without(undefined)).to.equal(`${table}a record belongs to no auth method`);
    const other = (kind: string | undefined, text: string) =>
      checked((at, own) => (is(kind)(at) ? text : own));
    expect(other(undefined, '{}')).to.equal(`${table}a count is missing`);
    expect(other('revoked', '[]')).to.equal(`${table}a record names nobody`);
    expect(other('revoked', '{"Subject":"a"}')).to.equal(`${table}a revocation is not valid`);
    expect(other('subject', '{"Subject":"b"}')).to.equal(`${table}a block is not valid`);
    expect(other('subject', 'x')).to.equal(`${table}a record is not a JSON object`);
  });
});
