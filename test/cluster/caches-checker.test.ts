/** The caches of the chaos test, beside a server that never tells them of a change. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Caches } from '../../cluster/chaos/caches.js';

const { Cases } = JSON.parse(readFileSync('clients/vectors.json', 'utf8')) as {
  readonly Cases: readonly { readonly Rights: object }[];
};
const Named = { service: { Exact: { write: ['web'] }, Prefix: {}, Other: [] } };
const Sets = [{ Match: 'exact', Name: 'default', Scalars: {}, Named }];
const FEED = JSON.stringify({ ...Cases[0]!.Rights, Layers: [{ Layer: 'own', Sets }] });

describe('the caches of clients whose rights are taken', () => {
  let server: Server;
  let caches: Caches;
  let dir: string;
  /** Whether queries are answered. */
  let answers: boolean;
  before((done) => {
    dir = mkdtempSync(join(tmpdir(), 'conclave-caches-'));
    server = createServer((request, response) => {
      if (!answers) return;
      response.setHeader('ETag', '"one"').setHeader('X-Consul-Index', '7');
      if (request.headers['if-none-match'] === undefined) response.end(FEED);
      else setTimeout(() => response.writeHead(304).end(), 100);
    }).listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      caches = new Caches([`http://127.0.0.1:${port}`], dir);
      done();
    });
  });
  after(() => {
    caches.close();
    server.closeAllConnections();
    server.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const followed = () => caches.follow({ name: 'web', secret: 'secret' });

  it('are found if they call themselves fresh and allow for too long', async () => {
    answers = true;
    const all = await followed();
    const wrong = await all.judge(performance.now());
    all.close();
    expect(wrong[0]).to.match(
      /^\d+ fresh caches and 0 others of typescript allow web \d+ ms after/,
    );
    expect(wrong).to.have.lengthOf(Object.keys(caches.counts.allowed).length);
  });

  it('may allow by what they knew until they are cut off', async () => {
    answers = true;
    const all = await followed();
    answers = false;
    expect(await all.judge(performance.now())).to.deep.equal([]);
    all.close();
  });
});
