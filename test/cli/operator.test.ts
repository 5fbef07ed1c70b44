import { expect } from 'chai';
import { SUPPORTED_LEVEL } from '../../src/state/levels.js';
import { RealCluster } from '../support/real-cluster.js';
import { FakeServers, json, problem } from './fake-server.js';
import { User } from './harness.js';

describe('operators by the command line', () => {
  const user = new User();
  const servers = new FakeServers();
  let cluster: RealCluster;

  before(async () => {
    cluster = await RealCluster.open(1);
    user.env = { CONCLAVE_HTTP_ADDR: cluster.urls[0]!, CONCLAVE_HTTP_TOKEN: cluster.token };
  });
  after(async () => {
    await cluster.close();
    servers.close();
    user.leave();
  });

  it('list the members and who waits to become one', async () => {
    expect(await user.done(['operator', 'raft', 'list-peers'])).to.match(/^NAME .*\nn1 .* leader /);
    expect(await user.done(['operator', 'raft', 'list-peers', '-o', 'name'])).to.equal(
      'member/n1\n',
    );
    expect(await user.json<unknown[]>(['operator', 'raft', 'joining'])).to.deep.equal([]);
    expect(await user.json(['operator', 'level'])).to.include({ Level: SUPPORTED_LEVEL });
    expect(await user.json(['operator', 'autopilot', 'state'])).to.include({ Healthy: true });
  });

  it('change what is given of a configuration, and keep the rest', async () => {
    const set = ['operator', 'autopilot', 'set-config'];
    await user.done([...set, '-min-quorum', '3', '-cleanup-dead-servers', 'false']);
    await user.done([...set, '--max-trailing-logs', '500']);
    expect(await user.json(['operator', 'autopilot', 'get-config'])).to.include({
      MinQuorum: 3,
      CleanupDeadServers: false,
      MaxTrailingLogs: 500,
    });
    await user.done(['operator', 'acl', 'set-config', '--login-token-ttl', '1h']);
    await user.done(['operator', 'acl', 'set-config', '--tokens-per-identity', '5']);
    expect(await user.json(['operator', 'acl', 'get-config'])).to.include({
      LoginTokenTTL: '1h0m0s',
      TokensPerIdentity: 5,
    });
    expect((await user.run(set)).code).to.equal(2);
    expect((await user.run([...set, '--cleanup-dead-servers', 'maybe'])).code).to.equal(2);
  });

  it('say so when somebody else has changed a configuration meanwhile', async () => {
    const held = { MinQuorum: 0, ModifyIndex: 7 };
    const address = await servers.serve(json(held), json(false));
    const { code, err } = await user.run([
      ...['operator', 'autopilot', 'set-config', '--min-quorum', '3', '--http-addr', address],
    ]);
    expect(code).to.equal(1);
    expect(err).to.include('it was changed in the meantime');
    expect(servers.seen.at(-1)?.url).to.equal('/v1/operator/autopilot/configuration?cas=7');
    const refused = await servers.serve(
      json(held),
      problem(412, { code: 'precondition_failed', detail: 'it has index 8' }),
    );
    const acl = ['operator', 'acl', 'set-config', '--login-token-ttl', '1h'];
    expect((await user.run([...acl, '--http-addr', refused])).code).to.equal(1);
    expect(servers.seen.at(-1)?.headers['if-match']).to.equal('"7"');
  });

  it('name members by name, ID or address, and are told which there are', async () => {
    const { code, err } = await user.run(['operator', 'raft', 'remove-peer', 'n9', '--yes']);
    expect(code).to.equal(1);
    expect(err).to.equal('conclave: there is no member "n9" (not_found)\n  there are n1\n');
    const peer = { ID: 'a-1', Node: 'n4', Address: '127.0.0.1:1', Leader: true, Voter: true };
    const peers = json({ Servers: [peer], Index: 7 });
    for (const which of ['n4', 'a-1', '127.0.0.1:1']) {
      const address = await servers.serve(peers, json({ Success: true }), peers);
      servers.forget();
      const args = ['operator', 'raft', 'transfer-leader', which, '--http-addr', address];
      expect(await user.done(args)).to.equal('n4 is the leader now\n');
      expect(servers.seen[1]?.url).to.equal('/v1/operator/raft/transfer-leader?id=a-1');
    }
  });

  it('name members as for Consul', async () => {
    const peer = { ID: 'a-1', Node: 'n4', Address: '127.0.0.1:1', Leader: false, Voter: true };
    const remove = ['operator', 'raft', 'remove-peer', '--yes'];
    for (const which of ['-id=a-1', '-address=127.0.0.1:1']) {
      const address = await servers.serve(json({ Servers: [peer], Index: 7 }), json({}));
      servers.forget();
      expect(await user.done([...remove, which, '--http-addr', address])).to.include('n4 is no');
      expect(servers.seen[1]).to.include({
        method: 'DELETE',
        url: '/v1/operator/raft/peer?id=a-1',
      });
    }
    for (const args of [[], ['n4', '-id', 'a-1']])
      expect((await user.run([...remove, ...args])).code, args.join(' ')).to.equal(2);
  });
});
