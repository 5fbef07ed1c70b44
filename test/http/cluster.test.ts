import { expect } from 'chai';
import type { Authorizer } from '../../src/acl/types.js';
import { refusal, refuseIf } from '../../src/base/errors.js';
import { agentRoutes } from '../../src/http/routes/agent.js';
import { authorizeRoutes } from '../../src/http/routes/authorize.js';
import { operatorRoutes } from '../../src/http/routes/operator.js';
import { statusRoutes } from '../../src/http/routes/status.js';
import type { ClusterNode, NodeStatus, PeerStatus } from '../../src/node/types.js';
import type { ClusterParts } from '../../src/service/cluster/cluster.js';
import type { Service } from '../../src/service/common/types.js';
import { INIT_FACT } from '../../src/state/system.js';
import { secretKeyOf } from '../../src/state/tokens.js';
import type { Command } from '../../src/state/types.js';
import { type Front, fakeService, QUIET, startFront } from './harness.js';

const peer = (name: string, more: Partial<PeerStatus> = {}): PeerStatus => ({
  id: `id-${name}`,
  name,
  address: `127.0.0.1:83${name.slice(1)}`,
  voter: true,
  leader: false,
  healthy: true,
  lastContactMs: 12,
  matchIndex: 40,
  stableSinceMs: 1000,
  ...more,
});
const healthy: NodeStatus = {
  id: 'id-n1',
  name: 'n1',
  address: '127.0.0.1:831',
  role: 'leader',
  term: 3,
  leaderId: 'id-n1',
  leaderAddress: '127.0.0.1:831',
  commitIndex: 40,
  appliedIndex: 40,
  lastLogIndex: 41,
  lastContactMs: 0,
  configurationIndex: 2,
  peers: [peer('n1', { leader: true }), peer('n2'), peer('n3')],
};

describe('http: the cluster endpoints', () => {
  let status: NodeStatus;
  let fault: string | undefined;
  let rights: Set<string>;
  let calls: unknown[];
  let front: Front;
  const allowed = (resource: string, access: string, segment = ''): boolean =>
    rights.has(`${resource}:${access}`) || rights.has(`${resource}:${access}:${segment}`);
  const authorizer = {
    allowed,
    denial: (resource: string, access: string, segment?: string) =>
      allowed(resource, access, segment)
        ? undefined
        : refusal('permission_denied', `lacks permission '${resource}:${access}'`),
  } as unknown as Authorizer;
  const facts = new Map([[INIT_FACT, '{}']]);
  const view = { get: (key: string) => facts.get(key), keys: () => [] };
  const service: Service = fakeService({
    view,
    permit: async (_requester, denial) => {
      refuseIf(denial(authorizer));
      return authorizer;
    },
    authorize: async () => authorizer,
    read: async (_caller, _options, useCase) => ({
      ...useCase({ view, authorizer }),
      ...{ knownLeader: true, lastContactMs: 0, filtered: false },
    }),
    write: async (_requester, command: Command) => {
      calls.push(command);
      return 'true';
    },
  });
  const node = {
    name: 'n1',
    status: () => status,
    leaderStatus: async () => status,
    removeServer: async (id: string) => void calls.push(['remove', id]),
    transfer: async (to?: string) => void calls.push(['transfer', to]),
    view,
    joining: async () => [{ id: 'id-n4', name: 'n4', address: '127.0.0.1:834', subject: 'n4' }],
    admit: async (id: string) => void calls.push(['admit', id]),
    levels: async () => ({
      level: 1,
      supported: 2,
      members: [
        { id: 'id-n1', name: 'n1', supported: 2 },
        { id: 'id-n3', name: 'n3', supported: 1 },
      ],
    }),
  } as unknown as ClusterNode;
  const parts: ClusterParts = {
    ...{ service, node, datacenter: 'dc1' },
    release: { version: '1.2.3', sha: '', date: '2026-01-31T12:00:00Z' },
    fault: () => fault,
    settings: { acl: { initialManagement: 'hidden' } },
    ...QUIET,
  };

  before(async () => {
    const routes = [statusRoutes, operatorRoutes, agentRoutes].flatMap((make) => make(parts));
    front = await startFront([...routes, ...authorizeRoutes(service)], { service });
  });
  after(() => front.close());
  beforeEach(() => {
    status = healthy;
    rights = new Set(['operator:read', 'operator:write', 'agent:read', 'node:read']);
    calls = [];
  });
  const get = async (path: string) => {
    const { status: code, text, headers } = await front.ask(path);
    return {
      code,
      headers,
      text,
      json:
        text.startsWith('{') || text.startsWith('[') || text.startsWith('"')
          ? JSON.parse(text)
          : undefined,
    };
  };
  const send = async (method: string, path: string, body?: unknown) => {
    const ask = { method, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const { status: code, text } = await front.ask(path, ask);
    return [code, text] as const;
  };

  it('shows the leader and the voters to anyone', async () => {
    rights.clear();
    expect((await get('/v1/status/leader')).json).to.equal('127.0.0.1:831');
    expect((await get('/v1/status/peers')).json).to.have.length(3);
    status = { ...healthy, leaderId: null, leaderAddress: '', peers: [] };
    expect((await get('/v1/status/leader')).text).to.equal('""\n');
    expect((await get('/v1/status/peers')).text).to.equal('[]\n');
    expect((await get('/v1/status/leader?index=x')).code).to.equal(400);
  });

  it('shows the current level and the members that the next one waits for', async () => {
    expect((await get('/v1/operator/level')).json).to.deep.equal({
      Level: 1,
      Supported: 2,
      Members: [
        { ID: 'id-n1', Name: 'n1', Supported: 2 },
        { ID: 'id-n3', Name: 'n3', Supported: 1 },
      ],
      Waiting: ['n3'],
    });
    rights.clear();
    expect((await get('/v1/operator/level')).code).to.equal(403);
    expect((await send('PUT', '/v1/operator/level'))[0]).to.equal(405);
  });

  it('is live while it responds, ready while it can serve', async () => {
    const ready = async () => [
      (await get('/v1/health/live')).code,
      (await get('/v1/health/ready')).code,
    ];
    expect(await ready()).to.deep.equal([200, 200]);
    status = { ...healthy, leaderId: null };
    expect(await ready()).to.deep.equal([200, 503]);
    status = { ...healthy, fault: 'its disk is down to the reserve' };
    expect(await ready()).to.deep.equal([200, 200]);
    fault = 'its state differs';
    expect(await ready()).to.deep.equal([200, 503]);
    fault = undefined;
    facts.delete(INIT_FACT);
    expect(await ready()).to.deep.equal([200, 503]);
    facts.set(INIT_FACT, '{}');
    status = { ...healthy, commitIndex: 5000 };
    expect(await ready()).to.deep.equal([200, 503]);
  });

  it('shows the Raft configuration\n', async () => {
    const { json, headers } = await get('/v1/operator/raft/configuration');
    expect(json.Index).to.equal(2);
    expect(json.Servers[0]).to.deep.equal({
      ...{ ID: 'id-n1', Node: 'n1', Address: '127.0.0.1:831', Leader: true },
      ...{ ProtocolVersion: '3', Voter: true, LastIndex: 41 },
    });
    expect(headers).not.to.have.property('x-service-index');
  });

  it('removes a peer by id or address, and refuses invalid requests', async () => {
    const path = '/v1/operator/raft/peer';
    expect(await send('DELETE', `${path}?id=id-n2`)).to.deep.equal([200, '']);
    expect(await send('DELETE', `${path}?address=127.0.0.1:833`)).to.deep.equal([200, '']);
    expect(calls).to.deep.equal([
      ['remove', 'id-n2'],
      ['remove', 'id-n3'],
    ]);
    expect((await send('DELETE', path))[0]).to.equal(400);
    expect((await send('DELETE', `${path}?id=a&address=b`))[0]).to.equal(400);
    const unknown = await send('DELETE', `${path}?id=x`);
    expect(unknown).to.deep.equal([404, 'id "x" was not found in the Raft configuration\n']);
    status = { ...healthy, peers: [peer('n1', { leader: true }), peer('n2', { voter: false })] };
    const last = await send('DELETE', `${path}?id=id-n1`);
    expect([last[0], last[1]]).to.satisfy(
      ([c, t]: [number, string]) => c === 409 && t.startsWith('need at least one voter'),
    );
  });

  it('transfers leadership, and refuses if no other server could lead', async () => {
    const path = '/v1/operator/raft/transfer-leader';
    expect(await send('POST', path)).to.deep.equal([200, '{"Success":true}\n']);
    expect(await send('POST', `${path}?id=id-n3`)).to.deep.equal([200, '{"Success":true}\n']);
    expect(calls).to.deep.equal([
      ['transfer', undefined],
      ['transfer', 'id-n3'],
    ]);
    expect(await send('POST', `${path}?id=x`)).to.deep.equal([
      404,
      'Could not find address for server id "x"\n',
    ]);
    status = { ...healthy, peers: [peer('n1', { leader: true })] };
    const alone = await send('POST', path);
    expect(alone[0]).to.equal(409);
    expect(alone[1]).to.match(/^cannot find peer/);
  });

  it('reports health as the leader sees it: 429 when a server is not healthy', async () => {
    const good = await get('/v1/operator/autopilot/health');
    expect(good.code).to.equal(200);
    expect(good.json).to.include({ Healthy: true, FailureTolerance: 1 });
    expect(good.json.Servers[0]).to.include({
      LastContact: '0s',
      SerfStatus: 'alive',
      Leader: true,
      StableSince: '1970-01-01T00:00:01.000Z',
    });
    expect(good.json.Servers[1]).to.include({ LastContact: '12ms' });
    status = {
      ...healthy,
      peers: [peer('n1', { leader: true }), peer('n2'), peer('n3', { healthy: false })],
    };
    const bad = await get('/v1/operator/autopilot/health');
    expect([bad.code, bad.json.Healthy, bad.json.FailureTolerance]).to.deep.equal([429, false, 0]);
    const state = await get('/v1/operator/autopilot/state');
    expect(state.json.Servers['id-n3']).to.include({ NodeStatus: 'failed', Status: 'voter' });
    expect(state.json).to.include({ Leader: 'id-n1' });
  });

  it('keeps the autopilot configuration: defaults, cas, refusals', async () => {
    const path = '/v1/operator/autopilot/configuration';
    expect((await get(path)).json).to.include({
      MaxTrailingLogs: 250,
      LastContactThreshold: '200ms',
      ModifyIndex: 0,
    });
    expect(await send('PUT', `${path}?cas=4`, { LastContactThreshold: '1500ms' })).to.deep.equal([
      200,
      'true\n',
    ]);
    expect(calls[0]).to.deep.include({ type: 'fact.set', name: 'autopilot', cas: 4 });
    expect(calls[0]).to.have.nested.property('value.LastContactThreshold', '1.5s');
    expect(calls[0]).to.have.nested.property('value.MaxTrailingLogs', 250);
    // An index of minus one, from clients that count without a sign.
    await send('PUT', `${path}?cas=18446744073709551615`, {});
    expect(calls.pop()).to.include({ cas: Number.MAX_SAFE_INTEGER });
    for (const [query, body, text] of [
      ['?cas=x', {}, /Error parsing cas value/],
      ['?cas=18446744073709551616', {}, /Error parsing cas value/],
      ['', { Foo: 1 }, /^Error parsing autopilot config: .*unknown field "Foo"/],
      ['', { LastContactThreshold: 'x' }, /^Error parsing autopilot config/],
    ] as const) {
      const [code, sentence] = await send('PUT', `${path}${query}`, body);
      expect(code).to.equal(400);
      expect(sentence).to.match(text);
    }
    expect(calls).to.have.length(1);
  });

  it('shows the servers that ask to join, and admits them', async () => {
    expect((await get('/v1/operator/raft/joining')).json).to.deep.equal([
      { ID: 'id-n4', Node: 'n4', Address: '127.0.0.1:834', CertificateSubject: 'n4' },
    ]);
    expect(await send('PUT', '/v1/operator/raft/joining/id-n4')).to.deep.equal([200, 'true\n']);
    expect(calls).to.deep.equal([['admit', 'id-n4']]);
  });

  it('creates a join token, of which it stores only the hash', async () => {
    const [code, text] = await send('POST', '/v1/operator/raft/join-token?ttl=1h');
    expect(code).to.equal(200);
    const { JoinToken, ExpirationTime } = JSON.parse(text);
    expect(JoinToken).to.match(/^[\w-]{43}$/);
    const stored = { Hash: secretKeyOf(JoinToken), ExpiresMs: Date.parse(ExpirationTime) };
    expect(calls).to.deep.equal([
      { type: 'fact.set', v: 1, name: 'join-tokens', cas: 0, value: { Tokens: [stored] } },
    ]);
    for (const query of ['ttl=x', 'ttl=0', 'ttl=-1h', 'ttl=25h', 'ttl=10ms', 'tll=5s', 'TTL=5s']) {
      const [wrong, why] = await send('POST', `/v1/operator/raft/join-token?${query}`);
      expect(wrong, query).to.equal(400);
      expect(JSON.parse(why).detail).to.match(/^(\?ttl: |Unknown query parameter)/);
    }
    rights.delete('operator:write');
    expect((await send('POST', '/v1/operator/raft/join-token'))[0]).to.equal(403);
    expect(calls).to.have.length(1);
  });

  it('checks the permission first', async () => {
    rights.clear();
    for (const [method, path] of [
      ['GET', '/v1/operator/raft/configuration'],
      ['DELETE', '/v1/operator/raft/peer?id=nobody'],
      ['POST', '/v1/operator/raft/transfer-leader?id=nobody'],
      ['GET', '/v1/operator/raft/joining'],
      ['PUT', '/v1/operator/raft/joining/id-n4'],
      ['POST', '/v1/operator/raft/join-token'],
      ['GET', '/v1/operator/autopilot/configuration'],
      ['PUT', '/v1/operator/autopilot/configuration'],
      ['GET', '/v1/operator/autopilot/health'],
      ['GET', '/v1/operator/autopilot/state'],
      ['GET', '/v1/agent/self'],
      ['GET', '/v1/agent/metrics'],
    ] as const)
      expect((await send(method, path, method === 'PUT' ? {} : undefined))[0], path).to.equal(403);
    expect((await get('/v1/agent/members')).json).to.deep.equal([]);
    expect(calls).to.deep.equal([]);
  });

  it('shows itself and its members', async () => {
    const self = (await get('/v1/agent/self')).json;
    expect(self.Config).to.include({
      Datacenter: 'dc1',
      NodeName: 'n1',
      Version: '1.2.3',
      Server: true,
    });
    expect(self.Member).to.include({ Name: 'n1', Addr: '127.0.0.1', Port: 831, Status: 1 });
    rights = new Set(['node:read:n2']);
    const filtered = 'x-service-results-filtered-by-acls';
    const some = await get('/v1/agent/members');
    const names = some.json.map((member: { Name: string }) => member.Name);
    expect([names, some.headers[filtered]]).to.deep.equal([['n2'], 'true']);
    rights = new Set(status.peers.map(({ name }) => `node:read:${name}`));
    const all = await get('/v1/agent/members');
    expect([all.json.length, all.headers[filtered]]).to.deep.equal([
      status.peers.length,
      undefined,
    ]);
  });

  it('filters its members by the fields that they show', async () => {
    const named = async (filter: string): Promise<string[]> => {
      const { json } = await get(`/v1/agent/members?filter=${encodeURIComponent(filter)}`);
      return json.map((member: { Name: string }) => member.Name);
    };
    expect(await named('Name == "n2"')).to.deep.equal(['n2']);
    expect(await named('Tags.dc == "dc1" and Status == 1')).to.include.members(['n1', 'n2']);
    expect(await named('Tags["dc"] != "dc1"')).to.deep.equal([]);
    const [code, sentence] = await send('GET', '/v1/agent/members?filter=Nme%3D%3Dn2');
    expect([code, sentence]).to.satisfy(([status, text]: [number, string]) => {
      return status === 400 && /^Invalid filter: .*"Nme"/.test(text);
    });
  });

  it('returns metrics as JSON and as Prometheus text', async () => {
    expect((await get('/v1/agent/metrics')).json).to.deep.equal({ Gauges: [] });
    const { text, headers } = await get('/v1/agent/metrics?format=prometheus');
    expect(text).to.equal('up 1\n');
    expect(headers['content-type']).to.equal('text/plain; version=0.0.4; charset=utf-8');
  });

  it('answers a batch of authorization checks in the form of the request', async () => {
    rights = new Set(['acl:read', 'service:write:web', 'key:list:a/b']);
    const path = '/v1/internal/acl/authorize';
    const [code, text] = await send('POST', path, [
      { Resource: 'acl', Access: 'READ' },
      { Resource: 'service', Access: 'write', Segment: 'web' },
      { Resource: 'service', Access: 'read', Segment: 'db' },
      { Resource: 'key', Access: 'list', Segment: 'a/b' },
    ]);
    expect(code).to.equal(200);
    expect(JSON.parse(text)).to.deep.equal([
      { Resource: 'acl', Access: 'READ', Allow: true },
      { Resource: 'service', Access: 'write', Segment: 'web', Allow: true },
      { Resource: 'service', Access: 'read', Segment: 'db', Allow: false },
      { Resource: 'key', Access: 'list', Segment: 'a/b', Allow: true },
    ]);
    expect(await send('POST', path, null)).to.deep.equal([200, '[]\n']);
    const refused = async (body: unknown): Promise<string> => {
      const [status, sentence] = await send('POST', path, body);
      expect(status).to.equal(400);
      return sentence;
    };
    expect(await refused({})).to.match(/^Failed to decode request body/);
    expect(await refused([{ Resource: 'nope', Access: 'read' }])).to.include(
      'Invalid ACL resource requested: "nope"',
    );
    expect(await refused([{ Resource: 'acl', Access: 'list' }])).to.include(
      'Invalid access level for acl resource: list',
    );
    expect(await refused(Array(65).fill({ Resource: 'acl', Access: 'read' }))).to.include(
      'Refusing to process more than 64 authorizations at once',
    );
  });
});
