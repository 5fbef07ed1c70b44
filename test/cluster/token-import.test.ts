/** Tokens that come from elsewhere, on real nodes of which the leader dies. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { send } from '../support/client.js';
import { RealCluster } from '../support/real-cluster.js';
import { bytesOf, until } from './operator.js';

const accessor = (n: number): string => `8a2d0000-1111-4222-8333-${String(n).padStart(12, '0')}`;
const secret = (n: number): string => `5ec7e701-9d3f-4b52-9c1e-${String(7e11 + n)}`;
const tokens = (from: number, to: number, Description = 'moved') =>
  Array.from({ length: to - from }, (_, at) => ({
    AccessorID: accessor(from + at),
    SecretID: secret(from + at),
    Description,
  }));

describe('imported tokens in a cluster', () => {
  let cluster: RealCluster;
  before(async () => {
    cluster = await RealCluster.open(3, {
      settings: { limits: { requestMs: 2000, secretsGoneMs: 8000 } },
    });
  });
  after(() => cluster.close());

  const ask = async (node: number, call: string, body?: object, token = cluster.token) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return send(cluster.urls[node]!, call, { token, ...sent });
  };
  /** Sends it to these nodes in turn until it is made: one that stands still answers 503. */
  const take = async (body: object, nodes: readonly number[] = [0]) => {
    for (let tries = 0; ; tries += 1) {
      const node = nodes[tries % nodes.length]!;
      const sent = ask(node, 'POST /v1/acl/tokens/import', { Source: 'dc1', ...body });
      const answer = await sent.catch(() => undefined);
      if (answer === undefined || answer.status === 503) continue;
      expect(answer.status, answer.text).to.equal(200);
      return JSON.parse(answer.text);
    }
  };

  it('are known on every node at once', async () => {
    const { Created, Unchanged } = await take({ Tokens: tokens(0, 500) });
    expect(Created + Unchanged).to.equal(500);
    for (const node of [0, 1, 2]) {
      const own = await ask(node, 'GET /v1/acl/token/self', undefined, secret(499));
      expect(JSON.parse(own.text).AccessorID).to.equal(accessor(499));
    }
  });

  it('take effect once, whatever becomes of the leader', async () => {
    const { Servers } = await cluster.must('GET /operator/raft/configuration');
    const leader = Servers.find(({ Leader }: { Leader: boolean }) => Leader).Node;
    const dying = cluster.nodes.find(({ name }) => name === leader)!;
    const alive = [0, 1, 2].filter((at) => cluster.nodes[at] !== dying);
    const sending = Array.from({ length: 8 }, async (_, at) => {
      const Tokens = tokens(500 + at * 100, 600 + at * 100);
      await take({ Tokens }, at % 2 === 0 ? alive : alive.toReversed());
    });
    await dying.kill('SIGKILL');
    await Promise.all(sending);
    dying.start();
    await dying.ready();
    for (const node of [0, 1, 2]) {
      const list = await ask(node, 'GET /v1/acl/tokens/import?source=dc1&consistent');
      const found = JSON.parse(list.text).Tokens.map(
        (one: { AccessorID: string }) => one.AccessorID,
      );
      expect(found).to.deep.equal(tokens(0, 1300).map(({ AccessorID }) => AccessorID));
    }
  });

  it('leave no secret on any disk once they are deleted', async () => {
    const text = secret(1).slice(0, 20);
    const holders = (): number =>
      cluster.nodes.filter(({ entry: { dataDir } }) =>
        readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).some((name) =>
          bytesOf(join(dataDir, name)).includes(text),
        ),
      ).length;
    expect(holders()).to.equal(3);
    const all = tokens(0, 1300).map(({ AccessorID }) => AccessorID);
    for (let at = 0; at < all.length; at += 500) await take({ Delete: all.slice(at, at + 500) });
    await until(
      async () => holders(),
      (count) => count === 0,
    );
  });
});
