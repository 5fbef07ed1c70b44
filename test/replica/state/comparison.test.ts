import { expect } from 'chai';
import { Rpc } from '../../../src/replica/rpc.js';
import {
  decodeRequest,
  encodeResponse,
  type RpcResponse,
  type Sums,
} from '../../../src/replica/rpc-codec.js';
import { differingTable, StateComparison } from '../../../src/replica/state/comparison.js';
import { FakeWire } from '../fakes.js';

const rpcOver = (wire: FakeWire): Rpc =>
  new Rpc({
    ...{ id: 'a', wire, isMember: () => true, isSettled: () => true, beforeResponse: () => {} },
    role: () => ({ role: 'leader', term: 1, leader: 'a' }),
  });

/** The comparison by member `a`, whose peers respond with these sums (undefined: no sums). */
function compare(own: Sums, peers: Record<string, Sums | undefined>) {
  const wire = new FakeWire();
  const verdicts: string[] = [];
  const at = { index: 256, sums: own };
  const comparison = new StateComparison({
    ...{ id: 'a', rpc: rpcOver(wire), timeoutMs: 100 },
    checksums: { checkpoint: () => at, checksum: () => at },
    peers: () => ['a', ...Object.keys(peers)],
    differs: (_index, table) => verdicts.push(`a ${table}`),
    undecided: (_index, table, successor) => verdicts.push(`? ${table} ${successor}`),
  });
  comparison.compare(1);
  for (const [to, payload, , done] of wire.requests.splice(0)) {
    const request = decodeRequest(payload);
    expect(request).to.deep.equal({ type: 'sums', index: 256 });
    const sums = peers[to];
    const answer: RpcResponse =
      sums === undefined ? { type: 'retry' } : { type: 'sums', index: 256, sums };
    done(encodeResponse(answer));
  }
  for (const [to, payload] of wire.requests) {
    const request = decodeRequest(payload);
    if (request?.type === 'differs') verdicts.push(`${to} ${request.table}`);
  }
  return { verdicts, comparison, wire };
}

const good = { token: '01', role: '02' };
const bad = { token: '01', role: '03' };

describe('replica: the comparison of states', () => {
  it('finds no difference when all agree', () => {
    expect(compare(good, { b: good, c: good }).verdicts).to.deep.equal([]);
  });

  it('also compares an index again, as a restarted member may have applied its log wrongly', () => {
    const { comparison, wire } = compare(good, { b: good, c: good });
    comparison.compare(1);
    expect(wire.requests.map(([to]) => to)).to.deep.equal(['b', 'c']);
  });

  it('notifies the member that differs from the majority, and names the table', () => {
    const { verdicts, comparison } = compare(good, { b: bad, c: good });
    expect(verdicts).to.deep.equal(['b role']);
    expect(comparison.stats.differing).to.equal(1);
  });

  it('compares the same index again while a member differs, since a verdict may be lost', () => {
    const { comparison, wire } = compare(good, { b: bad, c: good });
    wire.requests.splice(0);
    comparison.compare(1);
    expect(wire.requests.map(([to]) => to)).to.deep.equal(['b', 'c']);
  });

  it('a leader that is in the minority finds itself differing', () => {
    const { verdicts } = compare(bad, { b: good, c: good });
    expect(verdicts).to.deep.equal(['a role']);
  });

  it('decides nothing without a majority, and counts members that could not be compared', () => {
    const { verdicts, comparison, wire } = compare(good, { b: bad, c: undefined });
    expect(verdicts).to.deep.equal(['? role undefined']);
    expect(comparison.stats).to.deep.equal({ rounds: 1, incomparable: 1, differing: 0 });
    comparison.compare(1);
    expect(wire.requests.length).to.be.greaterThan(0);
  });

  it('without a majority, a leader transfers leadership to the larger group', () => {
    const peers = { b: good, c: undefined, d: good, e: undefined };
    expect(compare(bad, peers).verdicts).to.deep.equal(['? role b']);
    expect(compare(good, { ...peers, d: bad }).verdicts).to.deep.equal(['? role undefined']);
  });

  it('allows no state to be copied that is wrong, or while it is undecided which is right', () => {
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

  it('does not compare again for each request while copying is not allowed', () => {
    const { comparison, wire } = compare(good, { b: bad, c: undefined });
    wire.requests.splice(0);
    expect(comparison.mayCopy(1)).to.equal(false);
    expect(wire.requests).to.deep.equal([]);
  });

  it('reports nothing about incomparable members as long as the others agree', () => {
    expect(compare(good, { b: undefined, c: undefined }).verdicts).to.deep.equal([]);
  });

  it('compares the current states when a member has no checkpoint', () => {
    const wire = new FakeWire();
    const comparison = new StateComparison({
      ...{ id: 'a', rpc: rpcOver(wire), timeoutMs: 100, peers: () => ['a', 'b'] },
      checksums: {
        checkpoint: () => ({ index: 256, sums: good }),
        checksum: () => ({ index: 300, sums: good }),
      },
      ...{ differs: () => {}, undecided: () => {} },
    });
    const requested = (): unknown => {
      comparison.compare(1);
      const [[, payload, , done]] = wire.requests.splice(0) as [(typeof wire.requests)[number]];
      done(encodeResponse({ type: 'retry' }));
      return decodeRequest(payload);
    };
    for (const index of [256, 300, 256]) expect(requested()).to.deep.equal({ type: 'sums', index });
  });

  it('of two members that both respond, the leader is considered right', () => {
    expect(compare(good, { b: bad }).verdicts).to.deep.equal(['b role']);
  });

  it('a table that one side lacks is a difference', () => {
    expect(differingTable({ token: '01' }, { token: '01', role: '02' })).to.equal('role');
    expect(differingTable(good, { ...good })).to.equal(undefined);
  });
});
