import { expect } from 'chai';
import { Packr } from 'msgpackr';
import { type Refusal, refusal } from '../../src/errors.js';
import type { RpcRequest } from '../../src/replica/rpc.js';
import { decodeResponse, encodeRequest } from '../../src/replica/rpc-codec.js';
import type { Gate } from '../../src/replica/types.js';
import type { WriteOutcome } from '../../src/replica/writes/client-writes.js';
import { encodeProposal } from '../../src/state/proposal.js';
import { COMMAND_BYTES_MAX, TEXT_MAX } from '../../src/wire-limits.js';
import { LIMITS, type Node, World } from './world.js';

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
    const world = new World();
    const leader = world.elect();
    const before = leader.log.lastIndex();
    const command = { type: 'x'.repeat(COMMAND_BYTES_MAX), v: 1 } as const;
    const data = encodeProposal({ id: 'one', since: 0, command });
    const request = encodeRequest({ type: 'write', tokenKey: null, data, timeoutMs: 1000 });
    const codes: (string | undefined)[] = [];
    leader.replica.rpc.receive('b', request, (bytes) => {
      const answer = decodeResponse(bytes);
      codes.push(answer?.type === 'refused' ? answer.refusal.code : answer?.type);
    });
    world.advance(200);
    expect(codes).to.deep.equal(['too_large']);
    expect(leader.log.lastIndex()).to.equal(before);
  });

  it('a write on any node is answered once it is applied there and on the leader', () => {
    const world = new World();
    const leader = world.elect();
    for (const node of world.nodes.values()) {
      const done = write(node, `on-${node.id}`);
      world.until(() => done.outcome !== undefined, 200);
      expect(answered(done)).to.equal(`on-${node.id}`);
      expect([times(node, `on-${node.id}`), times(leader, `on-${node.id}`)]).to.deep.equal([1, 1]);
    }
  });

  it('a write without a leader waits for one', () => {
    const world = new World();
    const done = write(world.node('b'), 'early', 3000);
    world.until(() => done.outcome !== undefined, 3000);
    expect(answered(done)).to.equal('early');
  });

  it('a write is retried at the next leader under the same id, and takes effect once', () => {
    const world = new World();
    const leader = world.elect();
    const [node] = world.others(leader.id);
    // The leader commits it, but dies before it can respond.
    world.swallow = (from, _to, what) => from === leader.id && what === 'response';
    const done = write(node!, 'once', 5000);
    world.until(() => times(leader, 'once') === 1);
    world.kill(leader.id);
    world.swallow = () => false;
    world.until(() => done.outcome !== undefined, 5000);
    expect(answered(done)).to.equal('once');
    world.advance(500);
    for (const other of world.others(leader.id)) expect(times(other, 'once')).to.equal(1);
  });

  it('a write accepted by a cut-off leader is executed once by the next leader', () => {
    const world = new World();
    const leader = world.elect();
    world.isolate(leader.id);
    const done = write(leader, 'cut-off', 8000);
    world.until(() => world.leader !== undefined && world.leader.id !== leader.id);
    expect(done.outcome).to.equal(undefined);
    world.heal();
    world.until(() => done.outcome !== undefined, 8000);
    expect(answered(done)).to.equal('cut-off');
    world.advance(500);
    for (const node of world.nodes.values()) expect(times(node, 'cut-off')).to.equal(1);
  });

  it('a write without a leader until its deadline fails with no_leader: it did not happen', () => {
    const world = new World();
    world.kill('b');
    world.kill('c');
    const done = write(world.node('a'), 'never', 1000);
    world.until(() => done.outcome !== undefined, 1100);
    expect(codeOf(done)).to.equal('no_leader');
  });

  it('a write that was sent but not answered has an unknown outcome', () => {
    const world = new World();
    const leader = world.elect();
    const [node] = world.others(leader.id);
    // This node does not learn of the commit either.
    world.swallow = (_from, to, what) =>
      what === 'response' || (to === node!.id && typeof what === 'object');
    const done = write(node!, 'maybe', 1000);
    world.until(() => done.outcome !== undefined, 1100);
    expect(codeOf(done)).to.equal('outcome_unknown');
    expect(times(leader, 'maybe')).to.equal(1);
  });

  it('a leader that can no longer commit reports an unknown outcome, not a failure', () => {
    const world = new World();
    const leader = world.elect();
    for (const other of world.others(leader.id)) world.kill(other.id);
    const done = write(leader, 'stuck', 1000);
    world.until(() => done.outcome !== undefined, 1100);
    expect(codeOf(done)).to.equal('outcome_unknown');
  });

  it('a write is retried when refused as busy while an earlier attempt is open', () => {
    let busy = true;
    const tooMany = refusal('too_many', 'Too many writes are on their way');
    const world = new World({ gate: () => (busy ? tooMany : undefined) });
    const leader = world.elect();
    const [node] = world.others(leader.id);
    world.swallow = (_from, to, what) => to === leader.id && what === 'request';
    const done = write(node!, 'put off', 5000);
    world.advance(5);
    world.kill(leader.id);
    world.until(() => world.leader !== undefined && world.leader.id !== leader.id);
    world.advance(500);
    expect(done.outcome).to.equal(undefined);
    busy = false;
    world.until(() => done.outcome !== undefined, 5000);
    expect(answered(done)).to.equal('put off');
  });

  it('stopping ends pending writes: unknown if proposed, unavailable if not', () => {
    const world = new World();
    const leader = world.elect();
    for (const other of world.others(leader.id)) world.kill(other.id);
    const proposed = write(leader, 'proposed', 10_000);
    world.advance(5);
    leader.replica.stop();
    expect(codeOf(proposed)).to.equal('outcome_unknown');
    const after = write(leader, 'after');
    expect(codeOf(after)).to.equal('unavailable');
  });
});

describe('replica: a forwarded write that no member of this release sends', () => {
  /** The leader's response to a write of this command, given as JSON text. */
  function responseTo(text: string, gate: Gate): ReturnType<typeof decodeResponse> {
    const world = new World({ gate });
    const leader = world.elect();
    const before = leader.log.lastIndex();
    const data = new Packr({ useRecords: false }).pack([1, 'one', 0, text]);
    const request = encodeRequest({ type: 'write', tokenKey: null, data, timeoutMs: 1000 });
    let answer: ReturnType<typeof decodeResponse>;
    leader.replica.rpc.receive('b', request, (bytes) => {
      answer = decodeResponse(bytes);
    });
    world.advance(200);
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
    const world = new World({
      gate: (_view, tokenKey, command) => {
        asked.push(tokenKey);
        return command.type === 'forbidden' ? denied : undefined;
      },
    });
    const leader = world.elect();
    const [node] = world.others(leader.id);
    const done = write(node!, 'forbidden');
    world.until(() => done.outcome !== undefined, 200);
    expect(done.outcome).to.deep.equal({ refusal: denied });
    expect(asked.every((tokenKey) => tokenKey === null)).to.equal(true);
    expect(times(leader, 'forbidden')).to.equal(0);
  });

  it('waits until the leader has applied the first entry of its term', () => {
    const applied: number[] = [];
    const world: World = new World({
      gate: () => {
        applied.push(world.leader!.machine.index);
        return undefined;
      },
    });
    const done = [...world.nodes.values()].map((node) => write(node, `early-${node.id}`, 4000));
    world.until(() => done.every(({ outcome }) => outcome !== undefined), 4000);
    expect(applied).to.have.length(3);
    expect(Math.min(...applied)).to.be.at.least(2);
  });

  it('does not run again for a request that took effect: a logout revokes its own token', () => {
    const world: World = new World({
      gate: () =>
        [...world.nodes.values()].some((node) => times(node, 'logout') > 0) ? denied : undefined,
    });
    const leader = world.elect();
    const [node] = world.others(leader.id);
    world.swallow = (from, _to, what) => from === leader.id && what === 'response';
    const done = write(node!, 'logout', 5000);
    world.until(() => times(node!, 'logout') === 1);
    world.kill(leader.id);
    world.until(() => done.outcome !== undefined, 5000);
    expect(answered(done)).to.equal('logout');
  });

  it('a leader that was deposed without knowing it does not refuse by its old state', () => {
    const world = new World({ gate: () => denied });
    const old = world.elect();
    world.isolate(old.id);
    world.advance(250);
    const done = write(old, 'refused?', 1000);
    world.advance(50);
    expect(done.outcome).to.equal(undefined);
    world.until(() => done.outcome !== undefined, 1200);
    expect(codeOf(done)).to.equal('no_leader');
  });
});

describe('replica: a disk that hangs', () => {
  it("a leader's: another member leads and accepts writes; the old leader follows later", () => {
    const world = new World();
    const old = world.elect();
    const [node] = world.others(old.id);
    world.hang(old.id);
    // It notices only when it has something to store.
    const first = write(node!, 'first', 5000);
    world.until(() => world.leader !== old, 3000);
    expect(old.replica.availability.hang).to.match(/disk of the log/);
    expect(old.hangs).to.deep.equal([old.replica.availability.hang]);
    const second = write(node!, 'second', 5000);
    world.until(() => first.outcome !== undefined && second.outcome !== undefined, 1000);
    expect([answered(first), answered(second)]).to.deep.equal(['first', 'second']);

    // Without its disk it does not become leader, whether there is another one or not.
    world.kill(world.leader!.id);
    world.advance(5000);
    expect(world.leader).to.equal(undefined);
    world.unhang(old.id);
    const third = write(old, 'third', 5000);
    world.until(() => third.outcome !== undefined, 5000);
    expect(answered(third)).to.equal('third');
    expect(old.replica.availability.hang).to.equal(undefined);
    expect(old.hangs.at(-1)).to.equal(null);
    expect(times(old, 'first') + times(old, 'second')).to.equal(2);
  });

  it("a follower's: the leader stays, and the follower catches up after recovery", () => {
    const world = new World();
    const leader = world.elect();
    const [hung, well] = world.others(leader.id);
    const { term } = leader.replica.loop.role;
    world.hang(hung!.id);
    for (let i = 0; i < 5; i++) {
      const done = write(well!, `w${i}`);
      world.until(() => done.outcome !== undefined, 500);
      expect(answered(done)).to.equal(`w${i}`);
      world.advance(1000);
    }
    expect(hung!.replica.availability.hang).to.match(/disk of the log/);
    world.unhang(hung!.id);
    world.until(() => times(hung!, 'w4') === 1, 1000);
    expect(world.leader).to.equal(leader);
    expect(leader.replica.loop.role.term).to.equal(term);
  });

  it("a lone server's: it stays leader, and answers pending writes after recovery", () => {
    const world = new World({ ids: ['a'] });
    const leader = world.elect();
    world.hang('a');
    const done = write(leader, 'late', 20_000);
    world.advance(10_000);
    expect(done.outcome).to.equal(undefined);
    world.unhang('a');
    world.until(() => done.outcome !== undefined, 500);
    expect(answered(done)).to.equal('late');
    const next = write(leader, 'next');
    world.until(() => next.outcome !== undefined, 500);
    expect(answered(next)).to.equal('next');
  });

  it('a write that is applied here is answered, although the leader never responds', () => {
    const world = new World();
    const leader = world.elect();
    const [node] = world.others(leader.id);
    world.swallow = (from, _to, what) => from === leader.id && what === 'response';
    const done = write(node!, 'applied', 60_000);
    world.until(() => done.outcome !== undefined, 2000);
    expect(answered(done)).to.equal('applied');
    expect(world.leader).to.equal(leader);
    // The deadline does not change this if it comes first.
    const late = write(node!, 'late', 60);
    world.until(() => late.outcome !== undefined, 500);
    expect(answered(late)).to.equal('late');
  });
});

describe('replica: a disk at its reserve', () => {
  const term = (world: World): number => world.leader!.replica.loop.role.term;

  it("a leader's: a member with free space becomes leader, and accepts writes from all", () => {
    const world = new World();
    const old = world.elect();
    const [alsoFull, node] = world.others(old.id);
    world.full.add(old.id).add(alsoFull!.id);
    for (const [i, at] of [node!, alsoFull!, old].entries()) {
      const done = write(at, `w${i}`, 5000);
      world.until(() => done.outcome !== undefined, 5000);
      expect(answered(done)).to.equal(`w${i}`);
    }
    expect(world.leader).to.equal(node);
  });

  it("a follower's: nothing is refused, and the leader stays", () => {
    const world = new World();
    const leader = world.elect();
    const [node] = world.others(leader.id);
    const before = term(world);
    world.full.add(node!.id);
    const done = write(node!, 'taken', 500);
    world.until(() => done.outcome !== undefined, 500);
    world.advance(10_000);
    expect([answered(done), term(world)]).to.deep.equal(['taken', before]);
  });

  it("everyone's: writes are refused, deletes accepted, and leadership stays", () => {
    const world = new World();
    const leader = world.elect();
    const before = term(world);
    for (const id of world.nodes.keys()) world.full.add(id);
    for (const node of world.nodes.values()) {
      const put = write(node, 'put', 2000);
      world.until(() => put.outcome !== undefined, 1900);
      expect(codeOf(put)).to.equal('no_space');
      const del = write(node, 'delete', 500);
      world.until(() => del.outcome !== undefined, 400);
      expect(answered(del)).to.equal('delete');
    }
    world.advance(10_000);
    expect(term(world)).to.equal(before);
    // The first member with free space again becomes leader.
    const [node] = world.others(leader.id);
    world.full.delete(node!.id);
    world.until(() => world.leader === node, 3000);
    const put = write(leader, 'put', 1000);
    world.until(() => put.outcome !== undefined, 1000);
    expect(answered(put)).to.equal('put');
  });

  it("a leader's: leadership is not transferred to a faulty member, and deletes continue", () => {
    const world = new World();
    const leader = world.elect();
    const [faulty, away] = world.others(leader.id);
    const before = term(world);
    faulty!.replica.availability.fail('its state differs');
    world.kill(away!.id);
    world.full.add(leader.id);
    const put = write(leader, 'put', 5000);
    world.until(() => put.outcome !== undefined, 5000);
    expect(codeOf(put)).to.equal('no_space');
    const del = write(leader, 'delete', 500);
    world.until(() => del.outcome !== undefined, 400);
    expect([answered(del), term(world)]).to.deep.equal(['delete', before]);
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
      const world = new World();
      const leader = world.elect();
      const [node] = world.others(leader.id);
      const done = write(leader, 'seen');
      // The follower hears of the entry, but not yet that it is committed.
      world.until(() => done.outcome !== undefined, 200);
      const read = barrier(node!, mode);
      world.until(() => read.ended === true, 500);
      expect(read.why).to.equal(undefined);
      expect(times(node!, 'seen')).to.equal(1);
    });
  }

  it('a cut-off leader whose lease has expired serves no default read', () => {
    const world = new World();
    const leader = world.elect();
    world.advance(200);
    world.isolate(leader.id);
    world.advance(201);
    const read = barrier(leader, 'default', 500);
    world.until(() => read.ended === true, 700);
    expect(read.why?.code).to.equal('no_leader');
  });

  it('a paused leader does not serve by the lease it had before', () => {
    const world = new World();
    const leader = world.elect();
    world.advance(200);
    for (const other of world.others(leader.id)) world.kill(other.id);
    world.clock.nowMs += 10_000;
    const read = barrier(leader, 'default', 300);
    world.clock.settle();
    expect(read.ended).to.equal(undefined);
    world.until(() => read.ended === true, 500);
    expect(read.why?.code).to.equal('no_leader');
  });

  it('a read is retried at the next leader', () => {
    const world = new World();
    const leader = world.elect();
    const [node] = world.others(leader.id);
    world.kill(leader.id);
    const read = barrier(node!, 'consistent', 5000);
    world.until(() => read.ended === true, 5000);
    expect(read.why).to.equal(undefined);
  });

  it('wakes the watchers of a key that the applied command changed, on every node', () => {
    const world = new World();
    const leader = world.elect();
    const woken: string[] = [];
    for (const { id, replica } of world.nodes.values()) {
      replica.watch(['hot'], () => woken.push(id));
      replica.watch(['cold'], () => woken.push(`cold ${id}`));
    }
    write(leader, 'hot');
    world.advance(200);
    expect(woken.sort()).to.deep.equal(['a', 'b', 'c']);
  });
});

describe('replica: membership', () => {
  const administer = (node: Node, request: RpcRequest) => {
    const answers: string[] = [];
    node.replica.rpc.callLeader(request, 5000, (answer) => {
      answers.push(answer.type === 'refused' ? answer.refusal.code : answer.type);
    });
    return answers;
  };
  const voters = (node: Node): string[] =>
    node.replica.loop
      .status()
      .configuration.members.filter(({ voter }) => voter)
      .map(({ id }) => id)
      .sort();

  it('a new server is a learner until it has caught up, then a voter', () => {
    const world = new World({ ids: ['a', 'b', 'c', 'd'], initial: ['a', 'b', 'c'] });
    const leader = world.elect();
    for (let i = 0; i < 20; i++) write(leader, `before-${i}`);
    world.advance(50);
    const [follower] = world.others(leader.id);
    const server = { id: 'd', name: 'd', address: 'd:1' };
    const answers = administer(follower!, { type: 'admit', server });
    world.until(() => answers.length > 0, 1000);
    expect(answers).to.deep.equal(['done']);
    world.until(() => voters(leader).includes('d'), 2000);
    world.until(() => times(world.node('d'), 'before-19') === 1, 500);
    expect(voters(leader)).to.deep.equal(['a', 'b', 'c', 'd']);
  });

  it('a new server becomes a voter only once it has applied what it received', () => {
    const world = new World({ ids: ['a', 'b', 'c', 'd'], initial: ['a', 'b', 'c'] });
    const leader = world.elect();
    for (let i = 0; i < 20; i++) write(leader, `before-${i}`);
    world.advance(50);
    world.applies = (id) => id !== 'd';
    administer(leader, { type: 'admit', server: { id: 'd', name: 'd', address: 'd:1' } });
    const { log } = world.node('d');
    world.until(() => log.lastIndex() === leader.log.lastIndex() && log.lastIndex() > 20, 2000);
    world.advance(2000);
    expect(voters(leader)).to.deep.equal(['a', 'b', 'c']);
    world.applies = () => true;
    world.until(() => voters(leader).includes('d'), 2000);
    expect(times(world.node('d'), 'before-19')).to.equal(1);
  });

  it('a leader that is slow to apply earlier terms transfers leadership to a faster member', () => {
    const world = new World({ limits: { applyEntriesMax: 1 } });
    const first = world.elect();
    const [slow, other] = world.others(first.id);
    let asked = 0;
    world.applies = (id) => id !== slow!.id || asked++ % 5 === 0;
    for (let i = 0; i < 100; i++) write(first, `before-${i}`);
    world.advance(50);
    administer(first, { type: 'transfer', to: slow!.id });
    world.until(() => slow!.replica.loop.role.role === 'leader', 1000);
    const done = write(other!, 'after');
    world.until(() => done.outcome !== undefined, 5000);
    expect(answered(done)).to.equal('after');
    expect(slow!.replica.loop.role.role).to.equal('follower');
    expect(slow!.machine.index).to.be.lessThan(100);
    expect(slow!.hangs).to.deep.equal([]);
  });

  it('a leader keeps leading while it applies if no other member has applied more', () => {
    const world = new World({ limits: { applyEntriesMax: 1 } });
    const first = world.elect();
    let asked = 0;
    world.applies = (id) => id === first.id || asked++ % 10 === 0;
    for (let i = 0; i < 100; i++) write(first, `before-${i}`);
    world.advance(50);
    world.kill(first.id);
    world.until(() => world.leader !== undefined && world.leader !== first, 5000);
    const { leader } = world;
    const { term } = leader!.replica.loop.role;
    world.advance(5000);
    expect(world.leader).to.equal(leader);
    expect(leader!.replica.loop.role.term).to.equal(term);
    expect(leader!.machine.index).to.be.lessThan(100);
    world.applies = () => true;
    const done = write(leader!, 'after');
    world.until(() => done.outcome !== undefined, 5000);
    expect(answered(done)).to.equal('after');
  });

  it('refuses a name or an address too long to be decoded from the configuration', () => {
    const world = new World();
    const leader = world.elect();
    const { configurationIndex } = leader.replica.loop.status();
    const long = 'x'.repeat(TEXT_MAX + 1);
    for (const wrong of [{ id: long }, { id: '' }, { name: long }, { address: `${long}:1` }]) {
      const server = { id: 'd', name: 'd', address: 'd:1', ...wrong };
      expect(administer(leader, { type: 'admit', server })).to.deep.equal(['invalid']);
    }
    expect(leader.replica.loop.status().configurationIndex).to.equal(configurationIndex);
  });

  it('removes a follower, which reports that it was removed', () => {
    const world = new World();
    const leader = world.elect();
    const [gone, stays] = world.others(leader.id);
    const answers = administer(stays!, { type: 'remove', id: gone!.id });
    world.until(() => answers.length > 0, 1000);
    expect(answers).to.deep.equal(['done']);
    expect(voters(leader)).to.not.include(gone!.id);
    world.advance(20);
    expect(gone!.replica.fault).to.match(/removed/);
    expect(stays!.replica.fault).to.equal(undefined);
    const done = write(stays!, 'by-two');
    world.until(() => done.outcome !== undefined, 500);
    expect(answered(done)).to.equal('by-two');
  });

  it('reports once that it was removed, and once that it is a member again', () => {
    const world = new World();
    const leader = world.elect();
    const [gone] = world.others(leader.id);
    const { id, faults } = gone!;
    administer(leader, { type: 'remove', id });
    world.advance(1000);
    expect(faults).to.deep.equal(['it was removed from the cluster']);
    administer(leader, { type: 'admit', server: { id, name: id, address: `${id}:1` } });
    world.advance(1000);
    expect(faults).to.deep.equal(['it was removed from the cluster', null]);
    expect(leader.faults).to.deep.equal([]);
  });

  it('reports the reason for which it failed, but not that it was stopped', () => {
    const world = new World();
    const { replica, faults } = world.elect();
    replica.availability.notReady = 'it has no state';
    world.advance(200);
    replica.availability.notReady = undefined;
    world.advance(200);
    replica.availability.fail('its state differs');
    replica.availability.fail('and differs again');
    world.advance(200);
    replica.stop();
    world.advance(200);
    expect(faults).to.deep.equal(['it has no state', null, 'its state differs']);
  });

  it('of five, the one that can serve becomes leader, whichever four cannot', () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    for (const sound of ids) {
      const world = new World({ ids });
      const { replica } = world.elect();
      for (const id of ids)
        if (id !== sound) world.node(id).replica.availability.fail('its state differs');
      world.until(() => world.leader?.id === sound);
      world.advance(2000);
      expect(world.leader?.id).to.equal(sound);
      expect(replica.loop.role.leader).to.equal(sound);
    }
  });

  it('§4.2.2 removes the leader itself; the others continue', () => {
    const world = new World();
    const leader = world.elect();
    const answers = administer(leader, { type: 'remove', id: leader.id });
    world.until(() => answers.length > 0, 1000);
    expect(answers).to.deep.equal(['done']);
    const [node] = world.others(leader.id);
    const done = write(node!, 'after', 5000);
    world.until(() => done.outcome !== undefined, 5000);
    expect(answered(done)).to.equal('after');
    expect(leader.replica.fault).to.match(/removed/);
  });

  it('refuses to remove an unknown server, or the last voter', () => {
    const world = new World({ ids: ['a'] });
    const leader = world.elect();
    const unknown = administer(leader, { type: 'remove', id: 'x' });
    const last = administer(leader, { type: 'remove', id: 'a' });
    world.advance(10);
    expect([...unknown, ...last]).to.deep.equal(['not_found', 'conflict']);
  });

  it('refuses a removal that leaves no live majority until the dead member is removed', () => {
    const world = new World();
    const leader = world.elect();
    const [dead, alive] = world.others(leader.id);
    world.kill(dead!.id);
    world.advance(LIMITS.electionMs + 1);
    const answers = [alive!, leader].map(({ id }) => administer(alive!, { type: 'remove', id }));
    world.until(() => answers.every(({ length }) => length > 0), 1000);
    expect(answers).to.deep.equal([['conflict'], ['conflict']]);
    const done = write(alive!, 'still', 2000);
    world.until(() => done.outcome !== undefined, 2000);
    expect(answered(done)).to.equal('still');

    for (const { id } of [dead!, leader]) {
      const removed = administer(leader, { type: 'remove', id });
      world.until(() => removed.length > 0, 1000);
      expect(removed).to.deep.equal(['done']);
    }
    world.until(() => world.leader?.id === alive!.id, 5000);
    expect(voters(alive!)).to.deep.equal([alive!.id]);
  });

  it('transfers leadership to the named member', () => {
    const world = new World();
    const leader = world.elect();
    world.advance(200);
    const [target] = world.others(leader.id);
    const answers = administer(target!, { type: 'transfer', to: target!.id });
    world.until(() => answers.length > 0, 1000);
    expect(answers).to.deep.equal(['done']);
    world.until(() => world.leader?.id === target!.id, 500);
  });
});

describe('replica: log truncation', () => {
  it('truncates by count on every node, keeping a tail', () => {
    const world = new World({ limits: { cutEntries: 2000, keepEntries: 500 } });
    const leader = world.elect();
    for (let i = 0; i < 5000; i++) {
      write(leader, 'fill');
      if (i % 500 === 0) world.advance(20);
    }
    world.advance(500);
    for (const { log, machine } of world.nodes.values()) {
      expect(machine.index).to.be.greaterThan(5000);
      expect(log.firstIndex()).to.be.greaterThan(1024);
      expect(log.lastIndex() - log.firstIndex()).to.be.within(499, 4000);
      expect(log.snapshot()!.configuration.members).to.have.length(3);
    }
  });
});
