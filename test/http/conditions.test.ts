/** If-Match and If-None-Match on requests that do not heed them. */
import { expect } from 'chai';
import { operatorRoutes } from '../../src/http/routes/operator.js';
import { statusRoutes } from '../../src/http/routes/status.js';
import type { ClusterParts } from '../../src/service/cluster/cluster.js';
import { SoloClient } from '../service/client.js';
import { MANAGEMENT_SECRET, Solo } from '../service/solo.js';
import { type Reply, send } from '../support/client.js';

describe('http: a condition that nothing heeds', () => {
  let client: SoloClient;
  before(async () => {
    const solo = new Solo();
    const parts = { service: solo.service, node: solo.node } as unknown as ClusterParts;
    client = await SoloClient.open([...statusRoutes(parts), ...operatorRoutes(parts)], solo);
  });
  after(() => client.close());

  const ask = (call: string, headers: Record<string, string>): Promise<Reply> =>
    send(client.url, call, { headers });
  const told = async (...given: Parameters<typeof ask>): Promise<string> => {
    const { status, text } = await ask(...given);
    return `${status} ${text}`;
  };

  const supporting = 'only PUT /v1/operator/acl/configuration supports it';
  const refusal = (name: string, why: string) =>
    `Header "${name}" is not supported here: ${why}. Nothing was done`;
  const acl = ['policy', 'role', 'binding-rule', 'token', 'auth-method'];
  const writes = [
    ...acl.flatMap((type) => [`PUT /v1/acl/${type}`, `PUT /v1/acl/${type}/x`]),
    ...acl.map((type) => `DELETE /v1/acl/${type}/x`),
    ...['PUT /v1/namespace', 'PUT /v1/namespace/x', 'DELETE /v1/namespace/x'],
    ...['POST /v1/acl/login', 'POST /v1/acl/logout', 'PUT /v1/acl/bootstrap'],
    'DELETE /v1/operator/raft/peer?id=x',
  ];
  for (const write of writes)
    it(`is refused: ${write}`, async () => {
      const token = MANAGEMENT_SECRET;
      for (const tag of ['"1"', '*', 'W/"1"', 'odd']) {
        const headers = { 'X-Service-Token': token, 'If-Match': tag, Accept: 'text/plain' };
        expect(await told(write, headers)).to.equal(`400 ${refusal('If-Match', supporting)}\n`);
      }
      const headers = { 'X-Service-Token': token, 'If-None-Match': '*', Accept: 'text/plain' };
      const why = 'only reads of documents support it';
      expect(await told(write, headers)).to.equal(`400 ${refusal('If-None-Match', why)}\n`);
    });

  it('is refused with the condition that the path has', async () => {
    for (const [method, path] of [
      ['PUT', '/v1/config'],
      ['DELETE', '/v1/config/service-defaults/versioned'],
    ]) {
      const headers = { 'X-Service-Token': MANAGEMENT_SECRET, 'If-Match': '"1"' };
      expect(await told(`${method} ${path}`, headers)).to.equal(
        `400 ${refusal('If-Match', supporting)} (this path takes ?cas=INDEX)\n`,
      );
    }
  });

  it('changes nothing of reads', async () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      for (const name of ['If-Match', 'If-None-Match']) {
        const headers = { 'X-Service-Token': MANAGEMENT_SECRET, [name]: '"1"' };
        expect((await ask(`${method} /v1/acl/roles`, headers)).status).to.equal(200);
      }
  });
});
