import { expect } from 'chai';
import { roleLine, traceTo } from '../../src/node/replica-log.js';

const id = 'ad563683-ba52-887e-a378-166117770eec';
const configuration = { members: [{ id, name: 'n1', address: 'n1:1', voter: true }] };

describe('node/replica-log', () => {
  it('a decision is a line with the names of the members, and the ids of other servers', () => {
    const lines: string[] = [];
    const trace = traceTo(
      (line) => lines.push(line),
      () => configuration,
    );
    for (const candidate of [id, 'gone'])
      trace?.({ type: 'voteGranted', preVote: false, candidate, term: 7 });
    expect(lines).to.deep.equal([
      'grants its vote for term 7 to n1',
      'grants its vote for term 7 to gone',
    ]);
  });

  it('nothing is traced where nobody reads it', () => {
    expect(traceTo(undefined, () => configuration)).to.equal(undefined);
  });

  it('a change of role names the leader', () => {
    const follower = { role: 'follower', term: 7, leader: id } as const;
    expect(roleLine(follower, configuration)).to.equal(`follower in term 7, leader n1 (${id})`);
    const lost = { ...follower, leader: null };
    expect(roleLine(lost, configuration)).to.equal('follower in term 7, leader unknown');
    const leads = { ...follower, role: 'leader' } as const;
    expect(roleLine(leads, configuration)).to.equal('leader in term 7');
  });
});
