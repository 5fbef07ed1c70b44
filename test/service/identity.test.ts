/** Who is behind the token of a login. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { SnapshotCheck } from '../../src/service/archives/snapshot-check.js';
import { keys } from '../../src/state/keys.js';
import type { Command, StateRecord } from '../../src/state/types.js';
import { type Signer, signer } from '../login/signers.js';
import { SoloClient } from './client.js';

const LEVEL = { type: 'system.level', v: 1, level: 3 } as Command;

describe('the identity of a login', () => {
  let key: Signer;
  let client: SoloClient;
  before(async () => {
    key = await signer('EdDSA');
  });
  beforeEach(async () => {
    client = await SoloClient.open();
    client.solo.must(LEVEL);
    await method('Jwt1');
    await client.must('PUT /acl/role', { Name: 'r', ServiceIdentities: [{ ServiceName: 'web' }] });
  });
  afterEach(() => client.close());

  const method = async (Name: string, more: object = {}): Promise<void> => {
    const Config = { JWTValidationPubKeys: [key.pem], ...more };
    await client.must('PUT /acl/auth-method', { Name, Type: 'jwt', Config });
    const rule = { AuthMethod: Name, BindType: 'role', BindName: 'r' };
    await client.must('PUT /acl/binding-rule', rule);
  };
  const jwt = (claims: object): Promise<string> => {
    const now = Math.floor(client.solo.nowMs / 1000);
    return key.sign({ iat: now - 10, exp: now + 600, ...claims });
  };
  const login = async (claims: object, AuthMethod = 'jwt1') =>
    client.must('POST /acl/login', { AuthMethod, BearerToken: await jwt(claims) }, '');
  const identityOf = async ({ AccessorID }: { AccessorID: string }) =>
    (await client.must(`GET /acl/token/${AccessorID}?expanded=true`)).Identity;
  const records = (): StateRecord[] => {
    const { store } = client.solo;
    return [...store.keys('')].map((at) => [at, store.get(at)!] as const);
  };

  it('names the method as it is stored, its namespace, and the subject', async () => {
    const token = await login({ sub: 'user-1' });
    const Identity = { AuthMethod: 'Jwt1', Namespace: 'default', Subject: 'user-1' };
    expect(await identityOf(token)).to.deep.equal(Identity);
    expect(token).to.not.have.property('Identity');
    for (const path of [`token/${token.AccessorID}`, 'tokens'])
      expect(JSON.stringify(await client.must(`GET /acl/${path}`))).to.not.include('"Identity"');
    const own = await client.must('GET /acl/token/self?expanded=true', undefined, token.SecretID);
    expect(own.Identity).to.deep.equal(Identity);
    const expanded = await client.must(`GET /acl/token/${token.AccessorID}?expanded=true`);
    const names = Object.keys(expanded);
    expect(names[names.indexOf('Identity') - 1]).to.equal('AuthMethodNamespace');
  });

  it('is the author of what the token writes, and of the login itself', async () => {
    const commands: Command[] = [];
    const { write } = client.solo.node;
    client.solo.node.write = (request) => {
      commands.push(request.command);
      return write(request);
    };
    await client.must('PUT /acl/policy', { Name: 'w', Rules: 'acl = "write"' });
    const { ID } = (await client.must('GET /acl/roles'))[0];
    await client.must(`PUT /acl/role/${ID}`, { Name: 'r', Policies: [{ Name: 'w' }] });
    const token = await login({ sub: 'user-1' });
    const Identity = { AuthMethod: 'Jwt1', Namespace: 'default', Subject: 'user-1' };
    expect(commands.at(-1)?.author).to.deep.equal({ AccessorID: '', Description: '', Identity });
    await client.must('PUT /acl/role', { Name: 'mine' }, token.SecretID);
    expect(commands.at(-1)?.author).to.deep.equal({
      AccessorID: token.AccessorID,
      Description: 'token created via login',
      Identity,
    });
    await client.must('POST /acl/logout', undefined, token.SecretID);
    expect(commands.at(-1)?.author?.Identity).to.deep.equal(Identity);
  });

  const long = 'ü'.repeat(300);
  const hashed = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
  const subjects: [what: string, claim: unknown, subject: string][] = [
    ['a text', 'User-1', 'User-1'],
    ['a number', 17, '17'],
    ['a boolean', true, 'true'],
    ['a list', ['a'], ''],
    ['an object', { a: 1 }, ''],
    ['nothing', undefined, ''],
    ['null', null, ''],
    ['too long a text', long, hashed(long)],
    ['a text with a line end', 'a\nb', hashed('a\nb')],
    ['a text with NUL', 'a\u0000b', hashed('a\u0000b')],
  ];
  for (const [what, claim, subject] of subjects) {
    it(`has as subject ${subject.slice(0, 10) || 'nothing'} for ${what}`, async () => {
      await method('other', { IdentityClaim: '/user/id' });
      const token = await login({ sub: 's', user: { id: claim } }, 'other');
      expect((await identityOf(token)).Subject).to.equal(subject);
    });
  }

  it('stays when the method names another claim, and goes with the token', async () => {
    const first = await login({ sub: 'a', mail: 'b' });
    const Config = { IdentityClaim: 'mail' };
    await client.must('PATCH /acl/auth-method/jwt1', { Config });
    const second = await login({ sub: 'a', mail: 'b' });
    expect((await identityOf(first)).Subject).to.equal('a');
    expect((await identityOf(second)).Subject).to.equal('b');
    const at = { ns: 'default', name: 'jwt1' };
    const place = { ns: 'default', accessor: first.AccessorID };
    const { store } = client.solo;
    expect(store.get(keys.subject(at, 'a', place))).to.equal('');
    await client.must(`DELETE /acl/token/${first.AccessorID}`);
    expect(store.get(keys.subject(at, 'a', place))).to.equal(undefined);
    await client.must('DELETE /acl/auth-method/jwt1');
    expect([...store.keys('subject\u0000')]).to.deep.equal([]);
  });

  it('is none for logins below level 3', async () => {
    const older = await SoloClient.open();
    const above = client;
    client = older;
    await method('Jwt1');
    await client.must('PUT /acl/role', { Name: 'r', ServiceIdentities: [{ ServiceName: 'web' }] });
    const token = await login({ sub: 'user-1' });
    older.solo.must(LEVEL);
    expect(await identityOf(token)).to.equal(undefined);
    await older.close();
    client = above;
  });

  it('needs a claim that can be found', async () => {
    const tried = async (IdentityClaim: unknown, Type = 'jwt') => {
      const Config = { JWTValidationPubKeys: [key.pem], IdentityClaim };
      const body = { Name: 'other', Type, Config };
      return (await client.ask('PUT /acl/auth-method', body)).body ?? 'refused';
    };
    expect(await tried('/a/~2')).to.equal('refused');
    expect(await tried(5)).to.equal('refused');
    expect((await tried('/a/~1')).Config.IdentityClaim).to.equal('/a/~1');
  });

  it('is shown by explanations, effective rights and who-can', async () => {
    await login({ sub: 'a' });
    await login({ sub: 'a' });
    const { AccessorID } = await login({ sub: 'b' });
    const Identity = { AuthMethod: 'Jwt1', Namespace: 'default', Subject: 'b' };
    const question = { Resource: 'service', Access: 'write', Segment: 'web' };
    const asked = { AccessorID, Requests: [question] };
    const explained = await client.must('POST /acl/authorize/explain', asked);
    expect(explained.Identity).to.deep.equal(Identity);
    const effective = await client.must(`GET /acl/token/${AccessorID}/effective`);
    expect(effective.Identity).to.deep.equal(Identity);
    const feed = await client.must(`GET /acl/token/${AccessorID}/rights`);
    expect(feed.Identity).to.deep.equal(Identity);
    const { Groups } = await client.must('POST /acl/who-can', question);
    const logins = Groups.find((group: { AuthMethod: string }) => group.AuthMethod === 'Jwt1');
    expect([logins.Tokens, logins.Subjects]).to.deep.equal([3, 2]);
    expect(logins.Sample.map((one: typeof explained) => one.Identity.Subject).sort()).to.deep.equal(
      ['a', 'a', 'b'],
    );
    const others = Groups.filter((group: { AuthMethod: string }) => group.AuthMethod === '');
    for (const group of others) expect(group.Subjects).to.equal(0);
    const judged = { AuthMethod: 'jwt1', Claims: { sub: 'c' } };
    const { Token } = await client.must('POST /acl/login/explain', judged);
    expect(Token.Identity).to.deep.equal({ ...Identity, Subject: 'c' });
  });

  it('is shown with decisions to those who may read the token', async () => {
    const token = await login({ sub: 'a' });
    const Identity = { AuthMethod: 'Jwt1', Namespace: 'default', Subject: 'a' };
    const refused = await client.ask('PUT /acl/role', { Name: 'x' }, token.SecretID);
    const decision = await client.must(`GET /acl/decision/${refused.decision}`);
    expect(decision.Identity).to.deep.equal(Identity);
    expect(decision).to.not.have.property('Home');
    const own = `GET /acl/decision/${refused.decision}`;
    expect((await client.must(own, undefined, token.SecretID)).Identity).to.deep.equal(Identity);
    const BearerToken = await jwt({ sub: 'late', exp: 1 });
    const body = { AuthMethod: 'jwt1', BearerToken };
    const late = await client.ask('POST /acl/login', body, '');
    const why = await client.must(`GET /acl/decision/${late.decision}`);
    expect(why.Identity).to.deep.equal({ ...Identity, Subject: 'late' });
    const forged = { AuthMethod: 'jwt1', BearerToken: `${BearerToken.slice(0, -8)}AAAAAAAA` };
    const unknown = await client.ask('POST /acl/login', forged, '');
    const nobody = await client.must(`GET /acl/decision/${unknown.decision}`);
    expect(nobody.Identity).to.equal(null);
  });

  it('is missed by lint if the newest tokens of a method have no subject', async () => {
    const found = async (): Promise<string[]> =>
      (await client.must('GET /acl/lint')).Findings.filter(
        ({ Code }: { Code: string }) => Code === 'identity_unknown',
      ).map(({ Ref }: { Ref: string }) => Ref);
    expect(await found()).to.deep.equal([]);
    await login({ name: 'nobody' });
    await login({ name: 'nobody' });
    expect(await found()).to.deep.equal(['auth-method/default/Jwt1']);
    await login({ sub: 'somebody' });
    expect(await found()).to.deep.equal([]);
  });

  it('is in archives, whole or not at all', async () => {
    await login({ sub: 'a' });
    const checked = (all: readonly StateRecord[]): string => {
      const check = new SnapshotCheck();
      try {
        for (const record of all)
          if (!/^(machine|request|level|restore)/.test(record[0])) check.add(record);
        for (const _ of check.end());
        return 'whole';
      } catch (error) {
        return (error as Error).message.replace(/^failed to read snapshot file: /, '');
      }
    };
    const all = records();
    expect(checked(all)).to.equal('whole');
    const without = all.filter(([at]) => !at.startsWith('subject\u0000'));
    expect(checked(without)).to.equal('table "subject": a record is missing or wrong');
    const isOf = (at: string) => at.startsWith('token-by-method\u0000');
    const bad = all.map(([at, text]) => [at, isOf(at) ? `${text}\n` : text] as const);
    expect(checked(bad)).to.equal(
      'table "token-by-method": a subject is too long or has control characters',
    );
  });
});
