import { expect } from 'chai';
import { Packr } from 'msgpackr';
import { type Refusal, refusal } from '../../src/base/errors.js';
import { COMMAND_BYTES_MAX, TEXT_MAX } from '../../src/base/wire-limits.js';
import { decodeResponse, encodeRequest } from '../../src/replica/rpc-codec.js';
import type { Gate } from '../../src/replica/types.js';
import type { WriteOutcome } from '../../src/replica/writes/client-writes.js';
import { encodeProposal } from '../../src/state/proposal.js';
import { administer, LIMITS, type Node, ReplicaCluster, voters } from './cluster.js';

/** Writes a command named `name` on a node; the returned holder receives the outcome. */
function write(node: Node, name: string, timeoutMs = 2000): { outcome?: WriteOutcome } {
  const holder: { outcome?: WriteOutcome } = {};
  const command = { type: name, v: 1 } as const;
  node.replica.write({ tokenKey: null, command, timeoutMs }, (outcome) => {
    if (holder.outcome !== undefined) throw new Error('answered twice');
    holder.outcome = outcome;
  });
  return holder;
}
const answered = ({ outcome }: { outcome?: WriteOutcome }): string | undefined =>
  outcome !== undefined && 'result' in outcome && outcome.result.ok
    ? outcome.result.value
    : undefined;
const codeOf = ({ outcome }: { outcome?: WriteOutcome }): string | undefined =>
  outcome !== undefined && 'refusal' in outcome ? outcome.refusal.code : undefined;
const times = (node: Node, name: string): number =>
  node.machine.applied.filter(({ type }) => type === name).length;

describe('replica: writes', () => {
  it('a leader refuses a forwarded command that is too large to send to a follower', () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    const before = leader.log.lastIndex();
    const command = { type: 'x'.repeat(COMMAND_BYTES_MAX), v: 1 } as const;
    const data = encodeProposal({ id: 'one', since: 0, command });
    const request = encodeRequest({ type: 'write', tokenKey: null, data, timeoutMs: 1000 });
    const codes: (string | undefined)[] = [];
    leader.replica.rpc.receive('b', request, (bytes) => {
      const answer = decodeResponse(bytes);
      codes.push(answer?.type === 'refused' ? answer.refusal.code : answer?.type);
    });
    cluster.advance(200);
    expect(codes).to.deep.equal(['too_large']);
    expect(leader.log.lastIndex()).to.equal(before);
  });

  it('a write on any node is answered once it is applied there and on the leader', () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    for (const node of cluster.nodes.values()) {
      const done = write(node, `on-${node.id}`);
      cluster.until(() => done.outcome !== undefined, 200);
      expect(answered(done)).to.equal(`on-${node.id}`);
      expect([times(node, `on-${node.id}`), times(leader, `on-${node.id}`)]).to.deep.equal([1, 1]);
    }
  });

  it('a write without a leader waits for one', () => {
    const cluster = new ReplicaCluster();
    const done = write(cluster.node('b'), 'early', 3000);
    cluster.until(() => done.outcome !== undefined, 3000);
    expect(answered(done)).to.equal('early');
  });

  it('a write is retried at the next leader under the same id, and takes effect once', () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    const [node] = cluster.others(leader.id);
    // The leader commits it, but dies before it can respond.
    cluster.swallow = (from, _to, what) => from === leader.id && what === 'response';
    const done = write(node!, 'once', 5000);
    cluster.until(() => times(leader, 'once') === 1);
    cluster.kill(leader.id);
    cluster.swallow = () => false;
    cluster.until(() => done.outcome !== undefined, 5000);
    expect(answered(done)).to.equal('once');
    cluster.advance(500);
    for (const other of cluster.others(leader.id)) expect(times(other, 'once')).to.equal(1);
  });

  it('a write accepted by a cut-off leader is executed once by the next leader', () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    cluster.isolate(leader.id);
    const done = write(leader, 'cut-off', 8000);
    cluster.until(() => cluster.leader !== undefined && cluster.leader.id !== leader.id);
    expect(done.outcome).to.equal(undefined);
    cluster.heal();
    cluster.until(() => done.outcome !== undefined, 8000);
    expect(answered(done)).to.equal('cut-off');
    cluster.advance(500);
    for (const node of cluster.nodes.values()) expect(times(node, 'cut-off')).to.equal(1);
  });

  it('a write without a leader until its deadline fails with no_leader: it did not happen', () => {
    const cluster = new ReplicaCluster();
    cluster.kill('b');
    cluster.kill('c');
    const done = write(cluster.node('a'), 'never', 1000);
    cluster.until(() => done.outcome !== undefined, 1100);
    expect(codeOf(done)).to.equal('no_leader');
  });

  it('a write that was sent but not answered has an unknown outcome', () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    const [node] = cluster.others(leader.id);
    // This node does not learn of the commit either.
    cluster.swallow = (_from, to, what) =>
      what === 'response' || (to === node!.id && typeof what === 'object');
    const done = write(node!, 'maybe', 1000);
    cluster.until(() => done.outcome !== undefined, 1100);
    expect(codeOf(done)).to.equal('outcome_unknown');
    expect(times(leader, 'maybe')).to.equal(1);
  });

  it('a leader that can no longer commit reports an unknown outcome, not a failure', () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    for (const other of cluster.others(leader.id)) cluster.kill(other.id);
    const done = write(leader, 'stuck', 1000);
    cluster.until(() => done.outcome !== undefined, 1100);
    expect(codeOf(done)).to.equal('outcome_unknown');
  });

  it('a write is retried when refused as busy while an earlier attempt is open', () => {
    let busy = true;
    const tooMany = refusal('too_many', 'Too many writes are in progress');
    const cluster = new ReplicaCluster({ gate: () => (busy ? tooMany : undefined) });
    const leader = cluster.elect();
    const [node] = cluster.others(leader.id);
    cluster.swallow = (_from, to, what) => to === leader.id && what === 'request';
    const done = write(node!, 'put off', 5000);
    cluster.advance(5);
    cluster.kill(leader.id);
    cluster.until(() => cluster.leader !== undefined && cluster.leader.id !== leader.id);
    cluster.advance(500);
    expect(done.outcome).to.equal(undefined);
    busy = false;
    cluster.until(() => done.outcome !== undefined, 5000);
    expect(answered(done)).to.equal('put off');
  });

  it('stopping ends pending writes: unknown if proposed, unavailable if not', () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    for (const other of cluster.others(leader.id)) cluster.kill(other.id);
    const proposed = write(leader, 'proposed', 10_000);
    cluster.advance(5);
    leader.replica.stop();
    expect(codeOf(proposed)).to.equal('outcome_unknown');
    const after = write(leader, 'after');
    expect(codeOf(after)).to.equal('unavailable');
  });
});

describe('replica: a forwarded write that no member of this release sends', () => {
  /** The leader's response to a write of this command, given as JSON text. */
  function responseTo(text: string, gate: Gate): ReturnType<typeof decodeResponse> {
    const cluster = new ReplicaCluster({ gate });
    const leader = cluster.elect();
    const before = leader.log.lastIndex();
    const data = new Packr({ useRecords: false }).pack([1, 'one', 0, text]);
    const request = encodeRequest({ type: 'write', tokenKey: null, data, timeoutMs: 1000 });
    let answer: ReturnType<typeof decodeResponse>;
    leader.replica.rpc.receive('b', request, (bytes) => {
      answer = decodeResponse(bytes);
    });
    cluster.advance(200);
    expect(leader.log.lastIndex()).to.equal(before);
    return answer;
  }
  function invalid(answer: ReturnType<typeof decodeResponse>): void {
    expect(answer?.type === 'refused' ? answer.refusal.code : answer?.type).to.equal('invalid');
  }

  for (const text of ['null', '1', '"x"', '[]', '{}', '{"type":null}', '{"type":["a"],"v":1}'])
    it(`is refused, and the leader continues: ${text} is not a command`, () => {
      invalid(responseTo(text, () => undefined));
    });

  it('is refused, and the leader continues: its fields cannot be authorized', () => {
    const gate: Gate = (_view, _tokenKey, command) => {
      const { entry } = command as unknown as { entry: string };
      return entry.length > 0 ? undefined : refusal('invalid', 'empty');
    };
    invalid(responseTo('{"type":"config.set","v":1}', gate));
    invalid(responseTo('{"type":"config.set","v":1,"entry":null}', gate));
    const parsing: Gate = (_view, _tokenKey, command) =>
      JSON.parse((command as unknown as { entry: string }).entry) as undefined;
    invalid(responseTo('{"type":"config.set","v":1,"entry":"{"}', parsing));
  });

  it('is distinguished from a disk error, which stops the leader', () => {
    const gate: Gate = () => {
      throw new Error('the disk cannot be read');
    };
    expect(() => responseTo('{"type":"config.set","v":1}', gate)).to.throw('cannot be read');
  });
});

describe('replica: authorization', () => {
  const denied: Refusal = refusal('permission_denied', 'Permission denied');

  it('runs on the leader, and its refusal reaches the caller on any node', () => {
    const asked: (string | null)[] = [];
    const cluster = new ReplicaCluster({
      gate: (_view, tokenKey, command) => {
        asked.push(tokenKey);
        return command.type === 'forbidden' ? denied : undefined;
      },
    });
    const leader = cluster.elect();
    const [node] = cluster.others(leader.id);
    const done = write(node!, 'forbidden');
    cluster.until(() => done.outcome !== undefined, 200);
    expect(done.outcome).to.deep.equal({ refusal: denied });
    expect(asked.every((tokenKey) => tokenKey === null)).to.equal(true);
    expect(times(leader, 'forbidden')).to.equal(0);
  });

  it('waits until the leader has applied the first entry of its term', () => {
    const applied: number[] = [];
    const cluster: ReplicaCluster = new ReplicaCluster({
      gate: () => {
        applied.push(cluster.leader!.machine.index);
        return undefined;
      },
    });
    const done = [...cluster.nodes.values()].map((node) => write(node, `early-${node.id}`, 4000));
    cluster.until(() => done.every(({ outcome }) => outcome !== undefined), 4000);
    expect(applied).to.have.length(3);
    expect(Math.min(...applied)).to.be.at.least(2);
  });

  it('does not run again for a request that took effect: a logout revokes its own token', () => {
    const cluster: ReplicaCluster = new ReplicaCluster({
      gate: () =>
        [...cluster.nodes.values()].some((node) => times(node, 'logout') > 0) ? denied : undefined,
    });
    const leader = cluster.elect();
    const [node] = cluster.others(leader.id);
    cluster.swallow = (from, _to, what) => from === leader.id && what === 'response';
    const done = write(node!, 'logout', 5000);
    cluster.until(() => times(node!, 'logout') === 1);
    cluster.kill(leader.id);
    cluster.until(() => done.outcome !== undefined, 5000);
    expect(answered(done)).to.equal('logout');
  });

  it('a leader that was deposed without knowing it does not refuse by its old state', () => {
    const cluster = new ReplicaCluster({ gate: () => denied });
    const old = cluster.elect();
    cluster.isolate(old.id);
    cluster.advance(250);
    const done = write(old, 'refused?', 1000);
    cluster.advance(50);
    expect(done.outcome).to.equal(undefined);
    cluster.until(() => done.outcome !== undefined, 1200);
    expect(codeOf(done)).to.equal('no_leader');
  });
});

describe('replica: a disk that hangs', () => {
  it("a leader's: another member leads and accepts writes; the old leader follows later", () => {
    const cluster = new ReplicaCluster();
    const old = cluster.elect();
    const [node] = cluster.others(old.id);
    cluster.hang(old.id);
    // It notices only when it has something to store.
    const first = write(node!, 'first', 5000);
    cluster.until(() => cluster.leader !== old, 3000);
    expect(old.replica.availability.hang).to.match(/disk of the log/);
    expect(old.hangs).to.deep.equal([old.replica.availability.hang]);
    const second = write(node!, 'second', 5000);
    cluster.until(() => first.outcome !== undefined && second.outcome !== undefined, 1000);
    expect([answered(first), answered(second)]).to.deep.equal(['first', 'second']);

    // Without its disk it does not become leader, whether there is another one or not.
    cluster.kill(cluster.leader!.id);
    cluster.advance(5000);
    expect(cluster.leader).to.equal(undefined);
    cluster.unhang(old.id);
    const third = write(old, 'third', 5000);
    cluster.until(() => third.outcome !== undefined, 5000);
    expect(answered(third)).to.equal('third');
    expect(old.replica.availability.hang).to.equal(undefined);
    expect(old.hangs.at(-1)).to.equal(null);
    expect(times(old, 'first') + times(old, 'second')).to.equal(2);
  });

  it("a follower's: the leader stays, and the follower catches up after recovery", () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    const [hung, well] = cluster.others(leader.id);
    const { term } = leader.replica.loop.role;
    cluster.hang(hung!.id);
    for (let i = 0; i < 5; i++) {
      const done = write(well!, `w${i}`);
      cluster.until(() => done.outcome !== undefined, 500);
      expect(answered(done)).to.equal(`w${i}`);
      cluster.advance(1000);
    }
    expect(hung!.replica.availability.hang).to.match(/disk of the log/);
    cluster.unhang(hung!.id);
    cluster.until(() => times(hung!, 'w4') === 1, 1000);
    expect(cluster.leader).to.equal(leader);
    expect(leader.replica.loop.role.term).to.equal(term);
  });

  it("a lone server's: it stays leader, and answers pending writes after recovery", () => {
    const cluster = new ReplicaCluster({ ids: ['a'] });
    const leader = cluster.elect();
    cluster.hang('a');
    const done = write(leader, 'late', 20_000);
    cluster.advance(10_000);
    expect(done.outcome).to.equal(undefined);
    cluster.unhang('a');
    cluster.until(() => done.outcome !== undefined, 500);
    expect(answered(done)).to.equal('late');
    const next = write(leader, 'next');
    cluster.until(() => next.outcome !== undefined, 500);
    expect(answered(next)).to.equal('next');
  });

  it('a write that is applied here is answered, although the leader never responds', () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    const [node] = cluster.others(leader.id);
    cluster.swallow = (from, _to, what) => from === leader.id && what === 'response';
    const done = write(node!, 'applied', 60_000);
    cluster.until(() => done.outcome !== undefined, 2000);
    expect(answered(done)).to.equal('applied');
    expect(cluster.leader).to.equal(leader);
    // The deadline does not change this if it comes first.
    const late = write(node!, 'late', 60);
    cluster.until(() => late.outcome !== undefined, 500);
    expect(answered(late)).to.equal('late');
  });
});

describe('replica: a disk at its reserve', () => {
  const term = (cluster: ReplicaCluster): number => cluster.leader!.replica.loop.role.term;

  it("a leader's: a member with free space becomes leader, and accepts writes from all", () => {
    const cluster = new ReplicaCluster();
    const old = cluster.elect();
    const [alsoFull, node] = cluster.others(old.id);
    cluster.full.add(old.id).add(alsoFull!.id);
    for (const [i, at] of [node!, alsoFull!, old].entries()) {
      const done = write(at, `w${i}`, 5000);
      cluster.until(() => done.outcome !== undefined, 5000);
      expect(answered(done)).to.equal(`w${i}`);
    }
    expect(cluster.leader).to.equal(node);
  });

  it("a follower's: nothing is refused, and the leader stays", () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    const [node] = cluster.others(leader.id);
    const before = term(cluster);
    cluster.full.add(node!.id);
    const done = write(node!, 'taken', 500);
    cluster.until(() => done.outcome !== undefined, 500);
    cluster.advance(10_000);
    expect([answered(done), term(cluster)]).to.deep.equal(['taken', before]);
  });

  it("everyone's: writes are refused, deletes accepted, and leadership stays", () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    const before = term(cluster);
    for (const id of cluster.nodes.keys()) cluster.full.add(id);
    for (const node of cluster.nodes.values()) {
      const put = write(node, 'put', 2000);
      cluster.until(() => put.outcome !== undefined, 1900);
      expect(codeOf(put)).to.equal('no_space');
      const del = write(node, 'delete', 500);
      cluster.until(() => del.outcome !== undefined, 400);
      expect(answered(del)).to.equal('delete');
    }
    cluster.advance(10_000);
    expect(term(cluster)).to.equal(before);
    // The first member with free space again becomes leader.
    const [node] = cluster.others(leader.id);
    cluster.full.delete(node!.id);
    cluster.until(() => cluster.leader === node, 3000);
    const put = write(leader, 'put', 1000);
    cluster.until(() => put.outcome !== undefined, 1000);
    expect(answered(put)).to.equal('put');
  });

  it("a leader's: leadership is not transferred to a faulty member, and deletes continue", () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    const [faulty, away] = cluster.others(leader.id);
    const before = term(cluster);
    faulty!.replica.availability.fail('its state differs');
    cluster.kill(away!.id);
    cluster.full.add(leader.id);
    const put = write(leader, 'put', 5000);
    cluster.until(() => put.outcome !== undefined, 5000);
    expect(codeOf(put)).to.equal('no_space');
    const del = write(leader, 'delete', 500);
    cluster.until(() => del.outcome !== undefined, 400);
    expect([answered(del), term(cluster)]).to.deep.equal(['delete', before]);
  });
});

describe('replica: reads', () => {
  const barrier = (node: Node, mode: 'default' | 'consistent', timeoutMs = 1000) => {
    const holder: { ended?: boolean; why?: Refusal | undefined } = {};
    node.replica.barrier(mode, timeoutMs, (why) => {
      holder.ended = true;
      holder.why = why;
    });
    return holder;
  };

  for (const mode of ['default', 'consistent'] as const) {
    it(`a ${mode} read on a follower sees every write acknowledged before it`, () => {
      const cluster = new ReplicaCluster();
      const leader = cluster.elect();
      const [node] = cluster.others(leader.id);
      const done = write(leader, 'seen');
      // The follower hears of the entry, but not yet that it is committed.
      cluster.until(() => done.outcome !== undefined, 200);
      const read = barrier(node!, mode);
      cluster.until(() => read.ended === true, 500);
      expect(read.why).to.equal(undefined);
      expect(times(node!, 'seen')).to.equal(1);
    });
  }

  it('a cut-off leader whose lease has expired serves no default read', () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    cluster.advance(200);
    cluster.isolate(leader.id);
    cluster.advance(201);
    const read = barrier(leader, 'default', 500);
    cluster.until(() => read.ended === true, 700);
    expect(read.why?.code).to.equal('no_leader');
  });

  it('a paused leader does not serve by the lease it had before', () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    cluster.advance(200);
    for (const other of cluster.others(leader.id)) cluster.kill(other.id);
    cluster.clock.nowMs += 10_000;
    const read = barrier(leader, 'default', 300);
    cluster.clock.settle();
    expect(read.ended).to.equal(undefined);
    cluster.until(() => read.ended === true, 500);
    expect(read.why?.code).to.equal('no_leader');
  });

  it('a read is retried at the next leader', () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    const [node] = cluster.others(leader.id);
    cluster.kill(leader.id);
    const read = barrier(node!, 'consistent', 5000);
    cluster.until(() => read.ended === true, 5000);
    expect(read.why).to.equal(undefined);
  });

  it('wakes the watchers of a key that the applied command changed, on every node', () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    const woken: string[] = [];
    for (const { id, replica } of cluster.nodes.values()) {
      replica.watch(['hot'], () => woken.push(id));
      replica.watch(['cold'], () => woken.push(`cold ${id}`));
    }
    write(leader, 'hot');
    cluster.advance(200);
    expect(woken.sort()).to.deep.equal(['a', 'b', 'c']);
  });
});

describe('replica: membership', () => {
  it('a new server is a learner until it has caught up, then a voter', () => {
    const cluster = new ReplicaCluster({ ids: ['a', 'b', 'c', 'd'], initial: ['a', 'b', 'c'] });
    const leader = cluster.elect();
    for (let i = 0; i < 20; i++) write(leader, `before-${i}`);
    cluster.advance(50);
    const [follower] = cluster.others(leader.id);
    const server = { id: 'd', name: 'd', address: 'd:1', level: 1 };
    const answers = administer(follower!, { type: 'admit', server });
    cluster.until(() => answers.length > 0, 1000);
    expect(answers).to.deep.equal(['done']);
    cluster.until(() => voters(leader).includes('d'), 2000);
    cluster.until(() => times(cluster.node('d'), 'before-19') === 1, 500);
    expect(voters(leader)).to.deep.equal(['a', 'b', 'c', 'd']);
  });

  it('a new server becomes a voter only once it has applied what it received', () => {
    const cluster = new ReplicaCluster({ ids: ['a', 'b', 'c', 'd'], initial: ['a', 'b', 'c'] });
    const leader = cluster.elect();
    for (let i = 0; i < 20; i++) write(leader, `before-${i}`);
    cluster.advance(50);
    cluster.applies = (id) => id !== 'd';
    administer(leader, { type: 'admit', server: { id: 'd', name: 'd', address: 'd:1', level: 1 } });
    const { log } = cluster.node('d');
    cluster.until(() => log.lastIndex() === leader.log.lastIndex() && log.lastIndex() > 20, 2000);
    cluster.advance(2000);
    expect(voters(leader)).to.deep.equal(['a', 'b', 'c']);
    cluster.applies = () => true;
    cluster.until(() => voters(leader).includes('d'), 2000);
    expect(times(cluster.node('d'), 'before-19')).to.equal(1);
  });

  it('a leader that is slow to apply earlier terms transfers leadership to a faster member', () => {
    const cluster = new ReplicaCluster({ limits: { applyEntriesMax: 1 } });
    const first = cluster.elect();
    const [slow, other] = cluster.others(first.id);
    let asked = 0;
    cluster.applies = (id) => id !== slow!.id || asked++ % 5 === 0;
    for (let i = 0; i < 100; i++) write(first, `before-${i}`);
    cluster.advance(50);
    administer(first, { type: 'transfer', to: slow!.id });
    cluster.until(() => slow!.replica.loop.role.role === 'leader', 1000);
    const done = write(other!, 'after');
    cluster.until(() => done.outcome !== undefined, 5000);
    expect(answered(done)).to.equal('after');
    expect(slow!.replica.loop.role.role).to.equal('follower');
    expect(slow!.machine.index).to.be.lessThan(100);
    expect(slow!.hangs).to.deep.equal([]);
  });

  it('a leader keeps leading while it applies if no other member has applied more', () => {
    const cluster = new ReplicaCluster({ limits: { applyEntriesMax: 1 } });
    const first = cluster.elect();
    let asked = 0;
    cluster.applies = (id) => id === first.id || asked++ % 10 === 0;
    for (let i = 0; i < 100; i++) write(first, `before-${i}`);
    cluster.advance(50);
    cluster.kill(first.id);
    cluster.until(() => cluster.leader !== undefined && cluster.leader !== first, 5000);
    const { leader } = cluster;
    const { term } = leader!.replica.loop.role;
    cluster.advance(5000);
    expect(cluster.leader).to.equal(leader);
    expect(leader!.replica.loop.role.term).to.equal(term);
    expect(leader!.machine.index).to.be.lessThan(100);
    cluster.applies = () => true;
    const done = write(leader!, 'after');
    cluster.until(() => done.outcome !== undefined, 5000);
    expect(answered(done)).to.equal('after');
  });

  it('refuses a name or an address too long to be decoded from the configuration', () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    const { configurationIndex } = leader.replica.loop.status();
    const long = 'x'.repeat(TEXT_MAX + 1);
    for (const wrong of [{ id: long }, { id: '' }, { name: long }, { address: `${long}:1` }]) {
      const server = { id: 'd', name: 'd', address: 'd:1', level: 1, ...wrong };
      expect(administer(leader, { type: 'admit', server })).to.deep.equal(['invalid']);
    }
    expect(leader.replica.loop.status().configurationIndex).to.equal(configurationIndex);
  });

  it('removes a follower, which reports that it was removed', () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    const [gone, stays] = cluster.others(leader.id);
    const answers = administer(stays!, { type: 'remove', id: gone!.id });
    cluster.until(() => answers.length > 0, 1000);
    expect(answers).to.deep.equal(['done']);
    expect(voters(leader)).to.not.include(gone!.id);
    cluster.advance(20);
    expect(gone!.replica.fault).to.match(/removed/);
    expect(stays!.replica.fault).to.equal(undefined);
    const done = write(stays!, 'by-two');
    cluster.until(() => done.outcome !== undefined, 500);
    expect(answered(done)).to.equal('by-two');
  });

  it('reports once that it was removed, and once that it is a member again', () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    const [gone] = cluster.others(leader.id);
    const { id, faults } = gone!;
    administer(leader, { type: 'remove', id });
    cluster.advance(1000);
    expect(faults).to.deep.equal(['it was removed from the cluster']);
    administer(leader, { type: 'admit', server: { id, name: id, address: `${id}:1`, level: 1 } });
    cluster.advance(1000);
    expect(faults).to.deep.equal(['it was removed from the cluster', null]);
    expect(leader.faults).to.deep.equal([]);
  });

  it('reports the reason for which it failed, but not that it was stopped', () => {
    const cluster = new ReplicaCluster();
    const { replica, faults } = cluster.elect();
    replica.availability.notReady = 'it has no state';
    cluster.advance(200);
    replica.availability.notReady = undefined;
    cluster.advance(200);
    replica.availability.fail('its state differs');
    replica.availability.fail('and differs again');
    cluster.advance(200);
    replica.stop();
    cluster.advance(200);
    expect(faults).to.deep.equal(['it has no state', null, 'its state differs']);
  });

  it('of five, the one that can serve becomes leader, whichever four cannot', () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    for (const sound of ids) {
      const cluster = new ReplicaCluster({ ids });
      const { replica } = cluster.elect();
      for (const id of ids)
        if (id !== sound) cluster.node(id).replica.availability.fail('its state differs');
      cluster.until(() => cluster.leader?.id === sound);
      cluster.advance(2000);
      expect(cluster.leader?.id).to.equal(sound);
      expect(replica.loop.role.leader).to.equal(sound);
    }
  });

  it('§4.2.2 removes the leader itself; the others continue', () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    const answers = administer(leader, { type: 'remove', id: leader.id });
    cluster.until(() => answers.length > 0, 1000);
    expect(answers).to.deep.equal(['done']);
    const [node] = cluster.others(leader.id);
    const done = write(node!, 'after', 5000);
    cluster.until(() => done.outcome !== undefined, 5000);
    expect(answered(done)).to.equal('after');
    expect(leader.replica.fault).to.match(/removed/);
  });

  it('refuses to remove an unknown server, or the last voter', () => {
    const cluster = new ReplicaCluster({ ids: ['a'] });
    const leader = cluster.elect();
    const unknown = administer(leader, { type: 'remove', id: 'x' });
    const last = administer(leader, { type: 'remove', id: 'a' });
    cluster.advance(10);
    expect([...unknown, ...last]).to.deep.equal(['not_found', 'conflict']);
  });

  it('refuses a removal that leaves no live majority until the dead member is removed', () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    const [dead, alive] = cluster.others(leader.id);
    cluster.kill(dead!.id);
    cluster.advance(LIMITS.electionMs + 1);
    const answers = [alive!, leader].map(({ id }) => administer(alive!, { type: 'remove', id }));
    cluster.until(() => answers.every(({ length }) => length > 0), 1000);
    expect(answers).to.deep.equal([['conflict'], ['conflict']]);
    const done = write(alive!, 'still', 2000);
    cluster.until(() => done.outcome !== undefined, 2000);
    expect(answered(done)).to.equal('still');

    for (const { id } of [dead!, leader]) {
      const removed = administer(leader, { type: 'remove', id });
      cluster.until(() => removed.length > 0, 1000);
      expect(removed).to.deep.equal(['done']);
    }
    cluster.until(() => cluster.leader?.id === alive!.id, 5000);
    expect(voters(alive!)).to.deep.equal([alive!.id]);
  });

  it('transfers leadership to the named member', () => {
    const cluster = new ReplicaCluster();
    const leader = cluster.elect();
    cluster.advance(200);
    const [target] = cluster.others(leader.id);
    const answers = administer(target!, { type: 'transfer', to: target!.id });
    cluster.until(() => answers.length > 0, 1000);
    expect(answers).to.deep.equal(['done']);
    cluster.until(() => cluster.leader?.id === target!.id, 500);
  });
});

describe('replica: log truncation', () => {
  it('truncates by count on every node, keeping a tail', () => {
    const cluster = new ReplicaCluster({ limits: { cutEntries: 2000, keepEntries: 500 } });
    const leader = cluster.elect();
    for (let i = 0; i < 5000; i++) {
      write(leader, 'fill');
      if (i % 500 === 0) cluster.advance(20);
    }
    cluster.advance(500);
    for (const { log, machine } of cluster.nodes.values()) {
      expect(machine.index).to.be.greaterThan(5000);
      expect(log.firstIndex()).to.be.greaterThan(1024);
      expect(log.lastIndex() - log.firstIndex()).to.be.within(499, 4000);
      expect(log.snapshot()!.configuration.members).to.have.length(3);
    }
  });
});
