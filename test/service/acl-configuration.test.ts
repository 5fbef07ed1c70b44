/** GET and PUT /v1/operator/acl/configuration, and their effect on logins. */
import { expect } from 'chai';
import { aclConfigurationRoutes } from '../../src/http/routes/operator.js';
import { type Signer, signer } from '../login/signers.js';
import type { Answer } from '../support/client.js';
import { SoloClient } from './client.js';
import { Solo } from './solo.js';

const PATH = '/operator/acl/configuration';
const DEFAULTS = {
  LoginTokenTTL: '',
  LoginTokenTTLMax: '',
  TokensPerIdentity: 0,
  OnTokenLimit: 'refuse',
};

describe('the ACL configuration', () => {
  let client: SoloClient;
  let issuer: Signer;
  before(async () => {
    issuer = await signer('ES256');
  });
  beforeEach(async () => {
    const solo = new Solo();
    client = await SoloClient.open(aclConfigurationRoutes(solo.service), solo);
  });
  afterEach(() => client.close());

  const fetched = (method: string, headers: Record<string, string>, body?: unknown, query = '') =>
    client.ask(`${method} ${PATH}${query}`, body, undefined, { headers });

  it('has defaults and index 0 until written; omitted fields become defaults again', async () => {
    const first = await fetched('GET', {});
    expect(first.headers['etag']).to.equal('"0"');
    expect(first.text).to.equal(JSON.stringify({ ...DEFAULTS, ModifyIndex: 0 }));
    const written = await fetched('PUT', {}, { LoginTokenTTL: '90m', TokensPerIdentity: 5 });
    const { body } = written;
    expect(body).to.deep.equal({
      ...DEFAULTS,
      LoginTokenTTL: '1h30m0s',
      TokensPerIdentity: 5,
      ModifyIndex: client.solo.machine.appliedIndex(),
    });
    expect(written.headers['etag']).to.equal(`"${body.ModifyIndex}"`);
    expect(await client.must(`GET ${PATH}`)).to.deep.equal(body);
    // A response may be sent back unchanged.
    expect(await client.must(`PUT ${PATH}`, body)).to.include({ TokensPerIdentity: 5 });
    expect(await client.must(`PUT ${PATH}`, { OnTokenLimit: 'replace' })).to.deep.include({
      LoginTokenTTL: '',
      TokensPerIdentity: 0,
      OnTokenLimit: 'replace',
    });
  });

  for (const [body, pointer, why] of [
    [{ LoginTokenTTL: '59s' }, '/LoginTokenTTL', /LoginTokenTTL 59s cannot be less than 1m0s$/],
    [{ LoginTokenTTL: -1 }, '/LoginTokenTTL', /cannot be less than 1m0s$/],
    [
      { LoginTokenTTLMax: 1 },
      '/LoginTokenTTLMax',
      /LoginTokenTTLMax 1ns cannot be less than 1m0s$/,
    ],
    [{ LoginTokenTTL: '1000000h' }, '/LoginTokenTTL', /cannot be more than 876000h0m0s$/],
    [
      { LoginTokenTTL: '2m', LoginTokenTTLMax: '1m' },
      '/LoginTokenTTL',
      /LoginTokenTTLMax, which is 1m0s$/,
    ],
    [{ TokensPerIdentity: 1001 }, '/TokensPerIdentity', /cannot be more than 1000$/],
    [{ TokensPerIdentity: -1 }, '/TokensPerIdentity', /expected a whole number/],
    [{ OnTokenLimit: 'replce' }, '/OnTokenLimit', /one of: refuse, replace.*"replace"/],
    [
      { LoginTokenTtl: '1h' },
      '/LoginTokenTtl',
      /unknown field "LoginTokenTtl"; did you mean "LoginTokenTTL"/,
    ],
  ] as const) {
    it(`refuses ${JSON.stringify(body)}`, async () => {
      const before = client.solo.machine.appliedIndex();
      const refused = await fetched('PUT', {}, body);
      expect(refused.status).to.equal(400);
      expect(refused.headers['content-type']).to.equal('application/problem+json');
      const problem = refused.body;
      expect(problem).to.include({ code: 'invalid', pointer });
      expect(problem.detail)
        .to.match(/^Error parsing ACL configuration: /)
        .and.to.match(why);
      expect(client.solo.machine.appliedIndex()).to.equal(before);
    });
  }

  it('is written only over the version that If-Match names', async () => {
    const put = async (tags: string) => fetched('PUT', { 'If-Match': tags }, {});
    expect((await put('"0"')).status).to.equal(200);
    const index = client.solo.machine.appliedIndex();
    const missed = await put('"0", "1"');
    expect([missed.status, missed.body]).to.deep.equal([
      412,
      {
        type: 'about:blank',
        title: 'Precondition Failed',
        status: 412,
        detail: `Precondition failed: the ACL configuration has ModifyIndex ${index}`,
        code: 'precondition_failed',
        current: index,
      },
    ]);
    expect((await put(`W/"${index + 1}"`)).status).to.equal(412);
    for (const wrong of [`${index}`, `"${index}" "0"`, Array(17).fill('"0"').join()]) {
      const refused = await put(wrong);
      expect(refused.status, wrong).to.equal(400);
      expect(refused.text).to.include('Invalid header \\"If-Match\\"');
    }
    const now = (await client.must(`GET ${PATH}`)).ModifyIndex;
    expect((await put(`"1", "${now}"`)).status).to.equal(200);
    expect((await put('*')).status).to.equal(200);
  });

  it('is read with operator:read, and written with operator:write and acl:write', async () => {
    const status = async (call: string, rules: string): Promise<number> =>
      (
        await client.ask(
          call,
          call.startsWith('PUT') ? {} : undefined,
          await client.secretWith(rules),
        )
      ).status;
    expect(await status(`GET ${PATH}`, 'operator = "read"')).to.equal(200);
    expect(await status(`GET ${PATH}`, 'acl = "write"')).to.equal(403);
    expect(await status(`PUT ${PATH}`, 'operator = "write"')).to.equal(403);
    expect(await status(`PUT ${PATH}`, 'acl = "write"')).to.equal(403);
    expect(await status(`PUT ${PATH}`, 'acl = "write"\noperator = "read"')).to.equal(403);
    expect(await status(`PUT ${PATH}`, 'acl = "write"\noperator = "write"')).to.equal(200);
    expect((await client.ask(`PUT ${PATH}`, {}, '')).status).to.equal(403);
    // The leader's own check.
    const gate = client.solo.gate(client.solo.store, null, { type: 'acl.configure', v: 1 });
    expect(gate?.code).to.equal('permission_denied');
  });

  it('returns errors as problem details or text, and refuses unknown parameters', async () => {
    const slip = await fetched('PUT', {}, {}, '?if-match=3');
    expect(slip.status).to.equal(400);
    expect(slip.body).to.include({ detail: 'Unknown query parameter "if-match"' });
    expect((await fetched('GET', {}, undefined, '?stale&pretty')).status).to.equal(200);
    for (const Accept of ['text/plain', 'Text/Plain']) {
      const { text } = await fetched('GET', { Accept }, undefined, '?index=3');
      expect(text, Accept).to.equal('Unknown query parameter "index"');
    }
    const other = await fetched('POST', {});
    expect([other.status, other.body]).to.deep.include(405);
    const strange = await fetched('GET', {
      'x-service-token': '99999999-9999-4999-8999-999999999999',
    });
    expect(strange.body).to.include({ code: 'acl_not_found', status: 403 });
  });

  describe('of logins', () => {
    const jwt = (sub: string): Promise<string> => {
      const now = Math.floor(client.solo.nowMs / 1000);
      return issuer.sign({ sub, team: 'a', iat: now, exp: now + 600 });
    };
    const login = async (sub: string, AuthMethod = 'm'): Promise<Answer> =>
      client.ask('POST /acl/login', { AuthMethod, BearerToken: await jwt(sub) }, '');
    const method = async (Name: string, more: object = {}) => {
      const Config = { JWTValidationPubKeys: [issuer.pem], ClaimMappings: { team: 'team' } };
      await client.must('PUT /acl/auth-method', { Name, Type: 'jwt', Config, ...more });
      const rule = { AuthMethod: Name, BindType: 'service', BindName: 'web' };
      await client.must('PUT /acl/binding-rule', rule);
    };
    const tokens = async (): Promise<string[]> =>
      (await client.must('GET /acl/tokens?authmethod=m')).map(
        ({ AccessorID }: { AccessorID: string }) => AccessorID,
      );
    const lifeMs = ({ body }: Answer): number =>
      Date.parse(body.ExpirationTime) - Date.parse(body.CreateTime);

    it('gives a lifetime to tokens whose method has none, and shortens longer ones', async () => {
      await method('m');
      await method('short', { MaxTokenTTL: '5m' });
      await method('long', { MaxTokenTTL: '48h' });
      await client.must(`PUT ${PATH}`, { LoginTokenTTL: '1h', LoginTokenTTLMax: '24h' });
      expect(lifeMs(await login('a'))).to.equal(3_600_000);
      expect(lifeMs(await login('a', 'short'))).to.equal(300_000);
      expect(lifeMs(await login('a', 'long'))).to.equal(86_400_000);
    });

    it('refuses a login beyond the limit with the usual text, and writes nothing', async () => {
      await method('m');
      await client.must(`PUT ${PATH}`, { TokensPerIdentity: 2 });
      for (let n = 0; n < 2; n++) expect((await login('web')).status).to.equal(200);
      const index = client.solo.machine.appliedIndex();
      const refused = await login('web');
      expect([refused.status, refused.text]).to.deep.equal([403, 'Permission denied']);
      expect(client.solo.machine.appliedIndex()).to.equal(index);
      expect((await login('other')).status).to.equal(200);
      const { SecretID } = (await login('third')).body;
      await client.must('POST /acl/logout', undefined, SecretID);
      expect(await tokens()).to.have.lengthOf(3);
    });

    it('replaces the oldest token of the identity', async () => {
      await method('m');
      await client.must(`PUT ${PATH}`, { TokensPerIdentity: 2, OnTokenLimit: 'replace' });
      const made: string[] = [];
      for (let n = 0; n < 4; n++) {
        client.solo.nowMs += 1000;
        made.push((await login('web')).body.AccessorID);
      }
      expect((await tokens()).sort()).to.deep.equal(made.slice(2).sort());
    });

    it('distinguishes identities without sub by all mapped claims', async () => {
      await method('m', {
        Config: {
          JWTValidationPubKeys: [issuer.pem],
          ClaimMappings: { team: 'team' },
          ListClaimMappings: { groups: 'groups' },
        },
      });
      await client.must(`PUT ${PATH}`, { TokensPerIdentity: 1 });
      const by = async (claims: object): Promise<number> => {
        const now = Math.floor(client.solo.nowMs / 1000);
        const BearerToken = await issuer.sign({ ...claims, iat: now, exp: now + 600 });
        return (await client.ask('POST /acl/login', { AuthMethod: 'm', BearerToken }, '')).status;
      };
      expect(await by({ team: 'a', groups: ['x'] })).to.equal(200);
      expect(await by({ team: 'a', groups: ['y'] })).to.equal(200);
      expect(await by({ team: 'a', groups: ['x'] })).to.equal(403);
      // A sub cannot imitate them.
      const sub = JSON.stringify({ value: { team: 'a' }, list: { groups: ['x'] } });
      expect(await by({ team: 'a', groups: ['x'], sub })).to.equal(200);
      expect(await by({ team: 'a', sub: '' })).to.equal(200);
      expect(await by({ team: 'b', sub: '' })).to.equal(200);
    });
  });
});
