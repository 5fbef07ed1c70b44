import { expect } from 'chai';
import { authorizeRoutes } from '../../src/http/routes/authorize.js';
import { operatorRoutes } from '../../src/http/routes/operator.js';
import type { NodeStatus } from '../../src/node/types.js';
import type { ClusterParts } from '../../src/service/cluster/cluster.js';
import { secretKeyOf } from '../../src/state/tokens.js';
import type { Command } from '../../src/state/types.js';
import { send } from '../support/client.js';
import { SoloClient } from './client.js';
import { Solo } from './solo.js';

const ACCESSOR = '33333333-aaaa-4aaa-8aaa-000000000001';
const SECRET = '44444444-aaaa-4aaa-8aaa-000000000001';
const GLOBAL_MANAGEMENT = { ID: '00000000-0000-0000-0000-000000000001' };
const CREATE = {
  type: 'token.create',
  v: 1,
  ns: 'default',
  accessor: ACCESSOR,
  secret: SECRET,
  createTime: '2030-01-01T00:00:00Z',
  token: { Description: '', Policies: [GLOBAL_MANAGEMENT], Roles: [], Local: false },
};
const DELETE = { type: 'token.delete', v: 1, ns: 'default', accessor: ACCESSOR, callerKey: null };

/** Asks a lagging node whose token was deleted and acknowledged elsewhere. */
async function askLagging(method: string, path: string, body?: unknown) {
  const solo = new Solo();
  solo.must({ type: 'system.level', v: 1, level: 3 } as Command);
  solo.must(CREATE as Command);
  const done: unknown[] = [];
  const peers = ['n1', 'n2'].map((id) => ({ id, name: id, address: `${id}:1`, voter: true }));
  // Only what these routes read.
  const status = { id: 'n1', peers, configurationIndex: 1, lastLogIndex: 1 };
  const node = {
    ...solo.node,
    status: () => status as unknown as NodeStatus,
    leaderStatus: async () => status as unknown as NodeStatus,
    removeServer: async (id: string) => void done.push(id),
    transfer: async () => void done.push('transfer'),
  };
  solo.node.barrier = async () => {
    if (solo.authorizers.of(secretKeyOf(SECRET)) !== undefined) solo.must(DELETE as Command);
  };
  // The other parts serve routes that are not called.
  const parts = { service: solo.service, node, version: '1' } as unknown as ClusterParts;
  const routes = [...operatorRoutes(parts), ...authorizeRoutes(solo.service)];
  const client = await SoloClient.open(routes, solo);
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await send(client.url, `${method} /v1/${path}`, { token: SECRET, ...sent });
  await client.close();
  return { status: answer.status, done };
}

describe('a token that was just deleted on another node', () => {
  for (const [method, path, body] of [
    ['DELETE', 'operator/raft/peer?id=n2'],
    ['POST', 'operator/raft/transfer-leader'],
    ['POST', 'operator/raft/transfer-leader?stale'],
    ['GET', 'operator/raft/configuration'],
    ['GET', 'operator/autopilot/state'],
    ['PUT', 'operator/autopilot/configuration', {}],
    ['POST', 'internal/acl/authorize', [{ Resource: 'acl', Access: 'write' }]],
    ['POST', 'acl/tokens/revoke', { AuthMethod: 'm', Subject: 'a' }],
    ['POST', 'acl/tokens/gc', { KeepPerIdentity: 1 }],
  ] as const) {
    it(`has no effect on ${method} ${path}`, async () => {
      expect(await askLagging(method, path, body)).to.deep.equal({ status: 403, done: [] });
    });
  }

  it('is still known to a node that is asked about its local state', async () => {
    expect(await askLagging('GET', 'operator/raft/configuration?stale')).to.include({
      status: 200,
    });
    const questions = [{ Resource: 'acl', Access: 'write' }];
    const answer = await askLagging('POST', 'internal/acl/authorize?stale', questions);
    expect(answer).to.include({ status: 200 });
  });
});
