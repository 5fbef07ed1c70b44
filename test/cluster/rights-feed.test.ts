/** The feed of rights on real nodes: the same on all of them. */
import { expect } from 'chai';
import { Client } from '../support/client.js';
import { decide } from '../support/decide.js';
import { RealCluster } from '../support/real-cluster.js';

const SELF = 'GET /acl/token/self/rights';

describe('the feed of rights in a cluster', () => {
  let cluster: RealCluster;
  let nodes: readonly Client[];
  before(async () => {
    cluster = await RealCluster.open(3);
    nodes = cluster.urls.map((url) => new Client(url, cluster.token));
  });
  after(() => cluster.close());

  const tagsOf = async (secret: string, query: string) => {
    const answers = await Promise.all(
      nodes.map((node) => node.answerTo(`${SELF}${query}`, undefined, secret)),
    );
    return new Set(answers.map(({ headers }) => headers.etag));
  };

  it('has the same entity tag on every node, with sources too', async () => {
    const policy = { Name: 'p', Rules: 'key_prefix "a" { policy = "write" }\nacl = "read"' };
    await cluster.must('PUT /acl/policy', policy);
    const role = { Name: 'r', Policies: [{ Name: 'p' }] };
    await cluster.must('PUT /acl/role', role);
    const links = { Roles: [{ Name: 'r' }], ServiceIdentities: [{ ServiceName: 'web' }] };
    const { SecretID } = await cluster.must('PUT /acl/token', { ...links, ExpirationTTL: '1h' });
    expect(await tagsOf(SecretID, '')).to.have.length(1);
    expect(await tagsOf(SecretID, '?sources=true')).to.have.length(1);
    expect(await tagsOf('', '')).to.have.length(1);
  });

  it('held on every node is answered by one write to any of them, and counted', async () => {
    const policy = { Name: 'held', Rules: 'key "k" { policy = "read" }' };
    const { ID } = await cluster.must('PUT /acl/policy', policy);
    const body = { Policies: [{ ID }] };
    const { SecretID } = await cluster.must('PUT /acl/token', body);
    const { index, headers } = await cluster.answerTo(SELF, undefined, SecretID);
    const more = { headers: { 'If-None-Match': headers.etag! } };
    const path = `${SELF}?index=${index}&wait=60s`;
    const held = nodes.map((node) => node.ask(path, undefined, SecretID, more));
    for (const node of nodes) {
      const isHeld = async (): Promise<boolean> => {
        const { text } = await node.ask('GET /agent/metrics?format=prometheus');
        return /^conclave_rights_feeds 1$/m.test(text);
      };
      while (!(await isHeld())) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const rules = { Name: 'held', Rules: 'key "k" { policy = "write" }' };
    await nodes[2]!.must(`PUT /acl/policy/${ID}`, rules);
    const answers = await Promise.all(held);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect(new Set(answers.map((answer) => answer.headers.etag))).to.have.length(1);
    for (const { body: feed } of answers)
      expect(decide(feed, ['key', 'write', 'k', 'default'])).to.equal(true);
  });
});
