import { expect } from 'chai';
import { Rpc, type RpcResponse, type Sums } from '../../../src/replica/rpc.js';
import { decodeRequest, encodeResponse } from '../../../src/replica/rpc-codec.js';
import { differingTable, StateComparison } from '../../../src/replica/state/comparison.js';
import { FakeWire } from '../fakes.js';

const rpcOver = (wire: FakeWire): Rpc =>
  new Rpc({
    ...{ id: 'a', wire, isMember: () => true },
    role: () => ({ role: 'leader', term: 1, leader: 'a' }),
  });

/** The comparison of member `a`, whose peers answer with these sums (undefined: not at all). */
function compare(own: Sums, peers: Record<string, Sums | undefined>) {
  const wire = new FakeWire();
  const verdicts: string[] = [];
  const at = { index: 256, sums: own };
  const comparison = new StateComparison({
    ...{ id: 'a', rpc: rpcOver(wire), timeoutMs: 100 },
    checksums: { checkpoint: () => at, checksum: () => at },
    peers: () => ['a', ...Object.keys(peers)],
    differs: (_index, table) => verdicts.push(`a ${table}`),
    undecided: (_index, table, heir) => verdicts.push(`? ${table} ${heir}`),
  });
  comparison.compare(1);
  for (const [to, payload, , done] of wire.requests.splice(0)) {
    const ask = decodeRequest(payload);
    expect(ask).to.deep.equal({ type: 'sums', index: 256 });
    const sums = peers[to];
    const answer: RpcResponse =
      sums === undefined ? { type: 'retry' } : { type: 'sums', index: 256, sums };
    done(encodeResponse(answer));
  }
  for (const [to, payload] of wire.requests) {
    const ask = decodeRequest(payload);
    if (ask?.type === 'differs') verdicts.push(`${to} ${ask.table}`);
  }
  return { verdicts, comparison, wire };
}

const good = { token: '01', role: '02' };
const bad = { token: '01', role: '03' };

describe('replica/state/comparison', () => {
  it('finds nothing when all agree', () => {
    expect(compare(good, { b: good, c: good }).verdicts).to.deep.equal([]);
  });

  it('compares at rest too: who starts again may apply its log wrongly where it was right before', () => {
    const { comparison, wire } = compare(good, { b: good, c: good });
    comparison.compare(1);
    expect(wire.requests.map(([to]) => to)).to.deep.equal(['b', 'c']);
  });

  it('tells the member that differs from the majority, and names the table', () => {
    const { verdicts, comparison } = compare(good, { b: bad, c: good });
    expect(verdicts).to.deep.equal(['b role']);
    expect(comparison.stats.differing).to.equal(1);
  });

  it('compares the same index again until nobody differs, since a verdict may be lost', () => {
    const { comparison, wire } = compare(good, { b: bad, c: good });
    wire.requests.splice(0);
    comparison.compare(1);
    expect(wire.requests.map(([to]) => to)).to.deep.equal(['b', 'c']);
  });

  it('a leader that is in the minority accuses itself', () => {
    const { verdicts } = compare(bad, { b: good, c: good });
    expect(verdicts).to.deep.equal(['a role']);
  });

  it('accuses nobody without a majority, and counts who could not be compared', () => {
    const { verdicts, comparison, wire } = compare(good, { b: bad, c: undefined });
    expect(verdicts).to.deep.equal(['? role undefined']);
    expect(comparison.stats).to.deep.equal({ rounds: 1, incomparable: 1, differing: 0 });
    comparison.compare(1);
    expect(wire.requests.length).to.be.greaterThan(0);
  });

  it('without a majority a leader hands over to those who are more, rather than send its state to the others', () => {
    const peers = { b: good, c: undefined, d: good, e: undefined };
    expect(compare(bad, peers).verdicts).to.deep.equal(['? role b']);
    expect(compare(good, { ...peers, d: bad }).verdicts).to.deep.equal(['? role undefined']);
  });

  it('lets no state be copied while nobody can tell who is right, nor one that is wrong', () => {
    const copies = (own: Sums, peers: Record<string, Sums | undefined>): boolean =>
      compare(own, peers).comparison.mayCopy(1);
    expect(copies(good, { b: good, c: undefined })).to.equal(true);
    expect(copies(good, { b: undefined, c: undefined })).to.equal(true);
    expect(copies(good, { b: bad, c: good })).to.equal(true);
    expect(copies(good, { b: bad, c: undefined })).to.equal(false);
    expect(copies(good, { b: bad, c: good, d: undefined, e: undefined })).to.equal(true);
    expect(copies(good, { b: bad, c: good, d: bad, e: undefined })).to.equal(false);
    expect(copies(bad, { b: good, c: good })).to.equal(false);
  });

  it('compares before the first state of a term is copied', () => {
    const { comparison, wire } = compare(good, { b: good, c: undefined });
    wire.requests.splice(0);
    expect(comparison.mayCopy(2)).to.equal(false);
    for (const [, , , done] of wire.requests.splice(0))
      done(encodeResponse({ type: 'sums', index: 256, sums: good }));
    expect(comparison.mayCopy(2)).to.equal(true);
    expect(wire.requests).to.deep.equal([]);
  });

  it('does not compare again at each request for a state that may not be copied', () => {
    const { comparison, wire } = compare(good, { b: bad, c: undefined });
    wire.requests.splice(0);
    expect(comparison.mayCopy(1)).to.equal(false);
    expect(wire.requests).to.deep.equal([]);
  });

  it('says nothing of those who cannot be compared as long as the others agree', () => {
    expect(compare(good, { b: undefined, c: undefined }).verdicts).to.deep.equal([]);
  });

  it('compares the present states when somebody has forgotten the checkpoint', () => {
    const wire = new FakeWire();
    const comparison = new StateComparison({
      ...{ id: 'a', rpc: rpcOver(wire), timeoutMs: 100, peers: () => ['a', 'b'] },
      checksums: {
        checkpoint: () => ({ index: 256, sums: good }),
        checksum: () => ({ index: 300, sums: good }),
      },
      ...{ differs: () => {}, undecided: () => {} },
    });
    const asked = (): unknown => {
      comparison.compare(1);
      const [[, payload, , done]] = wire.requests.splice(0) as [(typeof wire.requests)[number]];
      done(encodeResponse({ type: 'retry' }));
      return decodeRequest(payload);
    };
    for (const index of [256, 300, 256]) expect(asked()).to.deep.equal({ type: 'sums', index });
  });

  it('of two that both answered the leader’s word counts', () => {
    expect(compare(good, { b: bad }).verdicts).to.deep.equal(['b role']);
  });

  it('a table that one side lacks is a difference', () => {
    expect(differingTable({ token: '01' }, { token: '01', role: '02' })).to.equal('role');
    expect(differingTable(good, { ...good })).to.equal(undefined);
  });
});
