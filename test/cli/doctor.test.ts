import { expect } from 'chai';
import type { ClusterView } from '../../src/cli/client/cluster.js';
import {
  auditFindings,
  backupFinding,
  bySeverity,
  clusterFindings,
  diskFinding,
  ending,
  endingFindings,
  samplesIn,
  summary,
} from '../../src/cli/commands/doctor.js';
import { sizeText } from '../../src/cli/print/progress.js';
import { compare } from '../../src/program/offline.js';
import { text } from './fake-server.js';
import { fakeStage } from './fake-stage.js';

const server = (Name: string, Status: string, Healthy = true) => ({
  ID: Name,
  Name,
  Address: `${Name}:8300`,
  NodeStatus: Healthy ? 'alive' : 'failed',
  LastContact: '0s',
  LastIndex: 9,
  Healthy,
  Status,
});

const view = (servers: readonly ReturnType<typeof server>[], more: object = {}): ClusterView =>
  ({
    autopilot: {
      Healthy: servers.every(({ Healthy }) => Healthy),
      FailureTolerance: 1,
      Leader: 'n1',
      Voters: servers.filter(({ Status }) => Status !== 'non-voter').map(({ ID }) => ID),
      Servers: Object.fromEntries(servers.map((one) => [one.ID, one])),
      ...more,
    },
    level: { Level: 2, Supported: 2, Members: [], Waiting: [] },
    isStale: false,
    // The findings do not look at the node itself.
  }) as unknown as ClusterView;

const badOf = (seen: ClusterView): string[] =>
  clusterFindings(seen)
    .filter(({ Result }) => Result !== 'ok')
    .map(({ Check, Result }) => `${Result} ${Check}`);

describe('what the doctor finds', () => {
  const three = [server('n1', 'leader'), server('n2', 'voter'), server('n3', 'voter')];
  it('has the worst first, and one line for all checks of a kind that are in order', () => {
    const of = (Check: string, Result: 'ok' | 'warning' | 'error', Text: string) => {
      return { Check, Result, Text };
    };
    const found = [
      of('disk', 'ok', 'a has room'),
      of('voters', 'warning', 'two'),
      of('node', 'error', 'down'),
      of('disk', 'ok', 'b has room'),
      of('level', 'ok', '3'),
    ];
    const checks = bySeverity(found).map(({ Check }) => Check);
    expect(checks).to.deep.equal(['node', 'voters', 'disk', 'disk', 'level']);
    expect(summary(found)).to.deep.equal([of('disk', 'ok', '2 in order'), of('level', 'ok', '3')]);
  });

  it('is nothing in a healthy cluster', () => expect(badOf(view(three))).to.deep.equal([]));

  it('is a member that is away, and that no more may be lost', () => {
    const ill = [...three.slice(0, 2), server('n3', 'voter', false)];
    const found = badOf(view(ill, { FailureTolerance: 0 }));
    expect(found).to.deep.equal(['error members', 'error tolerance']);
  });

  it('is an even number of voters, and who does not vote yet', () => {
    const four = [...three, server('n4', 'voter'), server('n5', 'non-voter')];
    expect(badOf(view(four))).to.deep.equal(['warning voters', 'warning learners']);
  });

  it('is a level that waits, and a leader that is missing', () => {
    const level = { Level: 1, Supported: 2, Members: [], Waiting: ['n3'] };
    expect(badOf({ ...view(three), level })).to.deep.equal(['warning level']);
    expect(badOf({ ...view(three), isStale: true })).to.deep.equal(['error leader']);
  });

  it('is a certificate that ends soon, or has ended', () => {
    const nowMs = Date.parse('2026-03-01T12:00:00Z');
    const found = (end: string) => {
      const { Result, Text } = ending('a:1', new Date(end), nowMs);
      return `${Result} ${Text}`;
    };
    expect(found('2027-03-01T12:00:00Z')).to.equal('ok a:1 expires on 2027-03-01, in 365 days');
    expect(found('2026-03-02T13:00:00Z')).to.equal('warning a:1 expires on 2026-03-02, in 1 day');
    expect(found('2026-03-01T11:59:59Z')).to.equal('error a:1 expired on 2026-03-01');
  });

  it('names the certificates and the revocation list of the metrics', () => {
    const name = 'conclave_tls_not_after_timestamp_seconds';
    const metrics = `${name}{use="raft"} 1000000\n${name}{use="raft_crl"} 90000\n`;
    const found = endingFindings(metrics, 'a:1', 86_400_000);
    expect(found.map(({ Result, Text }) => `${Result} ${Text}`)).to.deep.equal([
      'warning a:1: the certificate for raft expires on 1970-01-12, in 10 days',
      'warning a:1: the list of revoked certificates expires on 1970-01-02, in less than a day',
    ]);
  });

  it('says which audit sinks have lost records', () => {
    const name = 'conclave_audit_dropped_total';
    const found = auditFindings(`${name}{sink="main"} 0\n${name}{sink="ship"} 3\n`, 'a:1');
    expect(found.map(({ Result, Text }) => `${Result} ${Text}`)).to.deep.equal([
      'ok a:1 has all records of the audit sink main',
      'warning a:1 has lost 3 records of the audit sink ship: see its log',
    ]);
    expect(auditFindings('', 'a:1')).to.deep.equal([]);
  });

  it('reads samples with labels and without', () => {
    const text = '# HELP a x\na_b 3\na 1\nb{node="n1"} 2\nb{node="n2"} 1.7e9\n';
    const values = (name: string) => samplesIn(text, name).map(({ value }) => value);
    expect([values('a'), values('b'), values('c')]).to.deep.equal([[1], [2, 1.7e9], []]);
    expect(samplesIn(text, 'b')[1]!.labels).to.equal('node="n2"');
  });

  it('is a disk at its reserve, or one that holds a write', () => {
    const result = (text: string) => diskFinding(text, 'a:1').Result;
    expect(result('conclave_faulted 0\nconclave_state_wait_seconds 0.1\n')).to.equal('ok');
    expect(result('conclave_faulted 1\n')).to.equal('error');
    expect(result('conclave_raft_log_wait_seconds{x="y"} 2\n')).to.equal('warning');
    const { Text } = diskFinding('conclave_disk_free_bytes 1500000\n', 'a:1');
    expect(Text).to.equal('a:1 has 1.5 MB free and makes progress');
  });
});

describe('the nodes that the doctor asks', () => {
  const { user, fake } = fakeStage();

  for (const option of ['--url', '--http-addr'])
    it(`are all those of ${option}`, async () => {
      const addresses = [];
      for (let node = 1; node <= 3; node += 1)
        addresses.push(await fake.serve(text(500, `${node} is ill`)));
      const { code, out } = await user.run(['doctor', option, addresses.join(',')]);
      expect(code).to.equal(1);
      for (const node of [1, 2, 3])
        expect(out).to.match(new RegExp(`^error +node .*${node} is ill$`, 'm'));
    });
});

describe('the age of the last backup', () => {
  const now = Date.parse('2030-01-31T12:00:00Z');
  const hours = (count: number): number => now - count * 3_600_000;
  const node = (place: string, startedMs: number, savedMs?: number) => ({
    place,
    startedMs,
    savedMs,
  });
  for (const [what, nodes, result, text] of [
    [
      'is that of the newest, and who sent it',
      [node('a:1', hours(200), hours(30)), node('b:1', hours(90), hours(5)), node('c:1', hours(9))],
      'ok',
      'saved 5 h ago through b:1',
    ],
    [
      'is told when there is hardly any',
      [node('a:1', hours(1), now - 900)],
      'ok',
      'saved less than a minute ago through a:1',
    ],
    [
      'is found after two days',
      [node('a:1', hours(200), hours(49)), node('b:1', hours(1))],
      'warning',
      'the last known one was saved 2 days ago through a:1: run conclave snapshot save',
    ],
    [
      'is found where there is none, a day after the first start of the nodes',
      [node('a:1', hours(72)), node('b:1', hours(25))],
      'warning',
      'none was saved through a:1, b:1 in the last 3 days: run conclave snapshot save',
    ],
    [
      'is not known of nodes that have just started',
      [node('a:1', hours(0.5)), node('b:1', hours(23))],
      'ok',
      'none was saved since the nodes started 23 h ago; earlier ones are not known',
    ],
  ] as const)
    it(what, () =>
      expect(backupFinding(nodes, now)).to.deep.equal([
        { Check: 'backup', Result: result, Text: text },
      ]),
    );

  it('is not told of nodes that do not tell it', () =>
    expect(backupFinding([], now)).to.deep.equal([]));
});

describe('sizes', () => {
  for (const [bytes, text] of [
    [0, '0 B'],
    [999, '999 B'],
    [1500, '1.5 kB'],
    [12_345_678, '12.3 MB'],
  ] as const)
    it(`${bytes} is ${text}`, () => expect(sizeText(bytes)).to.equal(text));
});

describe('folders of stopped nodes', () => {
  const facts = (lastTerm: number, lastIndex: number, more: object = {}) => ({
    nodeId: 'x',
    clusterId: 'c',
    term: lastTerm,
    lastIndex,
    lastTerm,
    appliedIndex: lastIndex,
    checksums: { config: String(lastIndex) },
    configuration: { members: [] },
    damage: [],
    ...more,
  });

  it('are compared by term, then index', () => {
    const found = compare([
      ['a', facts(2, 90)],
      ['b', facts(3, 80)],
    ]);
    expect(found).to.deep.equal(['b: the most complete log without damage']);
  });

  it('with damage come after those without', () => {
    const found = compare([
      ['a', facts(2, 90, { damage: ['x'] })],
      ['b', facts(2, 80)],
    ]);
    expect(found).to.deep.equal(['b: the most complete log without damage']);
  });

  it('have like states at like indexes, or it is told', () => {
    const found = compare([
      ['a', facts(2, 90)],
      ['b', facts(2, 90)],
      ['c', facts(2, 90, { checksums: { config: 'other' } })],
    ]);
    expect(found).to.deep.equal([
      'all have the same log',
      'the states of a and b at index 90 are alike',
      'the states of a and c at index 90 DIFFER in config',
      'the states of b and c at index 90 DIFFER in config',
    ]);
  });

  it('of other clusters are told', () => {
    const found = compare([
      ['a', facts(2, 90)],
      ['b', facts(2, 90, { clusterId: 'd' })],
    ]);
    expect(found).to.deep.equal(['these folders belong to different clusters']);
  });
});
