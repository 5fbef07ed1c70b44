import { expect } from 'chai';
import { loggedReports, roleLine, traceTo } from '../../src/node/replica-log.js';

const id = 'ad563683-ba52-887e-a378-166117770eec';
const configuration = { members: [{ id, name: 'n1', address: 'n1:1', voter: true }] };

describe('node: the log of the replica', () => {
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

  it('a time without a leader is an error that names who is not connected, and its end', () => {
    const lines: string[] = [];
    const { onLeaderless } = loggedReports((level, text, event) =>
      lines.push(`${level} ${event} ${text.replace(/since \S+Z/, 'since TIME')}`),
    );
    onLeaderless({ ms: 5000, unreachable: ['n2', 'n3'], isOver: false });
    onLeaderless({ ms: 5000, unreachable: [], isOver: false });
    onLeaderless({ ms: 35_200, unreachable: [], isOver: true });
    const refused = 'there has been no leader since TIME: writes and default reads are refused';
    expect(lines).to.deep.equal([
      `error no_leader ${refused}; not connected to n2, n3`,
      `error no_leader ${refused}; all members are connected: their logs show why none is elected`,
      'info leader_known there is a leader again, after 35 s',
    ]);
  });
});
