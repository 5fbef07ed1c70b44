import { expect } from 'chai';
import type { Member, NodeId } from '../../src/raft/types.js';
import type { Identity } from '../../src/replica/members/identity.js';
import { KnownServers, type KnownServersParts } from '../../src/replica/members/known-servers.js';
import type { Rpc, RpcDone } from '../../src/replica/rpc.js';
import type { RpcRequest } from '../../src/replica/rpc-codec.js';

const RECORD = { incarnation: 'x', starts: 1, startId: 's' };
const memberOf = (id: string): Member => ({ id, name: id, address: `${id}:1`, voter: true });

function knownServers(
  identity: Partial<Identity>,
  members: readonly (string | Member)[],
  rpc: Partial<Rpc> = {},
): KnownServers {
  const configuration = {
    members: members.map((each) => (typeof each === 'string' ? memberOf(each) : each)),
  };
  return new KnownServers({
    id: 'a',
    identity: { get: () => ({ seen: {}, removed: [], ...identity }) },
    loop: { status: () => ({ configuration }) },
    rpc,
  } as unknown as KnownServersParts);
}

describe('replica: the servers that may speak to this one', () => {
  it('are those that it has met', () => {
    const known = knownServers({ seen: { b: RECORD } }, ['a', 'c']);
    expect([known.isKnown('b'), known.isKnown('d')]).to.deep.equal([true, false]);
  });

  it('are all servers of its cluster while it knows no member that it could ask', () => {
    expect(knownServers({ seen: {} }, []).isKnown('d')).to.equal(true);
    // It has nobody to ask, but no other server can have become a member without it.
    expect(knownServers({ seen: {} }, ['a']).isKnown('d')).to.equal(false);
  });

  it('are those that a member vouches for, while it has no configuration yet too', () => {
    for (const [seen, members] of [
      [{ b: RECORD }, []],
      [{}, ['a', 'b']],
    ] as const) {
      const asked: [NodeId, RpcRequest, RpcDone][] = [];
      const call: Rpc['call'] = (to, request, _timeoutMs, done) => asked.push([to, request, done]);
      const known = knownServers({ seen }, members, { call });
      expect(known.isKnown('d')).to.equal(false);
      known.askAbout('d');
      known.askAbout('d');
      expect(asked.map(([to, request]) => [to, request])).to.deep.equal([
        ['b', { type: 'member', id: 'd' }],
      ]);
      asked[0]![2]({ type: 'retry' });
      expect(known.isKnown('d')).to.equal(false);
      known.askAbout('d');
      asked[1]![2]({ type: 'done', publicKey: 'the key of d' });
      expect([known.isKnown('d'), known.keyOf('d')]).to.deep.equal([true, 'the key of d']);
    }
  });

  it('have the key of the configuration, else the one that was vouched for or met', () => {
    const seen = { b: { ...RECORD, publicKey: 'met' }, c: { ...RECORD, publicKey: 'met' } };
    const known = knownServers({ seen }, ['a', 'b', { ...memberOf('c'), publicKey: 'agreed' }]);
    expect(['b', 'c', 'd'].map((id) => known.keyOf(id))).to.deep.equal([
      'met',
      'agreed',
      undefined,
    ]);
  });
});
