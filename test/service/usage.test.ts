/** The last use of tokens, and the clean-up of those that are not used. */
import { expect } from 'chai';
import { historyRoutes } from '../../src/http/routes/history.js';
import {
  HOUR_MS,
  methodOfUse,
  methodUse,
  UsageBook,
  usePageOf,
} from '../../src/service/usage/book.js';
import { UsageExchange } from '../../src/service/usage/exchange.js';
import type { Command } from '../../src/state/types.js';
import { type Signer, signer } from '../login/signers.js';
import { SoloClient } from './client.js';
import { partsOf } from './serve.js';
import { Solo } from './solo.js';

const LEVEL = { type: 'system.level', v: 1, level: 3 } as Command;
const GC = 'POST /acl/tokens/gc';
const accessor = (n: number): string => `8a2d0000-1111-4222-8333-${String(n).padStart(12, '0')}`;
const hourOf = (ms: number): string => new Date(Math.floor(ms / HOUR_MS) * HOUR_MS).toISOString();

describe('the notes of uses', () => {
  const at = { ms: 500_000 * HOUR_MS };
  const bookAt = (hour: number): UsageBook => {
    at.ms = hour * HOUR_MS;
    return new UsageBook(() => at.ms);
  };

  it('have that of auth methods beside them, in the file too', () => {
    const book = bookAt(1000);
    book.note(methodUse('team', 'CI'));
    const other = bookAt(1001);
    other.load(book.text);
    expect(other.lastOf(methodUse('team', 'ci'))).to.equal(1000);
    expect(methodOfUse(methodUse('team', 'CI'))).to.deep.equal(['team', 'ci']);
    expect(methodOfUse(accessor(1))).to.equal(undefined);
  });

  it('have the hour of the last use, and survive in a file', () => {
    const book = bookAt(1000);
    book.note('a'.repeat(36));
    at.ms += 3 * HOUR_MS;
    book.note(accessor(1));
    const again = bookAt(1010);
    again.load(`${book.text}nonsense\n`);
    expect([again.since, again.lastOf('a'.repeat(36)), again.lastOf(accessor(1))]).to.deep.equal([
      1000, 1000, 1003,
    ]);
    again.keep((each) => each === accessor(1));
    expect(again.text).to.equal(`1000\n${accessor(1)} 1003\n`);
    const empty = bookAt(1010);
    empty.load('not a file of ours');
    expect([empty.since, empty.text]).to.deep.equal([1010, '1010\n']);
  });

  it('forget the tokens that were used longest ago, and say since when they know', () => {
    const book = bookAt(1000);
    for (let n = 0; n < 200_000; n++) book.note(accessor(n));
    at.ms += HOUR_MS;
    book.note(accessor(0));
    expect(book.since).to.equal(1000);
    book.note(accessor(200_000));
    expect([book.since, book.lastOf(accessor(1))]).to.deep.equal([1001, undefined]);
    expect(book.lastOf(accessor(0))).to.equal(1001);
  });

  it('pass between members in pages, the later hour counting', async () => {
    const theirs = bookAt(900);
    for (let n = 0; n < 12_000; n++) theirs.note(accessor(n));
    const own = bookAt(1000);
    own.note(accessor(7));
    let asked = 0;
    const peers = ['n1', 'n2', 'n3'].map((id) => ({ id }));
    const answers = new UsageExchange(
      { id: 'n2', status: () => ({ peers }), usage: async () => undefined } as never,
      theirs,
      () => 0,
    );
    let now = 0;
    let isAway = true;
    const node = {
      id: 'n1',
      status: () => ({ peers }),
      usage: async (member: string, from: string) => {
        asked += 1;
        return member === 'n3' && isAway ? undefined : answers.answer(from);
      },
    };
    const exchange = new UsageExchange(node as never, own, () => now);
    await exchange.round();
    expect(asked).to.equal(4);
    expect([own.lastOf(accessor(11_999)), own.lastOf(accessor(7))]).to.deep.equal([900, 1000]);
    expect(exchange.isComplete).to.equal(false);
    isAway = false;
    await exchange.round();
    expect([exchange.isComplete, own.since]).to.deep.equal([true, 900]);
    asked = 0;
    theirs.note(accessor(3));
    await exchange.round();
    expect(asked).to.equal(2);
    expect(own.lastOf(accessor(3))).to.equal(1000);
    now += 900_000;
    expect(exchange.isComplete).to.equal(false);
  });

  it('are asked for from the beginning of a member that has started again', async () => {
    const peers = ['n1', 'n2'].map((id) => ({ id }));
    const started = (book: UsageBook): UsageExchange =>
      new UsageExchange({ id: 'n2', status: () => ({ peers }) } as never, book, () => 0);
    const first = bookAt(900);
    first.note(accessor(1));
    let answers = started(first);
    const asked: string[] = [];
    const usage = async (_: string, from: string) => {
      asked.push(from);
      return answers.answer(from);
    };
    const own = bookAt(900);
    const exchange = new UsageExchange(
      { id: 'n1', status: () => ({ peers }), usage } as never,
      own,
      () => 0,
    );
    await exchange.round();
    await exchange.round();
    // its new notes are more than those that were known of the former ones
    const second = bookAt(901);
    for (const n of [2, 3, 4, 5]) second.note(accessor(n));
    answers = started(second);
    await exchange.round();
    expect([2, 3, 4, 5].map((n) => own.lastOf(accessor(n)))).to.deep.equal([901, 901, 901, 901]);
    expect(asked).to.deep.equal(['0', '2', '2', '0']);
  });

  it('are not taken from what is no page of them', () => {
    for (const text of ['', '[]', '{"since":"1","uses":[]}', '{"since":1,"uses":[[1,2]]}'])
      expect(usePageOf(text), text).to.equal(undefined);
  });
});

describe('the use of tokens', function () {
  this.timeout(60_000);
  let key: Signer;
  let client: SoloClient;
  let solo: Solo;
  before(async () => {
    key = await signer('EdDSA');
  });
  beforeEach(async () => {
    solo = new Solo();
    client = await SoloClient.open(historyRoutes(partsOf(solo)), solo);
    solo.must(LEVEL);
  });
  afterEach(() => client.close());

  const token = (more: object = {}) => client.must('PUT /acl/token', more);
  const usageOf = (id: string) => client.must(`GET /acl/token/${id}/usage`);
  const names = (tokens: readonly { readonly Description: string; readonly Why?: string }[]) =>
    tokens.map(({ Description, Why }) =>
      Why === undefined ? Description : `${Description} ${Why}`,
    );
  const method = async (): Promise<void> => {
    const Config = { JWTValidationPubKeys: [key.pem] };
    await client.must('PUT /acl/auth-method', { Name: 'jwt', Type: 'jwt', Config });
    const rule = { AuthMethod: 'jwt', BindType: 'service', BindName: 'web' };
    await client.must('PUT /acl/binding-rule', rule);
  };
  const login = async (sub: string, Meta: object = {}) => {
    const now = Math.floor(solo.nowMs / 1000);
    const BearerToken = await key.sign({ iat: now - 10, exp: now + 600, sub });
    return client.must('POST /acl/login', { AuthMethod: 'jwt', BearerToken, Meta }, '');
  };

  it('is told by the hour', async () => {
    const { AccessorID, SecretID } = await token();
    const since = { Since: hourOf(solo.nowMs).replace('.000', ''), Complete: true };
    expect(await usageOf(AccessorID)).to.deep.equal({ AccessorID, LastUsed: null, ...since });
    solo.nowMs += 2 * HOUR_MS;
    await client.ask('GET /acl/policies', undefined, SecretID);
    const LastUsed = hourOf(solo.nowMs).replace('.000', '');
    solo.nowMs += 5 * HOUR_MS;
    expect(await usageOf(AccessorID)).to.deep.equal({ AccessorID, LastUsed, ...since });
    const own = await client.ask(`GET /acl/token/${AccessorID}/usage`, undefined, SecretID);
    expect(own.status).to.equal(403);
    expect(own.body.code).to.equal('permission_denied');
  });

  it('is not found of a token that is not there, and found in any namespace', async () => {
    const missing = await client.ask(`GET /acl/token/${accessor(1)}/usage`);
    expect([missing.status, missing.body.code]).to.deep.equal([404, 'not_found']);
    expect((await client.ask('GET /acl/token/none/usage')).status).to.equal(400);
    await client.must('PUT /namespace', { Name: 'team-a' });
    const { AccessorID } = await client.must('PUT /acl/token?ns=team-a', {});
    expect((await usageOf(AccessorID)).AccessorID).to.equal(AccessorID);
    await client.must('PUT /acl/policy', { Name: 'here', Rules: 'acl = "read"' });
    const { SecretID } = await client.must('PUT /acl/token', { Policies: [{ Name: 'here' }] });
    const unseen = await client.ask(`GET /acl/token/${AccessorID}/usage`, undefined, SecretID);
    expect([unseen.status, unseen.body.code]).to.deep.equal([404, 'not_found']);
  });

  it('lists the longest unused first, with who is behind them', async () => {
    await method();
    const [a, b] = [await token({ Description: 'a' }), await token({ Description: 'b' })];
    const c = await login('user-1', { n: 'c' });
    solo.nowMs += 10 * HOUR_MS;
    await client.ask('GET /acl/policies', undefined, b.SecretID);
    solo.nowMs += HOUR_MS;
    await client.ask('GET /acl/policies', undefined, a.SecretID);
    const all = await client.must('GET /acl/usage');
    expect([all.Complete, all.Total]).to.deep.equal([true, 5]);
    const order = names(all.Tokens);
    expect(order.indexOf('b')).to.be.lessThan(order.indexOf('a'));
    const unused = await client.must('GET /acl/usage?unused-for=9h');
    const accessors = unused.Tokens.map(({ AccessorID }: { AccessorID: string }) => AccessorID);
    expect(accessors).to.include(c.AccessorID).and.not.include(b.AccessorID);
    const [only] = (await client.must('GET /acl/usage?authmethod=JWT&limit=1')).Tokens;
    expect(only.Identity).to.deep.equal({
      AuthMethod: 'jwt',
      Namespace: 'default',
      Subject: 'user-1',
    });
    const far = await client.ask('GET /acl/usage?unused-for=720h');
    expect([far.status, typeof far.body.Since]).to.deep.equal([400, 'string']);
    expect((await client.ask('GET /acl/usage?unused-for=x')).status).to.equal(400);
  });

  it('cleans up what is not used, and shows it first', async () => {
    const used = await token({ Description: 'used' });
    await token({ Description: 'unused' });
    const policy = { ID: '00000000-0000-0000-0000-000000000001' };
    await token({ Description: 'manager', Policies: [policy] });
    solo.nowMs += 30 * HOUR_MS;
    await token({ Description: 'young' });
    await client.ask('GET /acl/policies', undefined, used.SecretID);
    const plan = await client.must(GC, { UnusedFor: '24h' });
    expect([plan.DryRun, plan.Total, plan.Index]).to.deep.equal([
      true,
      1,
      solo.machine.appliedIndex(),
    ]);
    expect(names(plan.Tokens)).to.deep.equal(['unused unused']);
    expect(plan.Skipped).to.deep.equal({ management: 1, anonymous: 1 });
    const done = await client.must(GC, { UnusedFor: '24h', DryRun: false, Reason: 'spring' });
    expect(names(done.Tokens)).to.deep.equal(['unused unused']);
    expect(done.Index).to.equal(solo.machine.appliedIndex());
    const left = names(await client.must('GET /acl/tokens'));
    expect(left).to.include.members(['used', 'manager', 'young']).and.not.include('unused');
    const [line] = (await client.must('GET /history?types=token&limit=1')).Changes;
    expect([line.Operation, line.Reason]).to.deep.equal(['delete', 'spring']);
    const none = await client.must(GC, { UnusedFor: '24h', DryRun: false });
    expect([none.Total, none.Index]).to.deep.equal([0, 0]);
  });

  it('keeps the newest tokens of each identity, with a line for the method', async () => {
    await method();
    for (const [n, who] of ['a', 'a', 'a', 'b', ''].entries()) {
      await login(who, { n: String(n) });
      solo.nowMs += 1000;
    }
    const body = { KeepPerIdentity: 1, AuthMethod: 'JWT', DryRun: false };
    const done = await client.must(GC, body);
    const shown = done.Tokens.map(({ Description, Why }: Record<string, string>) => [
      /"n":"(\d)"/.exec(Description!)?.[1],
      Why,
    ]);
    expect(shown).to.deep.equal([
      ['0', 'surplus'],
      ['1', 'surplus'],
    ]);
    const { Changes } = await client.must('GET /history?types=login-tokens');
    expect(Changes[0]).to.include({ Operation: 'gc', Count: 2, ID: 'default/jwt', Name: '' });
    expect((await client.must('GET /acl/tokens?authmethod=jwt')).length).to.equal(3);
  });

  it('counts the young tokens of an identity among those that it keeps', async () => {
    await method();
    for (const n of ['0', '1']) {
      await login('a', { n });
      solo.nowMs += 4000;
    }
    const kept = { KeepPerIdentity: 1, AuthMethod: 'jwt' };
    for (const OlderThan of ['3s', '5s'])
      expect((await client.must(GC, { ...kept, OlderThan })).Total, OlderThan).to.equal(1);
    expect((await client.must(GC, { ...kept, OlderThan: '9s' })).Total).to.equal(0);
  });

  it('spares a token that has global-management through a role', async () => {
    const Policies = [{ Name: 'global-management' }];
    await client.must('PUT /acl/role', { Name: 'admins', Policies });
    await token({ Description: 'admin', Roles: [{ Name: 'admins' }] });
    await client.must('PUT /acl/role', { Name: 'others' });
    await token({ Description: 'other', Roles: [{ Name: 'others' }] });
    solo.nowMs += 30 * HOUR_MS;
    const done = await client.must(GC, { UnusedFor: '24h', DryRun: false });
    expect(names(done.Tokens)).to.deep.equal(['other unused']);
    expect(done.Skipped).to.deep.equal({ management: 1, anonymous: 1 });
  });

  it('does not guess: what is not known for so long stays', async () => {
    await token({ Description: 'old' });
    const before = solo.nowMs;
    solo.nowMs += 100 * HOUR_MS;
    const late = new UsageBook(() => solo.nowMs);
    Object.assign(solo.usage, { book: late });
    solo.nowMs += 10 * HOUR_MS;
    const plan = await client.must(GC, { UnusedFor: '50h' });
    expect([plan.Total, plan.Skipped.unknown_use]).to.deep.equal([0, 2]);
    Object.assign(solo.usage, { isComplete: false });
    expect((await client.must(GC, { UnusedFor: '5h' })).Complete).to.equal(false);
    const refused = await client.ask(GC, { UnusedFor: '5h', DryRun: false });
    expect(refused.status).to.equal(409);
    expect(solo.nowMs).to.be.greaterThan(before);
  });

  it('deletes no token that has changed since, nor any that it must spare', async () => {
    const [a, b] = [await token({ Description: 'a' }), await token({ Description: 'b' })];
    const seen = ({ AccessorID, ModifyIndex }: { AccessorID: string; ModifyIndex: number }) => ({
      ns: 'default',
      accessor: AccessorID,
      index: ModifyIndex,
    });
    await client.must(`PUT /acl/token/${a.AccessorID}`, { Description: 'a, in use' });
    const management = (await client.must('GET /acl/tokens')).find(
      ({ Description }: { Description: string }) => Description === 'Initial Management Token',
    );
    const tokens = [a, b, management].map(seen);
    const { Deleted } = solo.must({ type: 'token.gc', v: 1, tokens } as Command);
    expect(Deleted).to.deep.equal([b.AccessorID]);
  });

  it('is missed by lint, once uses are known for 30 days', async () => {
    const { AccessorID } = await token({ Description: 'idle' });
    const found = async (): Promise<string[]> =>
      (await client.must('GET /acl/lint?severity=info')).Findings.filter(
        ({ Code }: { Code: string }) => Code === 'unused_token',
      ).map(({ Ref }: { Ref: string }) => Ref);
    expect(await found()).to.deep.equal([]);
    solo.nowMs += 31 * 24 * HOUR_MS;
    expect(await found()).to.deep.equal([`token/${AccessorID}`]);
    Object.assign(solo.usage, { book: new UsageBook(() => solo.nowMs) });
    expect(await found()).to.deep.equal([]);
  });

  it('is told of auth methods too: the last login, that lint misses after 30 days', async () => {
    await method();
    const DAY_MS = 24 * HOUR_MS;
    const use = () => client.must('GET /acl/auth-method/JWT/usage');
    const unused = async (): Promise<string[]> =>
      (await client.must('GET /acl/lint?severity=info')).Findings.filter(
        ({ Code }: { Code: string }) => Code === 'unused_auth_method',
      ).map(({ Ref }: { Ref: string }) => Ref);
    const since = { Since: hourOf(solo.nowMs).replace('.000', ''), Complete: true };
    const names = { Name: 'jwt', Namespace: 'default' };
    expect(await use()).to.deep.equal({ ...names, LastUsed: null, ...since });
    solo.nowMs += 31 * DAY_MS;
    expect(await unused()).to.deep.equal(['auth-method/default/jwt']);
    const { AccessorID } = await login('user-1');
    const LastUsed = hourOf(solo.nowMs).replace('.000', '');
    solo.nowMs += 5 * HOUR_MS;
    expect(await use()).to.deep.equal({ ...names, LastUsed, ...since });
    await client.must(`DELETE /acl/token/${AccessorID}`);
    expect(await unused()).to.deep.equal([]);
    solo.nowMs += 31 * DAY_MS;
    expect(await unused()).to.deep.equal(['auth-method/default/jwt']);
    await login('user-1');
    solo.nowMs += 31 * DAY_MS;
    // its token lives on
    expect(await unused()).to.deep.equal([]);
    const missing = await client.ask('GET /acl/auth-method/none/usage');
    expect([missing.status, missing.body.code]).to.deep.equal([404, 'not_found']);
    expect((await client.ask('GET /acl/auth-method/jwt/usage', undefined, '')).status).to.equal(
      403,
    );
  });

  it('does not tell of an auth method that is new, though uses are known for long', async () => {
    const since = solo.nowMs - 31 * 24 * HOUR_MS;
    Object.assign(solo.usage, { book: new UsageBook(() => since) });
    await method();
    const { Findings } = await client.must('GET /acl/lint?severity=info');
    const codes = Findings.map(({ Code }: { Code: string }) => Code);
    expect(codes).to.include('login_tokens_never_expire').and.not.include('unused_auth_method');
  });

  it('refuses what is not asked well, and who may not', async () => {
    const status = async (body: object, secret?: string): Promise<number> =>
      (await client.ask(GC, body, secret)).status;
    expect(await status({})).to.equal(400);
    expect(await status({ UnusedFor: 'x' })).to.equal(400);
    expect(await status({ KeepPerIdentity: 0 })).to.equal(400);
    expect(await status({ UnusedFor: '1h', Limit: 1001 })).to.equal(400);
    expect(await status({ UnusedFor: '1h', Dryrun: false })).to.equal(400);
    const reader = await client.secretWith('acl = "read"');
    expect(await status({ UnusedFor: '1h' }, reader)).to.equal(200);
    expect(await status({ UnusedFor: '1h', DryRun: false }, reader)).to.equal(403);
    expect(await status({ UnusedFor: '1h', Namespace: '*' }, '')).to.equal(403);
  });
});
