/** What a node records of itself, and while it stops. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Client } from '../support/client.js';
import { RealCluster } from '../support/real-cluster.js';

interface Payload {
  readonly type: string;
  readonly request: Readonly<Record<string, string>>;
  readonly index: number;
  readonly objects: readonly { readonly name: string }[];
}
interface Server {
  readonly Node: string;
  readonly Leader: boolean;
}
const recordsIn = (path: string): Payload[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).payload);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('audit: the record of a raised level', () => {
  it('has the index of its entry', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'conclave-audit-')), 'a.json');
    const node = await RealCluster.open(1, { settings: { audit: { sinks: { main: { path } } } } });
    try {
      const isRaised = ({ request }: Payload): boolean =>
        /^system\.level /.test(request.operation!);
      while (!recordsIn(path).some(isRaised)) await pause(10);
      const { type, request, index } = recordsIn(path).find(isRaised)!;
      const { Level } = await node.must('GET /operator/level');
      expect([type, request.operation]).to.deep.equal(['SystemEvent', `system.level ${Level}`]);
      expect(index).to.be.greaterThan(0);
    } finally {
      await node.close();
    }
  });
});

describe('audit: a required record', () => {
  it('is in the file for a write that commits while its node stops', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'conclave-audit-'));
    const path = (name: string): string => join(folder, `${name}.json`);
    const sinksOf = (name: string): string =>
      JSON.stringify({ main: { path: path(name), deliveryGuarantee: 'required' } });
    const cluster = await RealCluster.open(3, {
      settings: {
        // the leader neither gives up nor loses the others while they are halted
        raft: { electionMs: 3000 },
        limits: { requestMs: 12_000, stopMs: 50, lingerMs: 1 },
      },
      run: (name) => ({ preload: [], env: { CONCLAVE_AUDIT_SINKS: sinksOf(name) } }),
    });
    try {
      const { body } = await cluster.ask('GET /operator/raft/configuration');
      const isLeader = ({ Leader }: Server): boolean => Leader;
      const { Node } = (body.Servers as Server[]).find(isLeader)!;
      const leader = cluster.nodes.find(({ name }) => name === Node)!;
      const others = cluster.nodes.filter((node) => node !== leader);
      for (const other of others) await other.kill('SIGSTOP');
      const at = new Client(leader.url, cluster.token);
      const open = at.ask('PUT /acl/role', { Name: 'open' }).catch(() => 'cut');
      const indexes = async (): Promise<number[]> => {
        const { text } = await at.ask('GET /agent/metrics?format=prometheus');
        return ['commit', 'last_log'].map((name) =>
          Number(new RegExp(`^conclave_raft_${name}_index (\\d+)$`, 'm').exec(text)![1]),
        );
      };
      for (;;) {
        const [commit, last] = await indexes();
        if (last! > commit!) break;
        await pause(5);
      }
      const stopped = leader.kill('SIGTERM');
      expect(await open).to.equal('cut');
      for (const other of others) await other.kill('SIGCONT');
      await stopped;
      const [record] = recordsIn(path(Node)).filter(({ type }) => type === 'HTTPEvent');
      expect(record?.request.endpoint).to.equal('/v1/acl/role');
      expect(record?.objects.map(({ name }) => name)).to.deep.equal(['open']);
    } finally {
      for (const node of cluster.nodes) await node.kill('SIGCONT');
      await cluster.close();
    }
  });
});
