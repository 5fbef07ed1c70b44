import { expect } from 'chai';
import type { LocalCluster, LocalNode } from '../../cluster/local.js';
import { SUPPORTED_LEVEL } from '../../src/state/levels.js';
import { ask, Field, load, until } from './operator.js';
import { NEXT_MAIN, unpackRelease } from './releases.js';

/** The answer of GET /v1/operator/level. */
interface Levels {
  readonly Level: number;
  readonly Supported: number;
  readonly Waiting: readonly string[];
}

describe('a rolling upgrade', function () {
  this.timeout(120_000);
  const field = new Field();
  const programs = new Map<string, string>();
  let release: string;
  let cluster: LocalCluster;
  before(async () => {
    release = await unpackRelease(field.dir());
    // clients on a busy machine pause long between two requests to one node
    const limits = { lingerMs: 4000, stopMs: 15_000 };
    const run = (name: string) => ({
      ...{ preload: [], env: {} },
      main: () => programs.get(name) ?? release,
    });
    cluster = await field.start(3, { settings: { limits }, run });
  });
  after(() => field.end());

  const levels = async ({ url }: LocalNode): Promise<Levels> => {
    const { status, body } = await ask(url, 'GET', '/v1/operator/level', cluster);
    if (status !== 200) throw new Error(`${status} ${body}`);
    return JSON.parse(body) as Levels;
  };
  const restart = async (node: LocalNode, program: string): Promise<void> => {
    await node.kill('SIGTERM');
    programs.set(node.name, program);
    node.start();
    await node.ready();
  };

  it('from the release before fails no request, and raises the level with the last node', async () => {
    const [n1, n2, n3] = cluster.nodes as [LocalNode, LocalNode, LocalNode];
    const top = SUPPORTED_LEVEL + 1;
    const before = (await levels(n1)).Level;
    expect(before).to.be.lessThan(top);
    const traffic = load(cluster, 8);
    try {
      await restart(n1, NEXT_MAIN);
      expect(await levels(n1)).to.include({ Level: before, Supported: top });
      await restart(n2, NEXT_MAIN);
      expect(await levels(n2)).to.deep.include({ Level: before, Waiting: ['n3'] });
      await restart(n3, NEXT_MAIN);
      for (const node of cluster.nodes)
        await until(
          () => levels(node),
          ({ Level, Waiting }) => Level === top && Waiting.length === 0,
        );
    } finally {
      await traffic.stop();
    }
    const { written, failures } = await traffic.stop();
    expect(failures).to.deep.equal([]);
    expect(written).to.be.greaterThan(100);
  });

  it('is not undone: the release before refuses the folder, and the next one goes on with it', async () => {
    const n3 = cluster.nodes[2]!;
    await n3.kill('SIGTERM');
    programs.set(n3.name, release);
    n3.start();
    const failure = await n3.ready().catch((error: Error) => error.message);
    expect(failure).to.match(
      /n3 ended.*the state was written by another version: the cluster is at level/s,
    );
    programs.set(n3.name, NEXT_MAIN);
    n3.start();
    await n3.ready();
  });
});
