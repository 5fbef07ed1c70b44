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

  const refusal = (name: string, why: string) =>
    `Header "${name}" is not supported here: ${why}. Nothing was done`;
  const supporting =
    'only writes of /v1/acl/token/:accessor, /v1/acl/binding-rule/:id, /v1/acl/auth-method, ' +
    '/v1/acl/auth-method/:name, /v1/acl/role/:id, /v1/acl/policy/:id, /v1/namespace, ' +
    '/v1/namespace/:name, /v1/config, /v1/config/:kind/:name, /v1/operator/acl/configuration ' +
    'support it';
  const creating =
    'only PUT /v1/acl/auth-method, /v1/acl/auth-method/:name, /v1/namespace, ' +
    '/v1/namespace/:name, /v1/config supports it';
  const writes = [
    ...['policy', 'role', 'binding-rule', 'token'].map((type) => `PUT /v1/acl/${type}`),
    ...['POST /v1/acl/login', 'POST /v1/acl/logout', 'PUT /v1/acl/bootstrap'],
    'PUT /v1/acl/token/x/clone',
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
      expect(await told(write, headers)).to.equal(`400 ${refusal('If-None-Match', creating)}\n`);
    });

  it('is refused with the condition that the path has', async () => {
    const headers = { 'X-Service-Token': MANAGEMENT_SECRET, 'If-None-Match': '*' };
    expect(await told('DELETE /v1/config/service-defaults/versioned', headers)).to.equal(
      `400 ${refusal('If-None-Match', creating)} (this path takes ?cas=INDEX)\n`,
    );
    expect(await told('PATCH /v1/config/service-defaults/versioned', headers)).to.equal(
      `400 ${refusal('If-None-Match', creating)}\n`,
    );
  });

  it('changes nothing of reads', async () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      for (const name of ['If-Match', 'If-None-Match']) {
        const headers = { 'X-Service-Token': MANAGEMENT_SECRET, [name]: '"1"' };
        expect((await ask(`${method} /v1/acl/roles`, headers)).status).to.equal(200);
      }
  });
});
