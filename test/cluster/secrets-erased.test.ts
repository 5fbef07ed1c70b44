import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { LocalCluster } from '../../src/dev/local.js';
import { send } from '../support/client.js';
import { bytesOf, Field, until } from './operator.js';

const SECRET = '5ec2e701-aaaa-4bbb-8ccc-0d1e2f3a4b5c';
const fixture = (name: string): string =>
  readFileSync(join('test/transport/fixtures', name), 'utf8');

describe('a deleted secret', () => {
  const field = new Field();
  let cluster: LocalCluster;
  before(async () => {
    cluster = await field.start(3, {
      settings: { limits: { requestMs: 2000, secretsGoneMs: 8000 } },
    });
  });
  after(() => field.end());

  const request = async (method: string, path: string, body?: object) => {
    const { token } = cluster;
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const reply = await send(cluster.urls[0]!, `${method} /v1${path}`, { token, ...text });
    expect(reply.status, reply.text).to.equal(200);
    return reply;
  };

  /** The nodes in whose folders one of these texts occurs. */
  const holders = (texts: readonly string[]): string[] =>
    cluster.nodes
      .filter(({ entry: { dataDir } }) =>
        readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).some((name) => {
          const bytes = bytesOf(join(dataDir, name));
          return texts.some((text) => bytes.includes(text));
        }),
      )
      .map(({ name }) => name);

  it('is in no file of any node once it has been erased', async () => {
    const key = fixture('client.key');
    const certificate = {
      ...{ Kind: 'inline-certificate', Name: 'c' },
      ...{ Certificate: fixture('client.pem'), PrivateKey: key },
    };
    // LevelDB may compress a text by pointing to an equal piece of another one.
    const texts = [SECRET, SECRET.slice(0, 8), SECRET.slice(-12), key.split('\n')[2]!];
    await request('PUT', '/config', certificate);
    const created = await request('PUT', '/acl/token', { SecretID: SECRET, Description: 'a' });
    const { AccessorID } = JSON.parse(created.text);
    await request('PUT', `/acl/token/${AccessorID}`, { Description: 'b' });
    await until(
      async () => holders(texts),
      (found) => found.length === 3,
    );
    await request('DELETE', `/acl/token/${AccessorID}`);
    await request('DELETE', '/config/inline-certificate/c');
    await until(
      async () => holders(texts),
      (found) => found.length === 0,
    );
    await request('PUT', '/acl/role', { Name: 'after' });
  });

  it('is in no file of a member that was away when it was deleted', async () => {
    const [n1, , n3] = cluster.nodes;
    const secret = SECRET.replace('5ec2e701', '5ec2e702').replace('0d1e2f3a4b5c', '1a2b3c4d5e6f');
    const texts = [secret, '5ec2e702', '1a2b3c4d5e6f'];
    const created = await request('PUT', '/acl/token', { SecretID: secret });
    await until(
      async () => holders(texts),
      (found) => found.length === 3,
    );
    await n3!.kill('SIGKILL');
    await request('DELETE', `/acl/token/${JSON.parse(created.text).AccessorID}`);
    await until(
      async () => holders(texts),
      (found) => found.join() === n3!.name,
    );
    n3!.start();
    await n3!.ready();
    await until(
      async () => holders(texts),
      (found) => found.length === 0,
    );
    expect(n1!.pid).not.to.equal(undefined);
  });
});
