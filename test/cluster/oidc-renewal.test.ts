import { expect } from 'chai';
import type { Answer } from '../support/client.js';
import { type OidcProvider, startProvider } from '../support/oidc-provider.js';
import { CALLBACK, OidcCluster, told } from './oidc-cluster.js';

const ALIVE = [200, 200, 200];
const DEAD = [403, 403, 403];
const EVE = { email: 'eve@example.com', groups: ['dev'] };

describe('the renewal of an OIDC login', () => {
  let provider: OidcProvider;
  let field: OidcCluster;
  let account = 'eve';
  before(async () => {
    provider = await startProvider({ redirectUris: [CALLBACK] });
    field = await OidcCluster.open(3, {
      issuer: provider.issuer,
      logIn: (url) => provider.logIn(url, account),
    });
    await field.addMethod({}, 'other');
  });
  beforeEach(async () => {
    account = 'eve';
    provider.setAccount('eve', EVE);
    provider.setAccount('adam', { email: 'adam@example.com', groups: ['ops'] });
    await provider.start();
  });
  after(async () => {
    await field?.cluster.close();
    await provider.close();
  });

  it('reads the groups again, and ends the old token at the same index on every node', async () => {
    const old = await field.logIn();
    provider.setAccount('eve', { ...EVE, groups: ['ops'] });
    const { status, text, body } = await field.renew(old);
    expect(status, text).to.equal(200);
    expect(body).to.include({ AuthMethod: 'staff', Description: 'token created via OIDC login' });
    expect(body.AccessorID).to.not.equal(old.AccessorID);
    expect(body.CreateIndex).to.be.above(old.CreateIndex);
    expect(body.Identity).to.deep.equal(old.Identity);
    expect(body.Renewal).to.be.a('string').and.not.equal(old.Renewal);
    expect(body.Roles.map(({ Name }: { Name: string }) => Name)).to.deep.equal(['ops']);
    expect(await field.alive(body)).to.deep.equal(ALIVE);
    expect(await field.writes(body, 'ops-web')).to.deep.equal(ALIVE);
    expect(await field.writes(body, 'dev-web')).to.deep.equal(DEAD);
    expect(await field.alive(old)).to.deep.equal(DEAD);
    for (const client of field.clients) {
      const feed = `GET /history?logins=true&after=${body.CreateIndex - 1}&limit=2`;
      const changes = (await client.must(feed)).Changes.map(
        ({ Index, Operation, ID }: Record<string, unknown>) => [Index, Operation, ID],
      );
      expect(changes).to.deep.equal([
        [body.CreateIndex, 'delete', old.AccessorID],
        [body.CreateIndex, 'create', body.AccessorID],
      ]);
    }
  });

  it('goes on from each Renewal to the next', async () => {
    let token = await field.logIn();
    for (const at of [2, 0, 1]) {
      const answer = await field.renew(token, at);
      expect(answer.status, answer.text).to.equal(200);
      token = answer.body;
    }
    expect(await field.alive(token)).to.deep.equal(ALIVE);
  });

  it('uses a Renewal up, for every node', async () => {
    const first = await field.logIn();
    const { body } = await field.renew(first);
    const asked = provider.requests.get('/token');
    for (const at of [2, 0, 1]) {
      const again = await field.renew({ ...body, Renewal: first.Renewal }, at);
      expect(await field.reasonOf(again)).to.equal('renewal');
    }
    expect(provider.requests.get('/token')).to.equal(asked);
    expect(await field.alive(body)).to.deep.equal(ALIVE);
  });

  it('makes one token of one Renewal, however many nodes get it at once', async () => {
    const old = await field.logIn();
    const answers = await Promise.all([0, 1, 2].map((at) => field.renew(old, at)));
    const made = answers.filter(({ status }) => status === 200);
    expect(made.length).to.be.at.most(1);
    for (const { status } of answers) expect(status).to.be.oneOf([200, 403]);
    const [{ body } = { body: old }] = made;
    expect(await field.alive(body)).to.deep.equal(ALIVE);
  });

  it('is refused with the Renewal of another user, method or cluster', async () => {
    const eve = await field.logIn();
    account = 'adam';
    const adam = await field.logIn();
    const foreign = await field.renew({ ...adam, Renewal: eve.Renewal });
    expect(await field.reasonOf(foreign)).to.equal('subject');
    const begun = await field.begin(0, { AuthMethod: 'other' });
    const completion = await field.redirected(begun);
    const other = await field.complete(completion, 0, { AuthMethod: 'other' });
    const crossed = await field.renew({ ...adam, Renewal: other.body.Renewal });
    expect(await field.reasonOf(crossed)).to.equal('renewal');
    for (const Renewal of ['', 'x', `${adam.Renewal}A`, completion.State]) {
      const answer = await field.renew({ ...adam, Renewal });
      expect(await field.reasonOf(answer), Renewal).to.equal('renewal');
    }
    expect(await field.alive(adam)).to.deep.equal(ALIVE);
    expect((await field.renew(adam)).status).to.equal(200);
  });

  it('needs a living token of the method', async () => {
    const token = await field.logIn();
    const { Renewal } = token;
    const unknown = (answer: Answer): void => {
      expect(told(answer)).to.deep.equal([403, 'ACL not found']);
    };
    const begun = await field.begin(0, { AuthMethod: 'other' });
    const other = await field.complete(await field.redirected(begun), 0, { AuthMethod: 'other' });
    for (const SecretID of ['', other.body.SecretID, field.cluster.token, CALLBACK.slice(0, 36)])
      unknown(await field.renew({ SecretID, Renewal }));
    await field.cluster.must('POST /acl/oidc/logout', undefined, token.SecretID);
    unknown(await field.renew(token));
  });

  it('is refused once the method has changed', async () => {
    const token = await field.logIn();
    await field.rewriteMethod();
    expect(await field.reasonOf(await field.renew(token))).to.equal('renewal');
    expect(await field.alive(token)).to.deep.equal(ALIVE);
  });

  it('is refused once the provider does not know the user, or binds no rule', async () => {
    const gone = await field.logIn();
    provider.removeAccount('eve');
    expect(await field.reasonOf(await field.renew(gone))).to.equal('renewal');
    provider.setAccount('eve', EVE);
    const demoted = await field.logIn();
    provider.setAccount('eve', { ...EVE, groups: [] });
    expect(await field.reasonOf(await field.renew(demoted))).to.equal('no_rule');
  });

  it('waits for a provider that is away', async () => {
    const token = await field.logIn();
    await provider.stop();
    const away = await field.renew(token);
    expect(told(away)).to.deep.equal([
      503,
      'The provider of auth method "staff" cannot be reached',
    ]);
    expect(await field.alive(token)).to.deep.equal(ALIVE);
    await provider.start();
    expect((await field.renew(token)).status).to.equal(200);
  });

  it('outlives one rotation of the key of the cluster, and not a second', async () => {
    const [first, second] = [await field.logIn(), await field.logIn()];
    const rotate = () => field.cluster.must('POST /operator/oidc/rotate');
    await rotate();
    const { body } = await field.renew(first);
    await rotate();
    expect(await field.reasonOf(await field.renew(second))).to.equal('renewal');
    expect((await field.renew(body)).status).to.equal(200);
  });
});
