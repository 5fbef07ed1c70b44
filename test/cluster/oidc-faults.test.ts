import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { LocalNode } from '../../src/dev/local.js';
import { send } from '../support/client.js';
import { CLIENT_SECRET, type OidcProvider, startProvider } from '../support/oidc-provider.js';
import { CALLBACK, OidcCluster } from './oidc-cluster.js';
import { peersOf, until } from './operator.js';

const ALIVE = [200, 200, 200];

describe('OIDC logins in a cluster that loses nodes', () => {
  let provider: OidcProvider;
  let field: OidcCluster;
  before(async () => {
    provider = await startProvider({ redirectUris: [CALLBACK] });
    provider.setAccount('eve', { email: 'eve@example.com', groups: ['dev'] });
    field = await OidcCluster.open(3, {
      issuer: provider.issuer,
      logIn: (url) => provider.logIn(url, 'eve'),
    });
  });
  after(async () => {
    await field?.cluster.close();
    await provider.close();
  });

  const back = async (node: LocalNode): Promise<void> => {
    node.start();
    await node.ready();
  };

  it('go on after the node at which they began has died, and the leader', async () => {
    const { cluster } = field;
    const leading = (await peersOf(cluster, cluster.url)).find(({ Leader }) => Leader)!.Node;
    const leader = cluster.nodes.findIndex(({ name }) => name === leading);
    const other = (leader + 1) % 3;
    const token = await field.logIn(leader, leader);
    const completion = await field.redirected(await field.begin(leader));
    await cluster.nodes[leader]!.kill('SIGKILL');
    const answer = await until(
      () => field.complete(completion, other),
      ({ status }) => status !== 503,
    );
    expect(answer.status, answer.text).to.equal(200);
    const renewed = await field.renew(token, other);
    expect(renewed.status, renewed.text).to.equal(200);
    await back(cluster.nodes[leader]!);
    for (const { SecretID } of [answer.body, renewed.body])
      expect(await field.alive({ SecretID })).to.deep.equal(ALIVE);
    expect(await field.reasonOf(await field.complete(completion, leader))).to.equal('state_used');
  });

  it('go on after all nodes were stopped, and are completed once even so', async () => {
    const [used, fresh] = [await field.begin(), await field.begin()];
    const done = await field.redirected(used);
    const { status, body } = await field.complete(done);
    expect(status).to.equal(200);
    const open = await field.redirected(fresh);
    const { nodes } = field.cluster;
    await Promise.all(nodes.map((node) => node.kill('SIGKILL')));
    await Promise.all(nodes.map(back));
    expect(await field.reasonOf(await field.complete(done, 2))).to.equal('state_used');
    expect((await field.complete(open, 2)).status).to.equal(200);
    const renewed = await field.renew(body, 0);
    expect(renewed.status, renewed.text).to.equal(200);
    const again = await field.renew({ ...renewed.body, Renewal: body.Renewal }, 1);
    expect(await field.reasonOf(again)).to.equal('renewal');
  });

  it('never show the secret of the client, which <hidden> keeps', async () => {
    const { cluster } = field;
    const plan = { Objects: [{ Type: 'auth-method', Object: field.method() }] };
    const history = await cluster.must('GET /history');
    const { ID } = history.Changes.find(({ Type }: { Type: string }) => Type === 'auth-method');
    await field.rewriteMethod({ OIDCClientSecret: '<hidden>', VerboseOIDCLogging: true });
    const { Versions } = await cluster.must(`GET /history/auth-method/${ID}`);
    for (const call of [
      'GET /acl/auth-method/staff',
      'GET /acl/auth-methods',
      'GET /export',
      `GET /export?at=${Versions.at(-1).Index}`,
      `GET /history/auth-method/${ID}?version=${Versions.at(-1).Index}`,
      `GET /history/auth-method/${ID}?from=${Versions.at(-1).Index}`,
      'GET /history',
      'GET /operator/audit/tail?limit=1000',
      'GET /internal/ui/oidc-auth-methods',
      ['POST /plan', plan],
      ['PUT /acl/auth-method/staff', field.method({ OIDCClientSecret: '<hidden>' })],
    ] as const) {
      const [to, body] = typeof call === 'string' ? [call] : call;
      const answer = await cluster.ask(to, body);
      expect(answer.status, `${to}: ${answer.text}`).to.equal(200);
      expect(answer.text.includes(CLIENT_SECRET), to).to.equal(false);
    }
    const { Config } = await cluster.must('GET /acl/auth-method/staff');
    expect(Config.OIDCClientSecret).to.equal('<hidden>');
    await field.logIn();
  });

  it('go on after an archive was restored', async () => {
    const token = await field.logIn();
    const archive = await field.clients[0]!.ask('GET /snapshot');
    expect(archive.status).to.equal(200);
    const state = gunzipSync(archive.bytes);
    expect(state.includes(CLIENT_SECRET)).to.equal(true);
    for (const secret of [...field.secrets, ...provider.issued])
      expect(state.includes(secret)).to.equal(false);
    const { url, token: manager } = field.cluster;
    const body = archive.bytes;
    const restored = await send(url, 'PUT /v1/snapshot', { token: manager, body });
    expect(restored.status, restored.text).to.equal(200);
    const renewed = await field.renew(token);
    expect(renewed.status, renewed.text).to.equal(200);
  });

  it('leave no secret in logs, audit logs and data', async () => {
    await field.audited();
    expect(provider.issued.length).to.be.above(0);
    expect(field.found([...field.secrets, ...provider.issued])).to.deep.equal([]);
    expect(field.found([CLIENT_SECRET], field.isText)).to.deep.equal([]);
    // the search would find it: what is in the state is in the data
    expect(field.found([CLIENT_SECRET])).to.not.deep.equal([]);
  });
});
