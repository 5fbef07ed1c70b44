/** Texts stored with objects are meant for people: their size is limited. */
import { expect } from 'chai';
import { type Signer, signer } from '../login/signers.js';
import { SoloClient } from './client.js';

const text = (bytes: number): string => 'x'.repeat(bytes);

describe('stored texts', () => {
  let client: SoloClient;
  let issuer: Signer;
  before(async () => {
    issuer = await signer('ES256');
  });
  beforeEach(async () => {
    client = await SoloClient.open();
    const Config = { JWTValidationPubKeys: [issuer.pem], ClaimMappings: { sub: 'name' } };
    await client.must('PUT /acl/auth-method', { Name: 'm', Type: 'jwt', Config });
    const rule = { AuthMethod: 'm', BindType: 'service', BindName: 'web' };
    await client.must('PUT /acl/binding-rule', rule);
  });
  afterEach(() => client.close());

  const jwt = (): Promise<string> => {
    const now = Math.floor(client.solo.nowMs / 1000);
    return issuer.sign({ sub: 'web', iat: now, exp: now + 600 });
  };
  const login = async (Meta: object) =>
    client.ask('POST /acl/login', { AuthMethod: 'm', BearerToken: await jwt(), Meta }, '');
  const tokens = async (): Promise<number> => (await client.must('GET /acl/tokens')).length;

  it('a login with a megabyte of Meta is refused', async () => {
    const index = client.solo.machine.appliedIndex();
    for (let n = 0; n < 41; n++) expect((await login({ a: text(1_000_000) })).status).to.equal(413);
    const refused = await login({ a: text(50_000) });
    expect(refused.status).to.equal(400);
    expect(refused.text).to.match(
      /^Failed to decode request body: .*50008 bytes.* at most 4096.* at \/Meta$/,
    );
    expect(client.solo.machine.appliedIndex()).to.equal(index);
  });

  it('the Meta of a login is limited to 64 pairs and 4096 bytes of JSON', async () => {
    const before = await tokens();
    const pairs = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'v']));
    expect((await login(pairs(65))).text).to.match(/65 pairs, at most 64 are allowed at \/Meta$/);
    expect((await login({ a: text(4089) })).status).to.equal(400);
    // The stored size counts: a control character takes six bytes.
    expect((await login({ a: '\u0001'.repeat(700) })).status).to.equal(400);
    expect((await login({ a: 'é'.repeat(2045) })).status).to.equal(400);
    expect(await tokens()).to.equal(before);
    for (const meta of [pairs(64), { a: text(4088) }, { a: 'é'.repeat(2044) }, {}])
      expect((await login(meta)).status).to.equal(200);
    expect(await tokens()).to.equal(before + 4);
  });

  it('a login token with the longest description can be updated with it', async () => {
    const { body } = await login({ a: text(4088) });
    const { AccessorID, Description, Local } = body;
    await client.must(`PUT /acl/token/${AccessorID}`, { Description, Local });
  });

  it('the Meta of a namespace has the same limits', async () => {
    const refused = await client.ask('PUT /namespace', { Name: 'red', Meta: { a: text(4089) } });
    expect(refused.status).to.equal(400);
    expect(refused.text).to.match(/4097 bytes.* at \/Meta$/);
    await client.must('PUT /namespace', { Name: 'red', Meta: { a: text(4088) } });
  });

  const bytesMax = 8192;
  for (const [call, body] of [
    ['PUT /acl/token', {}],
    ['PUT /acl/policy', { Name: 'p' }],
    ['PUT /acl/auth-method/m', { Type: 'jwt' }],
    ['PUT /acl/binding-rule', { AuthMethod: 'm', BindType: 'service', BindName: 'web' }],
    ['PUT /namespace', { Name: 'red' }],
  ] as const) {
    it(`the Description of ${call} is limited to ${bytesMax} bytes`, async () => {
      const Config = { JWTValidationPubKeys: [issuer.pem], ClaimMappings: { sub: 'name' } };
      const sent = call.includes('method') ? { ...body, Config } : body;
      const index = client.solo.machine.appliedIndex();
      for (const Description of [text(bytesMax + 1), 'é'.repeat(bytesMax / 2 + 1)]) {
        const refused = await client.ask(call, { ...sent, Description });
        expect(refused.status).to.equal(400);
        expect(refused.text).to.match(/ bytes, at most \d+ are allowed at \/Description$/);
      }
      expect(client.solo.machine.appliedIndex()).to.equal(index);
      const written = await client.must(call, { ...sent, Description: text(bytesMax) });
      expect(written.Description).to.have.lengthOf(bytesMax);
    });
  }

  it('the DisplayName of an auth method has the same limit as its Description', async () => {
    const refused = await client.ask('PUT /acl/auth-method/m', { DisplayName: text(8193) });
    expect(refused.status).to.equal(400);
    expect(refused.text).to.match(/at \/DisplayName$/);
  });

  it("the description of a copied token is as limited as any other token's", async () => {
    const { AccessorID } = await client.must('PUT /acl/token', {});
    const call = `PUT /acl/token/${AccessorID}/clone`;
    expect((await client.ask(call, { Description: text(8193) })).status).to.equal(400);
  });
});
