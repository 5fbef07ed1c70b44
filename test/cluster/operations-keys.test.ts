/** Members of the previous release, which have no keys, beside members of this one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { LocalCluster, LocalNode } from '../../src/dev/local.js';
import { send } from '../support/client.js';
import { Field, until } from './operator.js';
import { THIS_MAIN, unpackRelease } from './releases.js';

/** What of `node.json` is looked at here. */
interface Stored {
  readonly nodeId: string;
  readonly keyPair?: { readonly publicKey: string };
  readonly seen: Readonly<Record<string, { readonly publicKey?: string }>>;
}

describe('the keys of data folders in a rolling upgrade', () => {
  const field = new Field();
  const programs = new Map<string, string>();
  let release: string;
  let cluster: LocalCluster;
  before(async () => {
    release = await unpackRelease(field.dir());
    const run = (name: string) => ({
      preload: [],
      env: {},
      main: () => programs.get(name) ?? release,
    });
    cluster = await field.start(3, { run });
  });
  after(() => field.end());

  const stored = ({ name }: LocalNode): Stored =>
    JSON.parse(readFileSync(join(cluster.dir, name, 'node.json'), 'utf8')) as Stored;
  const restart = async (node: LocalNode, program: string): Promise<void> => {
    await node.kill('SIGTERM');
    programs.set(node.name, program);
    node.start();
    await node.ready();
  };
  const write = async (value: string): Promise<void> => {
    for (const node of cluster.nodes) {
      const body = JSON.stringify({ Kind: 'service-defaults', Name: value, Protocol: 'http' });
      const { status } = await send(node.url, 'PUT /v1/config', { token: cluster.token, body });
      expect(status, node.name).to.equal(200);
    }
  };
  const keysSeenBy = (node: LocalNode, of: readonly LocalNode[]) =>
    of.map((other) => stored(node).seen[stored(other).nodeId]?.publicKey);

  /** A member goes back to the previous release, is refused where its key is known, and returns. */
  const goBack = async (node: LocalNode, by: LocalNode): Promise<void> => {
    const { keyPair } = stored(node);
    await node.kill('SIGTERM');
    programs.set(node.name, release);
    node.start();
    const why = 'does not prove that it has the key of its data folder, as it did before';
    for (const each of [node, by])
      await until(
        async () => logOf(each),
        (log) => log.includes(why),
      );
    await restart(node, THIS_MAIN);
    expect(stored(node).keyPair).to.deep.equal(keyPair);
  };
  const logOf = ({ name }: LocalNode): string =>
    readFileSync(join(cluster.dir, `${name}.log`), 'utf8');

  it('members with and without them work together, and each is recorded as it comes', async () => {
    const [n1, n2, n3] = cluster.nodes as [LocalNode, LocalNode, LocalNode];
    await write('before');
    expect(stored(n1).keyPair).to.equal(undefined);
    await restart(n1, THIS_MAIN);
    await write('one');
    expect(stored(n1).keyPair).to.have.property('publicKey');
    expect(keysSeenBy(n1, [n2, n3])).to.deep.equal([undefined, undefined]);
    await restart(n2, THIS_MAIN);
    await write('two');
    await until(
      async () => keysSeenBy(n1, [n2, n3]).concat(keysSeenBy(n2, [n1, n3])),
      ([second, third, first]) => third === undefined && Boolean(first) && Boolean(second),
    );
    // A restart in between: the recorded key still fits.
    await restart(n1, THIS_MAIN);
    await write('again');
    await goBack(n2, n1);
    await restart(n3, THIS_MAIN);
    await write('three');
    const keys = cluster.nodes.map((node) => stored(node).keyPair!.publicKey);
    expect(new Set(keys).size).to.equal(3);
    await until(
      async () => cluster.nodes.map(logOf),
      (logs) => logs.every((log) => keys.every((key) => log.includes(`has the key ${key}`))),
    );
  });
});
