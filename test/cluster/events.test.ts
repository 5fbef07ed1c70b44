/** The event stream of real nodes: any of them, through faults, by the command line too. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { EventReader } from '../support/event-reader.js';
import { RealCluster } from '../support/real-cluster.js';
import { until } from './operator.js';

describe('the event stream of a cluster', () => {
  let cluster: RealCluster;
  before(async () => {
    cluster = await RealCluster.open(3);
  });
  after(() => cluster.close());

  const write = async (Name: string): Promise<number> =>
    (await cluster.must('PUT /acl/policy', { Name })).ModifyIndex;

  it('tells each node’s readers the same, each index once, in order', async () => {
    const token = { token: cluster.token };
    const query = '?topics=ACLPolicy';
    // A new cluster rises to the level of the history shortly after its first leader.
    const opened = (url: string): Promise<EventReader> =>
      until(
        () => EventReader.open(url, query, token),
        ({ status }) => status === 200,
      );
    const readers = await Promise.all(cluster.urls.map(opened));
    const written: number[] = [];
    const writer = async (n: number): Promise<void> => {
      for (let k = 0; k < 25; k++) written.push(await write(`all-${n}-${k}`));
    };
    await Promise.all([1, 2, 3, 4].map(writer));
    written.sort((a, b) => a - b);
    for (const reader of readers) {
      const seen: (number | undefined)[] = [];
      while (seen.length < written.length) seen.push((await reader.change()).id);
      expect(seen).to.deep.equal(written);
      reader.close();
    }
  });

  it('goes on on another node, while nodes are killed and started again', async () => {
    const written: number[] = [];
    const seen: number[] = [];
    let last: number | undefined;
    let isDone = false;
    const reading = (async (): Promise<void> => {
      for (let at = 0; ; at++) {
        const how = { token: cluster.token, ...(last !== undefined && { lastId: last }) };
        const url = cluster.urls[at % 3]!;
        const reader = await EventReader.open(url, '?topics=ACLPolicy', how).catch(() => undefined);
        if (reader?.status !== 200) {
          reader?.close();
          await new Promise((resolve) => setTimeout(resolve, 50));
          continue;
        }
        last ??= reader.start;
        for (let n = 0; n < 7; n++) {
          const frame = await reader.next();
          if (frame === undefined || frame.event === 'end') break;
          expect(frame.event).to.be.oneOf(['change', 'progress']);
          if (frame.event === 'change') seen.push(frame.id!);
          last = frame.id;
          if (isDone && last! >= written.at(-1)!) {
            reader.close();
            return;
          }
        }
        reader.close();
      }
    })();
    while (last === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
    for (const [round, node] of cluster.nodes.entries()) {
      const url = cluster.urls[(round + 1) % 3]!;
      const client = new RemoteClient(url, cluster.token);
      await node.kill('SIGKILL');
      for (let k = 0; k < 10; k++) written.push(await client.write(`killed-${round}-${k}`));
      node.start();
      await node.ready();
    }
    written.push(await write('the-end'));
    isDone = true;
    await reading;
    expect(seen.filter((index) => written.includes(index))).to.deep.equal(written);
    expect(new Set(seen).size).to.equal(seen.length);
  });

  it('is printed by the command line, an event a line', async () => {
    const main = fileURLToPath(new URL('../../program/main.js', import.meta.url));
    const args = [main, 'events', '--topics', 'ACLPolicy', '-o', 'json'];
    const addresses = cluster.urls.map((url) => url.replace('http://', '')).join(',');
    const env = { ...process.env, CONCLAVE_HTTP_TOKEN: cluster.token };
    const from = String(await write('before'));
    const command = [...args, '--from', from, '--http-addr', addresses];
    const child = spawn(process.execPath, command, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const index = await write('printed');
    const event = JSON.parse((await lines.next()).value as string);
    expect([event.Type, event.Name, event.Index]).to.deep.equal([
      'ACLPolicyCreated',
      'printed',
      index,
    ]);
    expect(event.Payload.ACLPolicy.Name).to.equal('printed');
    child.kill('SIGINT');
    expect((await once(child, 'exit'))[0]).to.equal(130);
  });
});

/** Writes over one node, again and again until that works. */
class RemoteClient {
  readonly #url: string;
  readonly #token: string;
  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }
  async write(Name: string): Promise<number> {
    for (;;) {
      const answer = await fetch(`${this.#url}/v1/acl/policy`, {
        method: 'PUT',
        headers: { 'x-consul-token': this.#token },
        body: JSON.stringify({ Name }),
      });
      const body = (await answer.json()) as { readonly ModifyIndex: number };
      if (answer.status === 200) return body.ModifyIndex;
      if (answer.status !== 503) throw new Error(`${answer.status} ${JSON.stringify(body)}`);
    }
  }
}
