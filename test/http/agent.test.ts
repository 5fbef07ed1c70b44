/** What the agent says of itself, in the form in which clients decode it. */
import { expect } from 'chai';
import type { Authorizer } from '../../src/acl/types.js';
import { refusal, refuseIf } from '../../src/base/errors.js';
import { agentRoutes } from '../../src/http/routes/agent.js';
import type { ClusterNode, NodeStatus } from '../../src/node/types.js';
import type { ClusterParts } from '../../src/service/cluster/cluster.js';
import { type Front, fakeService, NO_AUDIT, startFront } from './harness.js';

const DATE = '2026-01-31T12:00:00Z';
const SHA = 'abcdef0123456789';
const status: NodeStatus = {
  id: 'id-n1',
  name: 'n1',
  address: '127.0.0.1:831',
  role: 'follower',
  term: 3,
  leaderId: 'id-n2',
  leaderAddress: '127.0.0.1:832',
  commitIndex: 40,
  appliedIndex: 40,
  lastLogIndex: 41,
  lastContactMs: 7.4,
  configurationIndex: 2,
  peers: [],
};

const HISTORY = {
  fromMs: 20_000,
  stepMs: 10_000,
  figures: { held_queries: [null, 3] },
  certificates: [{ use: 'http', notAfterMs: 1000 }],
  savedMs: 0,
};

describe('http: the agent', () => {
  let front: Front;
  let rights: readonly string[];
  /** The tokens that were looked up before an endpoint was called. */
  let resolved: string[];
  const denial = (resource: string, access: string, segment = '') =>
    rights.includes(`${resource}:${access}:${segment}`)
      ? undefined
      : refusal(
          'permission_denied',
          `Permission denied: lacks permission '${resource}:${access}' on "${segment}"`,
        );

  before(async () => {
    const service = fakeService({
      namespaceOf: (tokenKey) => {
        resolved.push(tokenKey);
        return 'default';
      },
      permit: async (_requester, denies) => {
        const authorizer = { denial } as unknown as Authorizer;
        refuseIf(denies(authorizer));
        return authorizer;
      },
    });
    const node = { name: 'n1', status: () => status } as unknown as ClusterNode;
    const parts: ClusterParts = {
      service,
      node,
      datacenter: 'dc1',
      release: { version: '1.2.3-rc1+x', sha: SHA, date: DATE },
      fault: () => undefined,
      settings: { acl: { initialManagement: 'hidden' } },
      metrics: { prometheus: () => '', json: () => ({}), history: () => HISTORY },
      audit: NO_AUDIT,
      recent: () => [
        { level: 'warn', event: 'peer_unreachable', message: 'n2 is gone', ms: 3000, count: 2 },
      ],
    };
    front = await startFront(agentRoutes(parts), { service });
  });
  after(() => front.close());
  beforeEach(() => {
    rights = ['agent:read:n1'];
    resolved = [];
  });

  const self = async () => JSON.parse((await front.ask('/v1/agent/self')).text);

  it('shows its figures, certificates and warnings to who may read the operator', async () => {
    const refused = await front.ask('/v1/agent/history');
    expect(refused.status).to.equal(403);
    expect(refused.text).to.include('operator:read');
    rights = ['operator:read:'];
    expect(JSON.parse((await front.ask('/v1/agent/history')).text)).to.deep.equal({
      IntervalMs: 10_000,
      From: '1970-01-01T00:00:20.000Z',
      Series: { held_queries: [null, 3] },
      Node: 'n1',
      Certificates: [{ Use: 'http', NotAfter: '1970-01-01T00:00:01.000Z' }],
      LastBackup: null,
      Warnings: [
        {
          Time: '1970-01-01T00:00:03.000Z',
          Level: 'warn',
          Event: 'peer_unreachable',
          Message: 'n2 is gone',
          Count: 2,
        },
      ],
    });
  });

  it('shows eight settings of itself', async () => {
    expect((await self()).Config).to.deep.equal({
      Datacenter: 'dc1',
      PrimaryDatacenter: 'dc1',
      NodeName: 'n1',
      NodeID: 'id-n1',
      Revision: 'abcdef01',
      Server: true,
      Version: '1.2.3',
      BuildDate: DATE,
    });
  });

  it('shows itself as an object of objects, and statistics as texts', async () => {
    const all = await self();
    for (const [name, value] of Object.entries(all)) expect(value, name).to.be.an('object');
    for (const [area, values] of Object.entries<object>(all.Stats)) {
      for (const [name, value] of Object.entries(values)) {
        expect(value, `${area}.${name}`).to.be.a('string');
      }
    }
    for (const text of Object.values({ ...all.Member.Tags, ...all.Meta })) {
      expect(text).to.be.a('string');
    }
    expect(all).not.to.have.property('xDS');
    expect(all.Coord.Vec).to.have.length(8);
  });

  it('shows what clients read of the rest, and no secret', async () => {
    const { DebugConfig, Member, Meta, Stats } = await self();
    expect(DebugConfig).to.deep.equal({
      acl: { initialManagement: 'hidden' },
      ACLsEnabled: true,
      EnableDebug: false,
      GRPCPort: -1,
    });
    expect(Member).to.include({ Name: 'n1', Addr: '127.0.0.1', Port: 831, Status: 1 });
    expect(Member.Tags).to.include({ role: 'consul', dc: 'dc1', build: '1.2.3-rc1+x:' });
    expect(Meta).to.deep.equal({
      'consul-version': '1.2.3-rc1+x',
      'consul-network-segment': '',
    });
    expect(Stats.build).to.deep.equal({
      version: '1.2.3',
      prerelease: 'rc1',
      version_metadata: 'x',
      revision: 'abcdef01',
    });
    expect(Stats.raft).to.include({ state: 'Follower', last_contact: '7ms' });
  });

  it('shows itself to those who may read the agent of this name', async () => {
    for (const others of [['agent:read:n2'], ['operator:write:', 'node:read:n1', 'acl:write:']]) {
      rights = others;
      const reply = await front.ask('/v1/agent/self');
      expect(reply.status).to.equal(403);
      expect(reply.text).to.contain(`lacks permission 'agent:read' on "n1"`);
    }
  });

  it('tells everyone its version, and looks at no token', async () => {
    rights = [];
    const token = '00000000-0000-4000-8000-000000000000';
    for (const headers of [{}, { 'X-Service-Token': token }]) {
      const reply = await front.ask('/v1/agent/version', { headers });
      expect(reply.status).to.equal(200);
      expect(JSON.parse(reply.text)).to.deep.equal({
        SHA,
        BuildDate: DATE,
        HumanVersion: '1.2.3-rc1+x',
        FIPS: '',
      });
      expect(reply.headers).not.to.have.property('x-service-index');
    }
    expect(resolved).to.deep.equal([]);
    const { status: code, text } = await front.ask('/v1/agent/version', { method: 'POST' });
    expect([code, text]).to.deep.equal([
      405,
      'method POST not allowed (this path takes GET, HEAD)\n',
    ]);
  });

  it('answers whatever namespace and partition are named', async () => {
    const headers = { 'X-Service-Namespace': '*', 'X-Service-Partition': 'p' };
    for (const path of ['/v1/agent/version', '/v1/agent/self']) {
      const reply = await front.ask(`${path}?ns=no%20name&partition=p`, { headers });
      expect(reply.status, path).to.equal(200);
    }
    expect((await front.ask('/v1/agent/metrics?partition=p')).status).to.equal(400);
  });
});
