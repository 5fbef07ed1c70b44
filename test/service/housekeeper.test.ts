import { expect } from 'chai';
import type { NodeStatus } from '../../src/node/types.js';
import { INTERNAL_KEY } from '../../src/service/gate.js';
import { Housekeeper } from '../../src/service/housekeeper.js';
import { INIT_FACT } from '../../src/state/system.js';
import { secretKeyOf } from '../../src/state/tokens.js';
import type { Command } from '../../src/state/types.js';
import { clock, MANAGEMENT_SECRET, Solo } from './solo.js';

function keeperOf(solo: Solo, role: NodeStatus['role'] = 'leader') {
  const status = solo.node.status();
  solo.node.status = () => ({ ...status, role });
  const written: string[] = [];
  const { write } = solo.node;
  solo.node.write = (request) => {
    expect(request.tokenKey).to.equal(INTERNAL_KEY);
    written.push(request.command.type);
    return write(request);
  };
  const keeper = new Housekeeper({
    node: solo.node,
    clock,
    nowMs: () => solo.nowMs,
    managementSecret: MANAGEMENT_SECRET,
    report: (error) => {
      throw error;
    },
  });
  return { keeper, written };
}

describe('housekeeper', () => {
  it('begins a new cluster once, with the configured management token', async () => {
    const solo = new Solo('deny', false);
    expect(solo.authorizers.of(secretKeyOf(MANAGEMENT_SECRET))).to.equal(undefined);
    const { keeper, written } = keeperOf(solo);
    await keeper.round();
    await keeper.round();
    expect(written).to.deep.equal(['system.init']);
    expect(solo.store.get(INIT_FACT)).not.to.equal(undefined);
    const manager = solo.authorizers.of(secretKeyOf(MANAGEMENT_SECRET));
    expect(manager?.allowed('acl', 'write')).to.equal(true);
  });

  it('leaves all to the leader', async () => {
    const { keeper, written } = keeperOf(new Solo('deny', false), 'follower');
    await keeper.round();
    expect(written).to.deep.equal([]);
  });

  it('removes what has expired, and goes on with what was too much for one command', async () => {
    const solo = new Solo();
    for (let n = 0; n < 600; n++) {
      const last = String(n).padStart(12, '0');
      solo.must({
        ...{ type: 'token.create', v: 1, ns: 'default', createTime: '2030-01-01T00:00:00Z' },
        accessor: `33333333-aaaa-4aaa-8aaa-${last}`,
        secret: `44444444-aaaa-4aaa-8aaa-${last}`,
        token: { Description: '', Policies: [], Roles: [], Local: false },
        expirationTime: '2030-01-01T00:01:00Z',
      } as Command);
    }
    const namespace = { Name: 'red', PolicyDefaults: [], RoleDefaults: [] };
    solo.must({ type: 'namespace.set', v: 1, policyId: 'm', namespace } as Command);
    solo.must({
      type: 'namespace.delete',
      v: 1,
      name: 'red',
      at: '2030-01-01T00:00:00Z',
    } as Command);
    const { keeper, written } = keeperOf(solo);
    solo.nowMs = Date.parse('2030-01-01T00:00:59Z');
    await keeper.round();
    expect(written).to.deep.equal(['namespace.reap']);
    solo.nowMs = Date.parse('2030-01-01T00:01:00Z');
    await keeper.round();
    expect(written.slice(1)).to.deep.equal(['token.reap', 'token.reap']);
    expect([...solo.store.keys('token-by-expiry')]).to.deep.equal([]);
    expect([...solo.store.keys('namespace-dying')]).to.deep.equal([]);
  });
});
