import { expect } from 'chai';
import type { Member } from '../../src/raft/types.js';
import type { Identity } from '../../src/replica/members/identity.js';
import { KnownServers, type KnownServersParts } from '../../src/replica/members/known-servers.js';

const RECORD = { incarnation: 'x', starts: 1, startId: 's' };
const memberOf = (id: string): Member => ({ id, name: id, address: `${id}:1`, voter: true });

function knownServers(identity: Partial<Identity>, members: readonly string[]): KnownServers {
  const configuration = { members: members.map(memberOf) };
  return new KnownServers({
    id: 'a',
    identity: { get: () => ({ seen: {}, removed: [], ...identity }) },
    loop: { status: () => ({ configuration }) },
  } as unknown as KnownServersParts);
}

describe('replica: the servers that may speak to this one', () => {
  it('are those that it has met', () => {
    const known = knownServers({ seen: { b: RECORD } }, ['a', 'c']);
    expect([known.isKnown('b'), known.isKnown('d')]).to.deep.equal([true, false]);
  });

  it('are all servers of its cluster while its log holds no configuration', () => {
    // Its leader may have joined after it, and it knows no member that it could ask.
    expect(knownServers({ seen: { b: RECORD } }, []).isKnown('d')).to.equal(true);
  });
});
