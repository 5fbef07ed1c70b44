import { expect } from 'chai';
import { SETTINGS } from '../../src/config/settings.js';
import { send } from '../support/client.js';
import { RealCluster } from '../support/real-cluster.js';

describe('http: the largest bodies that can be configured, on three nodes', function () {
  this.timeout(120_000);
  const { max: bodyBytes } = SETTINGS.find(({ key }) => key === 'limits.bodyBytes')!;
  let cluster: RealCluster;
  const ask = (node: number, call: string, body?: string) =>
    send(cluster.urls[node]!, call, { token: cluster.token, ...(body !== undefined && { body }) });
  const leader = async () => (await ask(0, 'GET /v1/status/leader')).text;
  const role = (name: string, bytes: number): string => {
    const rest = JSON.stringify({ Name: name, Description: '' }).length;
    return JSON.stringify({ Name: name, Description: '"'.repeat((bytes - rest) / 2) });
  };

  before(async () => {
    // Bodies this large delay heartbeats, for seconds on a busy machine. A cluster that cannot
    // replicate them loses its leader for good.
    const limits = { bodyBytes, requestMs: 20_000 };
    const settings = { limits, raft: { electionMs: 5000 } };
    cluster = await RealCluster.open(3, { settings });
  });
  after(async () => {
    await cluster.close();
  });

  it('refuses larger bodies with 413, replicates the others, and keeps its leader', async () => {
    const before = await leader();
    for (const node of [0, 1, 2]) {
      const refused = await ask(node, 'PUT /v1/acl/role', role('over', 12_000_000));
      expect(refused.status, refused.text.slice(0, 200)).to.equal(413);
      expect(refused.text).to.include('limits.bodyBytes');
    }
    // Quotes are doubled in the body, in the command and in the stored result.
    const taken = await ask(1, 'PUT /v1/acl/role', role('full', bodyBytes!));
    expect(taken.status, taken.text.slice(0, 200)).to.equal(200);
    for (const node of [0, 1, 2]) {
      const read = await ask(node, 'GET /v1/acl/role/name/full');
      expect(read.text.length).to.be.greaterThan(bodyBytes! - 100);
      const small = await ask(node, 'PUT /v1/acl/role', role(`small-${node}`, 100));
      expect(small.status, small.text).to.equal(200);
    }
    expect(await leader()).to.equal(before);
  });
});
