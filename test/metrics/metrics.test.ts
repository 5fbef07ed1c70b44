import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import type { Route } from '../../src/http/routes/types.js';
import { Metrics } from '../../src/metrics/metrics.js';
import { Replication } from '../../src/metrics/replication.js';
import { parts, STATUS } from './parts.js';
import { promtool } from './promtool.js';

interface Json {
  readonly Timestamp: string;
  readonly Gauges: object[];
  readonly Counters: object[];
  readonly Samples: object[];
}

describe('metrics', () => {
  const role: Route = { path: '/v1/acl/role/:id' };
  const request = { route: role, method: 'GET', status: 200, heldMs: 0 } as const;
  let metrics: Metrics;
  beforeEach(() => {
    metrics = new Metrics(parts());
  });
  const lines = async (name: string): Promise<string[]> =>
    metrics
      .prometheus()
      .split('\n')
      .filter((line) => line.startsWith(name));
  const json = (): Json => metrics.json() as Json;

  it('show the current state of the node', async () => {
    for (const line of [
      'conclave_raft_term 7',
      'conclave_raft_leader 1',
      'conclave_raft_voters 3',
      'conclave_http_held 3',
      'conclave_rights_feeds 1',
      'conclave_http_held_limit 30',
      'conclave_level 2',
      'conclave_raft_stall_max_seconds 0.25',
      'conclave_raft_log_wait_seconds 1.5',
      'conclave_state_wait_seconds 0.02',
      'conclave_state_comparisons_total 9',
      'conclave_state_not_compared_total 2',
      'conclave_acl_rights_cached 2',
      'conclave_login_refused_total{cause="token"} 3',
      'conclave_objects{type="policy"} 4',
      'conclave_config_entries{kind="mesh"} 1',
      'conclave_tls_not_after_timestamp_seconds{use="api"} 1800000000',
      'conclave_node_info{node="n1",node_id="a",datacenter="dc1"} 1',
    ]) {
      const name = line.slice(0, line.search(/[ {]/));
      expect((await lines(`${name} `)).concat(await lines(`${name}{`))).to.deep.equal([line]);
    }
    expect((await lines('conclave_build_info'))[0]).to.match(/version="1\.2\.3",revision="abc"/);
  });

  it('show what each peer of the leader lacks, all from one status', async () => {
    let reads = 0;
    const status = () => {
      reads += 1;
      return STATUS;
    };
    metrics = new Metrics(parts({ status }));
    expect(await lines('conclave_raft_peer_lag_entries')).to.deep.equal([
      'conclave_raft_peer_lag_entries{peer="n2"} 1',
      'conclave_raft_peer_lag_entries{peer="n3"} 2',
    ]);
    expect(reads).to.equal(1);
    expect(await lines('conclave_raft_peer_last_contact_seconds')).to.have.length(2);
    metrics = new Metrics(parts({ status: () => ({ ...STATUS, role: 'follower' }) }));
    expect(await lines('conclave_raft_peer')).to.deep.equal(['conclave_raft_peers 3']);
  });

  it('name peers of the same name by their ids', async () => {
    const peers = STATUS.peers.map((peer) => ({ ...peer, name: 'same' }));
    metrics = new Metrics(parts({ status: () => ({ ...STATUS, peers }) }));
    expect((await lines('conclave_raft_peer_lag_entries'))[0]).to.match(/\{peer="b"\} 1$/);
  });

  it('show what was measured while replicating, of members only', async () => {
    const replication = new Replication();
    metrics = new Metrics(parts({ replication }));
    replication.logSynced(2);
    replication.applied(0.3);
    replication.appendAcknowledged('b', 4);
    replication.appendAcknowledged('removed', 4);
    replication.snapshotInstalled(700);
    const counts = (await lines('conclave_')).filter((line) =>
      /_duration_seconds_count.* [^0]/.test(line),
    );
    expect(counts).to.deep.equal([
      'conclave_raft_log_sync_duration_seconds_count 1',
      'conclave_raft_apply_duration_seconds_count 1',
      'conclave_raft_append_duration_seconds_count{peer="n2"} 1',
      'conclave_snapshot_duration_seconds_count{operation="install"} 1',
    ]);
    const sync = await lines('conclave_raft_log_sync_duration_seconds_bucket');
    expect(sync).to.include('conclave_raft_log_sync_duration_seconds_bucket{le="0.001"} 0');
    expect(sync).to.include('conclave_raft_log_sync_duration_seconds_bucket{le="0.0025"} 1');
  });

  it('count leaders: a new one, and the same one in a new term', async () => {
    const replication = new Replication();
    metrics = new Metrics(parts({ replication }));
    for (const [leader, term] of [
      [null, 1],
      ['a', 1],
      ['a', 1],
      [null, 2],
      ['a', 2],
      ['b', 3],
    ] as const)
      replication.roleChanged({ leader, term });
    const [line] = await lines('conclave_raft_leader_changes_total');
    expect(line).to.equal('conclave_raft_leader_changes_total 3');
  });

  it('count refused requests by the name of the limit', async () => {
    expect(await lines('conclave_http_refused_total')).to.have.members([
      'conclave_http_refused_total{limit="loginsPerAddress"} 2',
      'conclave_http_refused_total{limit="connections"} 5',
    ]);
    expect(json().Counters).to.deep.include({
      Name: 'conclave_http_refused_total',
      Count: 2,
      Sum: 2,
      Labels: { limit: 'loginsPerAddress' },
    });
  });

  it('count requests by route, method and status class, in cumulative buckets', async () => {
    for (const ms of [0.4, 4, 40_000]) metrics.observe({ ...request, ms });
    metrics.observe({ ...request, status: 404, ms: 1 });
    const labels = 'route="/v1/acl/role/:id",method="GET",status="2xx"';
    const name = 'conclave_http_request_duration_seconds';
    const all = await lines(name);
    expect(all).to.include(`${name}_bucket{${labels},le="0.0005"} 1`);
    expect(all).to.include(`${name}_bucket{${labels},le="0.005"} 2`);
    expect(all).to.include(`${name}_bucket{${labels},le="10"} 2`);
    expect(all).to.include(`${name}_bucket{${labels},le="+Inf"} 3`);
    expect(all).to.include(`${name}_count{${labels}} 3`);
    expect(all.some((line) => /_count\{.*status="4xx"\} 1$/.test(line))).to.equal(true);
  });

  it('count the time for which a blocking query is held apart from its latency', async () => {
    metrics.observe({ ...request, ms: 60_003, heldMs: 60_000 });
    const [sum] = await lines('conclave_http_request_duration_seconds_sum');
    expect(sum).to.match(/ 0\.003$/);
    expect(await lines('conclave_http_hold_duration_seconds_sum')).to.deep.equal([
      'conclave_http_hold_duration_seconds_sum{route="/v1/acl/role/:id"} 60',
    ]);
  });

  it('show how long archives took', async () => {
    const route: Route = { path: '/v1/snapshot' };
    metrics.observe({ route, method: 'GET', status: 200, ms: 3000, heldMs: 0 });
    metrics.observe({ route, method: 'PUT', status: 200, ms: 5000, heldMs: 0 });
    metrics.observe({ route, method: 'PUT', status: 400, ms: 5000, heldMs: 0 });
    expect(await lines('conclave_snapshot_duration_seconds_sum')).to.deep.equal([
      'conclave_snapshot_duration_seconds_sum{operation="save"} 3',
      'conclave_snapshot_duration_seconds_sum{operation="restore"} 5',
      'conclave_snapshot_duration_seconds_sum{operation="send"} 0',
      'conclave_snapshot_duration_seconds_sum{operation="install"} 0',
    ]);
  });

  it('show when the last whole archive was sent, 0 while there is none', async () => {
    const route: Route = { path: '/v1/snapshot' };
    const save = { route, method: 'GET', status: 200, ms: 1, heldMs: 0 } as const;
    const name = 'conclave_snapshot_last_save_timestamp_seconds';
    metrics.observe({ ...save, isCut: true });
    metrics.observe({ ...save, method: 'PUT' });
    metrics.observe({ ...save, status: 403 });
    expect(await lines(name)).to.deep.equal([`${name} 0`]);
    const before = Date.now() / 1000;
    metrics.observe(save);
    const [line] = await lines(name);
    expect(Number(line!.split(' ')[1])).to.be.within(before, Date.now() / 1000);
  });

  it('show the disk and the process', async () => {
    await metrics.start();
    for (const name of ['conclave_disk_free_bytes', 'conclave_disk_size_bytes', 'process_open_fds'])
      expect(Number((await lines(name))[0]?.split(' ')[1]), name).to.be.greaterThan(0);
    const [start] = await lines('process_start_time_seconds');
    expect(Number(start!.split(' ')[1])).to.be.closeTo(performance.timeOrigin / 1000, 1);
  });

  it('show the same figures as JSON, gauges and counters apart', async () => {
    metrics.observe({ ...request, method: 'PUT', ms: 2 });
    metrics.observe({ ...request, method: 'PUT', ms: 4 });
    const { Timestamp, Gauges, Counters, Samples } = json();
    expect(Timestamp).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC$/);
    const gauge = { Name: 'conclave_raft_commit_index', Value: 5, Labels: {} };
    expect(Gauges).to.deep.include(gauge);
    const counter = { Name: 'conclave_raft_entries_total', Count: 2, Sum: 2, Labels: {} };
    expect(Counters).to.deep.include(counter);
    for (const { Name } of Gauges as { Name: string }[]) expect(Name).not.to.match(/_total$/);
    for (const { Name, Count } of Counters as { Name: string; Count: number }[]) {
      expect(Name).to.match(/_total$/);
      expect(Number.isInteger(Count), Name).to.equal(true);
    }
    expect(Samples).to.deep.equal([
      {
        Name: 'conclave_http_request_duration_seconds',
        Count: 2,
        Sum: 0.006,
        Min: 0.002,
        Max: 0.004,
        Mean: 0.003,
        Labels: { route: '/v1/acl/role/:id', method: 'PUT', status: '2xx' },
      },
    ]);
  });

  it('are the same for every reader', async () => {
    metrics.observe({ ...request, ms: 2 });
    const counts = async () =>
      (await lines('conclave_')).filter((line) => /_(bucket|count|sum|total)/.test(line));
    const before = await counts();
    json();
    expect(await counts()).to.deep.equal(before);
  });

  it('escape what labels may contain', async () => {
    const release = { version: 'a"b\\c\nd', sha: '', date: '' };
    metrics = new Metrics(parts({ release }));
    expect((await lines('conclave_build_info'))[0]).to.include('version="a\\"b\\\\c\\nd"');
  });

  it(`have names and a form that promtool accepts${promtool.note}`, async () => {
    if (promtool.path === undefined) return;
    const replication = new Replication();
    metrics = new Metrics(parts({ replication }));
    metrics.observe({ ...request, ms: 5, heldMs: 1 });
    replication.appendAcknowledged('b', 4);
    const input = metrics.prometheus();
    const { status, stdout, stderr } = spawnSync(promtool.path, ['check', 'metrics'], { input });
    expect([`${stdout}${stderr}`, status]).to.deep.equal(['', 0]);
  });
});
