/** Every answer that is not empty ends with one newline, so that a terminal shows it as lines. */
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { operatorRoutes } from '../../src/http/routes/operator.js';
import { statusRoutes } from '../../src/http/routes/status.js';
import type { ClusterParts } from '../../src/service/cluster/cluster.js';
import type { Command } from '../../src/state/types.js';
import { SoloClient } from '../service/client.js';
import { Solo } from '../service/solo.js';
import { type Reply, send } from '../support/client.js';

describe('http: the newline at the end of an answer', () => {
  let client: SoloClient;
  const ask = (call: string, body?: object, more: Record<string, string> = {}): Promise<Reply> => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return send(client.url, call, { token: client.token, headers: more, ...sent });
  };
  const hasOne = ({ text, headers: { 'content-length': length } }: Reply, what: string): void => {
    expect(text, what).to.match(/[^\n]\n$/);
    if (length !== undefined) expect(length, what).to.equal(String(Buffer.byteLength(text)));
  };

  before(async () => {
    const solo = new Solo();
    const { service, node } = solo;
    const parts = { service, node } as unknown as ClusterParts;
    client = await SoloClient.open([...statusRoutes(parts), ...operatorRoutes(parts)], solo);
    for (let n = 1000; n < 2100; n += 1) {
      const entry = JSON.stringify({ Kind: 'service-defaults', Name: `s${n}`, Protocol: 'http' });
      const key = { ns: 'default', kind: 'service-defaults', name: `s${n}` };
      const at = '2030-01-01T00:00:00Z';
      const write = { type: 'config.set', v: 1, ...key, entry, cas: null, at, datacenter: 'dc1' };
      solo.must(write as Command);
    }
    for (let n = 1000; n < 1300; n += 1) await ask('PUT /v1/acl/role', { Name: `r${n}` });
  });
  after(() => client.close());

  const calls: [call: string, body?: object][] = [
    ['PUT /v1/acl/role', { Name: 'one', Description: 'é<' }],
    ['GET /v1/acl/role/name/one'],
    ['GET /v1/acl/role/name/none'],
    ['GET /v1/acl/roles'],
    ['GET /v1/acl/roles?policy=00000000-0000-0000-0000-000000000001'],
    ['GET /v1/acl/policies'],
    ['PUT /v1/config', { Kind: 'service-defaults', Name: 'web' }],
    ['GET /v1/config/service-defaults/web'],
    ['GET /v1/config/service-defaults'],
    ['GET /v1/config/service-resolver'],
    ['GET /v1/config'],
    ['GET /v1/config/service-defaults?filter=Name==web'],
    ['GET /v1/discovery-chain/web'],
    ['DELETE /v1/config/service-defaults/web'],
    ['DELETE /v1/acl/role/ffffffff-aaaa-4aaa-8aaa-000000000001'],
    ['GET /v1/status/leader'],
    ['GET /'],
    ['GET /v1/none'],
    ['GET /none'],
    ['POST /v1/acl/role'],
    ['GET /v1/acl/role/%00'],
    ['PUT /v1/acl/role', { Nam: 'x' }],
    ['POST /v1/acl/policy/lint', { Rules: '' }],
  ];
  for (const [call, body] of calls)
    it(call, async () => {
      hasOne(await ask(call, body), 'text');
      hasOne(await ask(call, body, { accept: 'application/json' }), 'problem');
      const [method, path] = call.split(' ') as [string, string];
      if (method !== 'GET') return;
      hasOne(await ask(`GET ${path}${path.includes('?') ? '&' : '?'}pretty`), 'pretty');
      const packed = await ask(call, undefined, { 'accept-encoding': 'gzip' });
      if (packed.headers['content-encoding'] !== 'gzip') return;
      expect(gunzipSync(packed.bytes).toString()).to.match(/[^\n]\n$/);
    });

  it('is counted in the answer to HEAD, which is empty, as is that to OPTIONS', async () => {
    const get = await ask('GET /v1/acl/role/name/r1000');
    const head = await ask('HEAD /v1/acl/role/name/r1000');
    expect(head.text).to.equal('');
    expect(head.headers['content-length']).to.equal(get.headers['content-length']);
    expect((await ask('OPTIONS /v1/acl/role/name/r1000')).text).to.equal('');
  });

  it('is there for each of several readers of one list', async () => {
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => ask('GET /v1/config/service-defaults')),
    );
    for (const reply of replies) hasOne(reply, 'list');
    expect(new Set(replies.map(({ text }) => text)).size).to.equal(1);
  });
});
