import { expect } from 'chai';
import { ApiError, refusal } from '../../src/base/errors.js';
import { freesSpace } from '../../src/node/options.js';
import { INTERNAL_KEY, type NodeStatus } from '../../src/node/types.js';
import { SETTLE_MS } from '../../src/service/maintenance/expiry-clock.js';
import { Housekeeper } from '../../src/service/maintenance/housekeeper.js';
import { forgottenAt } from '../../src/state/request-forget.js';
import { INIT_FACT } from '../../src/state/system.js';
import { secretKeyOf } from '../../src/state/tokens.js';
import type { Command } from '../../src/state/types.js';
import { FakeClock } from '../replica/fakes.js';
import { MANAGEMENT_SECRET, Solo } from './solo.js';

const HOUR_MS = 3_600_000;
const RESTORE_IDLE_MS = 100_000;

class Kept {
  readonly solo: Solo;
  readonly clock = new FakeClock();
  readonly written: string[] = [];
  readonly lines: string[] = [];
  readonly keeper: Housekeeper;
  role: NodeStatus['role'] = 'leader';
  /** The error with which writes fail, if they do. */
  failure: Error | undefined;
  attempts = 0;

  constructor(solo = new Solo()) {
    this.solo = solo;
    const status = solo.node.status();
    solo.node.status = () => ({ ...status, role: this.role });
    const { write } = solo.node;
    solo.node.write = async (request) => {
      expect(request.tokenKey).to.equal(INTERNAL_KEY);
      this.attempts += 1;
      if (this.failure !== undefined) throw this.failure;
      this.written.push(request.command.type);
      return write(request);
    };
    this.keeper = new Housekeeper({
      node: solo.node,
      clock: this.clock,
      nowMs: () => solo.nowMs,
      managementSecret: MANAGEMENT_SECRET,
      restoreIdleMs: RESTORE_IDLE_MS,
      secrets: { secretsGoneMs: 600_000, leftAt: () => solo.machine.secretLeftAt() },
      log: (level, message) => this.lines.push(`${level} ${message}`),
    });
  }

  /** Advances both clocks, with a round at every step. */
  async pass(ms: number, stepMs = 10_000): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      this.clock.nowMs += stepMs;
      this.solo.nowMs += stepMs;
      await this.keeper.round();
    }
  }

  /** Runs the timers of a started housekeeper. */
  async run(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 10) {
      this.clock.nowMs += 10;
      this.solo.nowMs += 10;
      this.clock.fireTimers();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** Creates a token that expires `inMs` from now on the wall clock; returns its secret. */
function expiring(solo: Solo, inMs: number, n = 0): string {
  const last = String(n).padStart(12, '0');
  const secret = `44444444-aaaa-4aaa-8aaa-${last}`;
  solo.must({
    type: 'token.create',
    v: 1,
    ns: 'default',
    secret,
    createTime: new Date(solo.nowMs).toISOString(),
    accessor: `33333333-aaaa-4aaa-8aaa-${last}`,
    token: { Description: '', Policies: [], Roles: [], Local: false },
    expirationTime: new Date(solo.nowMs + inMs).toISOString(),
  } as Command);
  return secret;
}
const tokensWithExpiry = ({ store }: Solo): number => [...store.keys('token-by-expiry')].length;

describe('housekeeper', () => {
  it('initialises a new cluster once, with the configured management token', async () => {
    const solo = new Solo('deny', false);
    expect(solo.authorizers.of(secretKeyOf(MANAGEMENT_SECRET))).to.equal(undefined);
    const { keeper, written } = new Kept(solo);
    await keeper.round();
    await keeper.round();
    expect(written).to.deep.equal(['system.init']);
    expect(solo.store.get(INIT_FACT)).not.to.equal(undefined);
    const manager = solo.authorizers.of(secretKeyOf(MANAGEMENT_SECRET));
    expect(manager?.allowed('acl', 'write')).to.equal(true);
  });

  it('does nothing unless it runs on the leader', async () => {
    const kept = new Kept(new Solo('deny', false));
    kept.role = 'follower';
    await kept.keeper.round();
    expect(kept.written).to.deep.equal([]);
  });

  it('removes expired objects, and continues with what was too much for one command', async () => {
    const kept = new Kept();
    const { solo, written } = kept;
    for (let n = 0; n < 600; n++) expiring(solo, HOUR_MS, n);
    const namespace = { Name: 'red', PolicyDefaults: [], RoleDefaults: [] };
    solo.must({ type: 'namespace.set', v: 1, policyId: 'm', namespace } as Command);
    const at = '2030-01-01T00:00:00Z';
    solo.must({ type: 'namespace.delete', v: 1, name: 'red', at } as Command);
    await kept.pass(HOUR_MS - 10_000);
    expect(written).to.deep.equal(['namespace.reap']);
    await kept.pass(10_000);
    expect(written.slice(1)).to.deep.equal(['token.reap', 'token.reap']);
    expect(tokensWithExpiry(solo)).to.equal(0);
    expect([...solo.store.keys('namespace-dying')]).to.deep.equal([]);
  });
});

describe('housekeeper: clocks', () => {
  it('deletes no token early if the wall clock jumps ahead, on leader and follower', async () => {
    for (const role of ['leader', 'follower'] as const) {
      const kept = new Kept();
      const { solo } = kept;
      kept.role = role;
      const secret = expiring(solo, 20 * HOUR_MS);
      await kept.pass(SETTLE_MS + 10_000);
      solo.nowMs += 48 * HOUR_MS;
      await kept.pass(10_000);
      kept.role = 'leader';
      await kept.pass(2 * HOUR_MS);
      expect(kept.written).to.deep.equal([]);
      expect(solo.authorizers.of(secretKeyOf(secret))).to.equal(undefined);
      expect(kept.lines.filter((line) => line.includes('clock'))).to.have.length(1);
      solo.nowMs -= 48 * HOUR_MS;
      await kept.pass(10_000);
      expect(solo.authorizers.of(secretKeyOf(secret))).not.to.equal(undefined);
      await kept.pass(18 * HOUR_MS);
      expect(kept.written).to.deep.equal(['token.reap', 'request.forget']);
    }
  });

  it('deletes nothing if the clock is wrong at the start and soon corrected', async () => {
    const kept = new Kept();
    const { solo } = kept;
    expiring(solo, 20 * HOUR_MS);
    solo.nowMs += 48 * HOUR_MS;
    await kept.pass(SETTLE_MS / 2);
    solo.nowMs -= 48 * HOUR_MS;
    await kept.pass(HOUR_MS);
    expect(kept.written).to.deep.equal([]);
    solo.nowMs += 48 * HOUR_MS;
    await kept.pass(HOUR_MS);
    expect(kept.written).to.deep.equal([]);
    expect(tokensWithExpiry(solo)).to.equal(1);
  });
});

describe('housekeeper: restores', () => {
  const part = (id: string, n: number): Command =>
    ({ type: 'restore.add', v: 1, id, part: n, records: [['x', '1']] }) as unknown as Command;
  const parts = ({ store }: Solo): number => [...store.keys('restore\u0000')].length;

  it('removes the parts of a restore that has become idle', async () => {
    const kept = new Kept();
    for (let n = 0; n < 5; n++) {
      kept.solo.must(part('dead', n));
      await kept.pass(RESTORE_IDLE_MS - 10_000);
    }
    expect(kept.written).to.deep.equal([]);
    expect(parts(kept.solo)).to.equal(5);
    await kept.pass(20_000);
    expect(kept.written).to.deep.equal(['restore.abort']);
    expect(parts(kept.solo)).to.equal(0);
  });

  it('removes a part that arrives after its restore was aborted, not another restore', async () => {
    const kept = new Kept();
    kept.solo.must(part('alive', 0));
    kept.solo.must(part('dead', 7));
    for (let n = 1; n < 4; n++) {
      await kept.pass(RESTORE_IDLE_MS / 2);
      kept.solo.must(part('alive', n));
    }
    expect(kept.written).to.deep.equal(['restore.abort']);
    expect(parts(kept.solo)).to.equal(4);
  });

  it('counts from when it leads, since an earlier leader may have seen other parts', async () => {
    const kept = new Kept();
    kept.solo.must(part('one', 0));
    await kept.pass(RESTORE_IDLE_MS - 10_000);
    kept.role = 'follower';
    await kept.pass(RESTORE_IDLE_MS);
    kept.role = 'leader';
    await kept.pass(RESTORE_IDLE_MS - 10_000);
    expect(kept.written).to.deep.equal([]);
    await kept.pass(30_000);
    expect(kept.written).to.deep.equal(['restore.abort']);
  });

  it('aborts a restore even on a full disk, and all that comes before it', () => {
    // A command that is refused keeps the housekeeper from those after it.
    const before = ['token.reap', 'method.reap', 'identity.reap', 'namespace.reap', 'history.trim'];
    for (const type of [...before, 'restore.abort', 'request.forget'])
      expect(freesSpace({ type, v: 1 }), type).to.equal(true);
    expect(freesSpace({ type: 'restore.add', v: 1 })).to.equal(false);
    expect(freesSpace({ type: 'restore.commit', v: 1 })).to.equal(false);
  });
});

describe('housekeeper: deleted secrets', () => {
  const GONE_MS = 600_000;
  const withSecret = (): Kept => {
    const kept = new Kept();
    expiring(kept.solo, HOUR_MS);
    const accessor = '33333333-aaaa-4aaa-8aaa-000000000000';
    kept.solo.must({ type: 'token.delete', v: 1, ns: 'default', accessor } as unknown as Command);
    return kept;
  };
  const forgotten = ({ written }: Kept): number =>
    written.filter((type) => type === 'request.forget').length;

  it('has results of requests forgotten after 3/8 of the time, once per deletion', async () => {
    const kept = withSecret();
    const left = kept.solo.machine.secretLeftAt();
    await kept.pass((GONE_MS * 3) / 8 - 10_000);
    expect(forgotten(kept)).to.equal(0);
    await kept.pass(20_000);
    expect(forgotten(kept)).to.equal(1);
    expect(forgottenAt(kept.solo.store)).to.equal(left);
    await kept.pass(GONE_MS * 2);
    expect(forgotten(kept)).to.equal(1);
  });

  it('continues when the disk is full', () => {
    expect(freesSpace({ type: 'request.forget', v: 1 })).to.equal(true);
  });
});

describe('housekeeper: failures', () => {
  it('logs once why it cannot work and once that it can, with growing pauses', async () => {
    const kept = new Kept(new Solo('deny', false));
    const closed = (why: string) => new ApiError(refusal('unavailable', why));
    kept.failure = closed('does not serve: one');
    kept.keeper.start();
    await kept.run(60_000);
    expect(kept.lines).to.deep.equal(['warn housekeeping failed: does not serve: one']);
    expect(kept.attempts).to.be.within(8, 20);
    kept.failure = closed('does not serve: two');
    await kept.run(30_000);
    expect(kept.lines.slice(1)).to.deep.equal(['warn housekeeping failed: does not serve: two']);
    kept.failure = undefined;
    await kept.run(30_000);
    expect(kept.lines.slice(2)).to.deep.equal(['info housekeeping has recovered']);
    expect(kept.written).to.deep.equal(['system.init']);
    kept.keeper.stop();
  });
});
