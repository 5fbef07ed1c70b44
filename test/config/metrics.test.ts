import { expect } from 'chai';
import type { Route } from '../../src/http/types.js';
import { Metrics } from '../../src/metrics.js';
import type { NodeStatus } from '../../src/node/types.js';

describe('metrics', () => {
  let metrics: Metrics;
  const role: Route = { path: '/v1/acl/role/:id' };
  const status = {
    role: 'leader',
    term: 7,
    leaderId: 'a',
    commitIndex: 5,
    appliedIndex: 5,
    lastLogIndex: 6,
    lastContactMs: 40,
    peers: [{}],
  } as unknown as NodeStatus;
  beforeEach(() => {
    metrics = new Metrics({
      status: () => status,
      held: () => 3,
      refused: () => ({ loginsPerAddress: 2, connections: 5 }),
      connections: () => 4,
      level: () => 2,
      loop: () => ({ appends: 1, entriesAppended: 2, stalls: 0, stallMsMax: 250 }),
      disks: () => ({ logWaitMs: 1500, stateWaitMs: 20 }),
      comparison: () => ({ rounds: 9, incomparable: 2, differing: 0 }),
      rights: () => ({ tokens: 8, rights: 2, bytes: 5000 }),
      refusedLogins: () => new Map([['token', 3]]),
    });
  });
  afterEach(() => metrics.close());
  const lines = async (name: string): Promise<string[]> =>
    (await metrics.prometheus()).split('\n').filter((line) => line.startsWith(name));

  it('show the current state of the node', async () => {
    for (const line of [
      'conclave_raft_term 7',
      'conclave_raft_leader 1',
      'conclave_http_held 3',
      'conclave_level 2',
      'conclave_raft_stall_max_seconds 0.25',
      'conclave_raft_log_wait_seconds 1.5',
      'conclave_state_wait_seconds 0.02',
      'conclave_state_comparisons_total 9',
      'conclave_state_not_compared_total 2',
      'conclave_acl_rights_cached 2',
      'conclave_login_refused_total{cause="token"} 3',
    ])
      expect(await lines(line.split(/[ {]/)[0]!)).to.deep.equal([line]);
    expect(await lines('conclave_event_loop_delay_p99_seconds')).to.have.length(1);
  });

  it('count refused requests by the name of the limit', async () => {
    expect(await lines('conclave_http_refused_total')).to.have.members([
      'conclave_http_refused_total{limit="loginsPerAddress"} 2',
      'conclave_http_refused_total{limit="connections"} 5',
    ]);
    const { Gauges } = (await metrics.json()) as { Gauges: { Name: string }[] };
    const refused = Gauges.filter(({ Name }) => Name === 'conclave_http_refused_total');
    expect(refused).to.deep.include({
      Name: 'conclave_http_refused_total',
      Value: 2,
      Labels: { limit: 'loginsPerAddress' },
    });
  });

  it('count requests by route, method and status class, in cumulative buckets', async () => {
    for (const ms of [0.4, 4, 40_000])
      metrics.observe({ route: role, method: 'GET', status: 200, ms });
    metrics.observe({ route: role, method: 'GET', status: 404, ms: 1 });
    const labels = 'route="/v1/acl/role/:id",method="GET",status="2xx"';
    const all = await lines('conclave_http_request_seconds');
    expect(all).to.include(`conclave_http_request_seconds_bucket{${labels},le="0.0005"} 1`);
    expect(all).to.include(`conclave_http_request_seconds_bucket{${labels},le="0.005"} 2`);
    expect(all).to.include(`conclave_http_request_seconds_bucket{${labels},le="10"} 2`);
    expect(all).to.include(`conclave_http_request_seconds_bucket{${labels},le="+Inf"} 3`);
    expect(all).to.include(`conclave_http_request_seconds_count{${labels}} 3`);
    expect(all.some((line) => /_count\{.*status="4xx"\} 1$/.test(line))).to.equal(true);
  });

  it('show the same figures as JSON', async () => {
    metrics.observe({ route: role, method: 'PUT', status: 200, ms: 2 });
    metrics.observe({ route: role, method: 'PUT', status: 200, ms: 4 });
    const json = (await metrics.json()) as {
      Gauges: object[];
      Samples: object[];
      Timestamp: string;
    };
    expect(json.Timestamp).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC$/);
    const gauge = { Name: 'conclave_raft_commit_index', Value: 5, Labels: {} };
    expect(json.Gauges).to.deep.include(gauge);
    expect(json.Samples).to.deep.equal([
      {
        Name: 'conclave_http_request_seconds',
        Count: 2,
        Sum: 0.006,
        Min: 0.002,
        Max: 0.004,
        Mean: 0.003,
        Labels: { route: '/v1/acl/role/:id', method: 'PUT', status: '2xx' },
      },
    ]);
  });
});
