import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Reply, send } from '../support/client.js';
import { corruptChecksum } from './corrupt.js';
import { conclave, Field, readiness, until } from './operator.js';

const indexOf = ({ headers }: Reply): number => Number(headers['x-consul-index']);
const entry = (Name: string): string => JSON.stringify({ Kind: 'service-defaults', Name });
const LIST = '/v1/config/service-defaults';
const namesIn = ({ text }: Reply): string[] =>
  (JSON.parse(text) as { Name: string }[]).map(({ Name }) => Name);

describe('the cluster state', () => {
  const field = new Field();
  afterEach(() => field.end());

  it('is saved and restored, even elsewhere; a damaged archive changes nothing', async () => {
    const [one, other] = await Promise.all([field.start(1), field.start(1)]);
    const put = (name: string) =>
      send(one.urls[0]!, 'PUT /v1/config', { token: one.token, body: entry(name) });
    const list = (query = '', { urls, token } = one): Promise<Reply> =>
      send(urls[0]!, `GET ${LIST}${query}`, { token });
    const file = join(one.dir, 'backup.tgz');
    const run = (what: string, archive: string, { urls, token } = one) =>
      conclave(['snapshot', what, archive, '--url', urls[0]!], { CONCLAVE_TOKEN: token });

    for (const name of ['a', 'b', 'c']) await put(name);
    const saved = await run('save', file);
    expect(saved.output).to.match(/^saved index \d+/);
    await put('later');
    const before = await list();

    const damaged = readFileSync(file);
    damaged[damaged.length >> 1]! ^= 1;
    writeFileSync(`${file}.bad`, damaged);
    expect(await run('restore', `${file}.bad`)).to.include({ code: 1 });
    expect([namesIn(await list()), indexOf(await list())]).to.deep.equal([
      ['a', 'b', 'c', 'later'],
      indexOf(before),
    ]);

    const held = list(`?index=${indexOf(before) + 1000}&wait=10m`);
    expect(await run('restore', file)).to.include({ code: 0 });
    expect(namesIn(await held)).to.deep.equal(['a', 'b', 'c']);
    expect(indexOf(await list())).to.be.greaterThan(indexOf(before));

    expect(await run('restore', file, other)).to.include({ code: 0 });
    const moved = await list('', { ...other, token: one.token });
    expect(namesIn(moved)).to.deep.equal(['a', 'b', 'c']);
    const body = entry('new');
    await send(other.urls[0]!, 'PUT /v1/config', { token: one.token, body });
    const next = await list('', { ...other, token: one.token });
    expect(indexOf(next)).to.be.greaterThan(indexOf(moved));
  });

  it("that differs from the others' is not served, and is replaced at the next start", async () => {
    // A short tick: the members compare their states every 500 ticks.
    const cluster = await field.start(3, { settings: { raft: { tickMs: 5 } } });
    const { token } = cluster;
    const [n1, , n3] = cluster.nodes;
    const put = (name: string) => send(n1!.url, 'PUT /v1/config', { token, body: entry(name) });
    expect((await put('a')).status).to.equal(200);
    await until(
      () => send(n3!.url, `GET ${LIST}?stale`, { token }),
      (stored) => namesIn(stored).includes('a'),
    );
    await n3!.kill('SIGTERM');
    await corruptChecksum(n3!.entry.dataDir, 'config');
    // The difference may be found before the node was ever ready.
    n3!.start();
    expect((await put('b')).status).to.equal(200);
    const why = await until(
      () => readiness(n3!),
      ({ text }) => text.includes('differs'),
    );
    expect(why.status).to.equal(503);
    for (const query of ['?stale', '', '?consistent', '?stale&index=1000&wait=10m']) {
      const { status, text } = await send(n3!.url, `GET ${LIST}${query}`, { token });
      expect(status, query).to.equal(503);
      expect(text).to.include('table "config"');
    }
    const written = await send(n3!.url, 'PUT /v1/config', { token, body: entry('c') });
    expect(written.status).to.equal(503);

    await n3!.kill('SIGTERM');
    n3!.start();
    await n3!.ready();
    const mended = await send(n3!.url, `GET ${LIST}?stale`, { token });
    expect([mended.status, namesIn(mended)]).to.deep.equal([200, ['a', 'b']]);
  });
});
