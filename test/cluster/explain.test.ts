import { expect } from 'chai';
import type { LocalCluster, LocalNode } from '../../src/dev/local.js';
import { type Reply, send } from '../support/client.js';
import { Field, until } from './operator.js';

const RULES = 'service "web" { policy = "read" }\nservice "other" { policy = "write" }';
const ENTRY = JSON.stringify({ Kind: 'service-defaults', Name: 'web' });
const EXPLAIN = '/v1/acl/authorize/explain';
const QUESTIONS = [
  { Resource: 'service', Access: 'read', Segment: 'web' },
  { Resource: 'service', Access: 'write', Segment: 'web' },
];

describe('explanations in a cluster', () => {
  const field = new Field();
  afterEach(() => field.end());

  async function must(
    { urls, token }: LocalCluster,
    method: string,
    path: string,
    body: object,
  ): Promise<Record<string, string>> {
    const reply = await send(urls[0]!, `${method} ${path}`, { token, body: JSON.stringify(body) });
    expect(reply.status, reply.text).to.equal(200);
    return JSON.parse(reply.text);
  }

  it('of decisions come from any node, and all are right while the leader dies', async () => {
    const cluster = await field.start(3);
    const { urls, token } = cluster;
    await must(cluster, 'PUT', '/v1/acl/policy', { Name: 'p', Rules: RULES });
    const made = await must(cluster, 'PUT', '/v1/acl/token', { Policies: [{ Name: 'p' }] });
    const { SecretID, AccessorID } = made as { SecretID: string; AccessorID: string };

    /** The id of the decision with which a node refuses a write. */
    const refusedBy = async (url: string): Promise<string> => {
      const body = ENTRY;
      const { status, headers } = await send(url, 'PUT /v1/config', { token: SecretID, body });
      expect(status).to.equal(403);
      return String(headers['x-consul-decision']);
    };
    const decision = (url: string, id: string): Promise<Reply> =>
      send(url, `GET /v1/acl/decision/${id}`, { token });

    const ids = await Promise.all(urls.map(refusedBy));
    for (const [at, id] of ids.entries()) {
      for (const url of urls) {
        const { status, text } = await decision(url, id);
        expect(status, text).to.equal(200);
        const { Node, AccessorID: whose, Then, Now, Changed } = JSON.parse(text);
        expect({ Node, whose, Then, Changed }).to.deep.equal({
          Node: cluster.nodes[at]!.name,
          whose: AccessorID,
          Then: { Reason: 'rule', Level: 'read', Rule: 'service "web"' },
          Changed: false,
        });
        expect(Now).to.include({ Allow: false, Segment: 'web' });
      }
    }

    const leader = await leaderOf(cluster);
    const others = urls.filter((url) => url !== leader.url);
    let isOver = false;
    let wrong: string | undefined;
    let right = 0;
    const asking = others.map(async (url) => {
      const body = JSON.stringify({ AccessorID, Requests: QUESTIONS });
      while (!isOver) {
        const reply = await send(url, `POST ${EXPLAIN}`, { token, body });
        if (reply.status === 503) continue;
        const allowed =
          reply.status === 200 &&
          JSON.parse(reply.text).Results.map(({ Allow }: { Allow: boolean }) => Allow);
        if (String(allowed) === 'true,false') right += 1;
        else wrong ??= `${reply.status} ${reply.text}`;
      }
    });
    await until(
      async () => right,
      (count) => count > 10,
    );
    await leader.kill('SIGKILL');
    const before = right;
    await until(
      async () => right,
      (count) => count > before + 10,
    );
    isOver = true;
    await Promise.all(asking);
    expect(wrong).to.equal(undefined);

    const lost = ids[cluster.nodes.indexOf(leader)]!;
    const gone = await decision(others[0]!, lost);
    expect(gone.status, gone.text).to.equal(404);
    const kept = ids[urls.indexOf(others[0]!)]!;
    expect((await decision(others[1]!, kept)).status).to.equal(200);
  });
});

/** Returns the node that leads. */
async function leaderOf({ nodes, urls }: LocalCluster): Promise<LocalNode> {
  const { text } = await until(
    () => send(urls[0]!, 'GET /v1/status/leader'),
    (reply) => reply.text.length > 2,
  );
  const address = JSON.parse(text) as string;
  return nodes.find(({ entry }) => entry.raft === address)!;
}
