/** The last use of tokens on real nodes: what one has seen, the others know. */
import { expect } from 'chai';
import { send } from '../support/client.js';
import { RealCluster } from '../support/real-cluster.js';

describe('the last use of tokens in a cluster', () => {
  let cluster: RealCluster;
  before(async () => {
    cluster = await RealCluster.open(3);
  });
  after(() => cluster.close());

  interface Use {
    readonly LastUsed: string | null;
    readonly Complete: boolean;
  }
  const useAt = async (node: number, accessor: string): Promise<Use> => {
    const call = `GET /v1/acl/token/${accessor}/usage`;
    const { status, text } = await send(cluster.urls[node]!, call, { token: cluster.token });
    expect(status, text).to.equal(200);
    return JSON.parse(text);
  };
  const until = async (is: () => Promise<boolean>): Promise<void> => {
    while (!(await is())) await new Promise((resolve) => setTimeout(resolve, 50));
  };

  it('is told to a member that starts, and kept in a file', async () => {
    const token = await cluster.must('PUT /acl/token', { Description: 'used on n1' });
    const { AccessorID: accessor, SecretID } = token;
    await send(cluster.urls[0]!, 'GET /v1/acl/policies', { token: SecretID });
    expect((await useAt(0, accessor)).LastUsed).to.be.a('string');
    const [, second] = cluster.nodes;
    await second!.kill('SIGTERM');
    second!.start();
    await second!.ready();
    // it asks the others once it serves
    await until(async () => (await useAt(1, accessor)).LastUsed !== null);
    await until(async () => (await useAt(1, accessor)).Complete);
    const [first] = cluster.nodes;
    await first!.kill('SIGTERM');
    first!.start();
    await first!.ready();
    expect((await useAt(0, accessor)).LastUsed).to.be.a('string');
  });
});
