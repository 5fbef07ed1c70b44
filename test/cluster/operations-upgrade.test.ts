import { expect } from 'chai';
import type { LocalCluster, LocalNode } from '../../src/dev/local.js';
import { SUPPORTED_LEVEL } from '../../src/state/levels.js';
import { send } from '../support/client.js';
import { Field, load, until } from './operator.js';
import { THIS_MAIN, unpackRelease } from './releases.js';

/** The response of GET /v1/operator/level. */
interface Levels {
  readonly Level: number;
  readonly Supported: number;
  readonly Waiting: readonly string[];
}

/** A splitter that breaks the chain of its own service, behind a router. */
const BROKEN = {
  Kind: 'service-splitter',
  Name: 'api',
  Splits: [{ Weight: 100, ServiceSubset: 'v9' }],
};
const FAULT = 'service "api" does not have a subset named "v9"';

describe('a rolling upgrade', () => {
  const field = new Field();
  const programs = new Map<string, string>();
  let release: string;
  let cluster: LocalCluster;
  before(async () => {
    release = await unpackRelease(field.dir());
    // Clients on a busy machine pause long between two requests to one node.
    const limits = { lingerMs: 4000, stopMs: 15_000 };
    const run = (name: string) => ({
      ...{ preload: [], env: {} },
      main: () => programs.get(name) ?? release,
    });
    cluster = await field.start(3, { settings: { limits }, run });
  });
  after(() => field.end());

  const levels = async ({ url }: LocalNode): Promise<Levels> => {
    const { status, text } = await send(url, 'GET /v1/operator/level', cluster);
    if (status !== 200) throw new Error(`${status} ${text}`);
    return JSON.parse(text) as Levels;
  };
  /** Waits until all members are at a level and know that of the others. */
  const reached = async (level: number): Promise<number> => {
    for (const node of cluster.nodes)
      await until(
        () => levels(node),
        ({ Level, Waiting }) => Level === level && Waiting.length === 0,
      );
    return level;
  };
  const restart = async (node: LocalNode, program: string): Promise<void> => {
    await node.kill('SIGTERM');
    programs.set(node.name, program);
    node.start();
    await node.ready();
  };

  const must = async (path: string, body: object): Promise<void> => {
    const { url } = cluster.nodes[0]!;
    const options = { token: cluster.token, body: JSON.stringify(body) };
    const { status, text } = await send(url, `PUT ${path}`, options);
    if (status !== 200) throw new Error(`${status} ${text}`);
  };
  const configEntry = ({ url }: LocalNode, method: string, path: string, body?: object) =>
    send(url, `${method} /v1/config${path}`, {
      token: cluster.token,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });

  /** Writes the entry that each level refuses in other words, through each node. */
  const breakChain = async (): Promise<readonly string[]> => {
    const replies = [];
    for (const node of cluster.nodes) {
      const { status, text } = await configEntry(node, 'PUT', '', BROKEN);
      replies.push(`${status} ${text.trim()}`);
    }
    return replies;
  };
  const BEFORE =
    '409 cannot write service-splitter "api" like this, ' +
    `service-router "api" needs it otherwise: ${FAULT}`;
  /** A leader of the previous release does not say which entry its refusal is about. */
  const HIDDEN = '409 cannot write service-splitter "api" like this, other entries do not allow it';

  it('from the previous release fails no request; the last node raises the level', async () => {
    const [n1, n2, n3] = cluster.nodes as [LocalNode, LocalNode, LocalNode];
    const top = SUPPORTED_LEVEL;
    const before = await reached(top - 1);
    await must('/v1/config', { Kind: 'proxy-defaults', Config: { protocol: 'http' } });
    await must('/v1/config', { Kind: 'service-router', Name: 'api' });
    const traffic = load(cluster, 8);
    try {
      await restart(n1, THIS_MAIN);
      expect(await levels(n1)).to.include({ Level: before, Supported: top });
      for (const reply of await breakChain()) expect(reply).to.be.oneOf([BEFORE, HIDDEN]);
      await restart(n2, THIS_MAIN);
      expect(await levels(n2)).to.deep.include({ Level: before, Waiting: ['n3'] });
      for (const reply of await breakChain()) expect(reply).to.be.oneOf([BEFORE, HIDDEN]);
      await restart(n3, THIS_MAIN);
      await reached(top);
    } finally {
      await traffic.stop();
    }
    const { written, failures } = await traffic.stop();
    expect(failures).to.deep.equal([]);
    expect(written).to.be.greaterThan(100);
  });

  it('enables what needs the new level, which all members decide alike', async () => {
    const after = `400 ${FAULT}`;
    expect(await breakChain()).to.deep.equal([after, after, after]);
  });

  it('cannot be undone: the previous release refuses the folder, this one continues', async () => {
    const n3 = cluster.nodes[2]!;
    await n3.kill('SIGTERM');
    programs.set(n3.name, release);
    n3.start();
    const failure = await n3.ready().catch((error: Error) => error.message);
    expect(failure).to.match(
      /n3 exited.*the cluster is at level 3, this release supports up to level 2/s,
    );
    programs.set(n3.name, THIS_MAIN);
    n3.start();
    await n3.ready();
  });

  it('keeps servers and clusters of the previous release apart from the new level', async () => {
    const { url } = cluster.nodes[0]!;
    const old = { preload: [], env: {}, main: () => release };
    const n4 = await field.joiner(cluster, 'n4', () => old);
    n4.start();
    const refused = await n4.ready().catch((error: Error) => error.message);
    expect(refused).to.contain(
      'The cluster is at level 3, and n4 runs a release that supports up to level 2',
    );
    const { bytes: body } = await send(url, 'GET /v1/snapshot', cluster);
    const apart = await field.start(1, { run: () => old });
    const restored = await send(apart.nodes[0]!.url, 'PUT /v1/snapshot', { ...apart, body });
    expect(restored.status).to.equal(400);
    expect(restored.text).to.contain('level 3');
  });
});
