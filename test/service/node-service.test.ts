import { expect } from 'chai';
import { GLOBAL_MANAGEMENT_ID } from '../../src/acl/builtin.js';
import { ApiError, refusal } from '../../src/base/errors.js';
import { listTokens } from '../../src/service/acl/token-reads.js';
import { CallEnd } from '../../src/service/common/call-end.js';
import type { Caller, ReadOptions, ReadUseCase } from '../../src/service/common/types.js';
import { keys } from '../../src/state/keys.js';
import { secretKeyOf } from '../../src/state/tokens.js';
import type { Command } from '../../src/state/types.js';
import { listItems } from './list-items.js';
import { callerOf, MANAGER, NOBODY, Solo } from './solo.js';
import { useCasesOf } from './use-cases.js';

const useCases = useCasesOf();
const { read: readPolicy } = useCases.policy;
const { list: listRoles, read: readRole } = useCases.role;
const readPolicyByName = useCases.policy.readByName!;

const P1 = '11111111-aaaa-4aaa-8aaa-000000000001';
const T1 = '33333333-aaaa-4aaa-8aaa-000000000001';
const R1 = '22222222-aaaa-4aaa-8aaa-000000000001';
const all = () => undefined;
const now: ReadOptions = { mode: 'default', index: 0, waitMs: 0, timeoutMs: 1000 };
const held = (index: number, more: Partial<ReadOptions> = {}): ReadOptions => ({
  ...now,
  index,
  waitMs: 600_000,
  ...more,
});

const policy = (id: string, Name: string, create: boolean, Rules = ''): Command =>
  ({
    type: 'policy.set',
    v: 1,
    ns: 'default',
    id,
    create,
    policy: { Name, Description: '', Rules },
    hash: 'h',
  }) as Command;
const role = (Policies: object[], create: boolean): Command =>
  ({
    type: 'role.set',
    v: 1,
    ns: 'default',
    id: R1,
    create,
    role: { Name: 'r', Description: '', Policies },
  }) as Command;
const token = (secret: string, Policies: object[]): Command =>
  ({
    type: 'token.create',
    v: 1,
    ns: 'default',
    accessor: T1,
    secret,
    createTime: '2030-01-01T00:00:00Z',
    token: { Description: '', Policies, Roles: [], Local: false },
  }) as Command;

/** A read in progress, and its outcome once everything that can proceed has done so. */
class Pending<T> {
  state: 'held' | 'answered' | 'refused' = 'held';
  runs = 0;
  readonly done: Promise<unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: either an outcome or an error
  result: any;

  constructor(solo: Solo, caller: Caller, options: ReadOptions, useCase: ReadUseCase<T>) {
    const counted: ReadUseCase<T> = (context) => {
      this.runs += 1;
      return useCase(context);
    };
    this.done = solo.service.read(caller, options, counted).then(
      (outcome) => this.#end('answered', outcome),
      (error) => this.#end('refused', error),
    );
  }
  #end(state: 'answered' | 'refused', result: unknown): void {
    this.state = state;
    this.result = result;
  }
  /** Lets everything happen that does not wait for a timer. */
  async settle(): Promise<this> {
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    return this;
  }
}

describe('node service: blocking queries', () => {
  it('are answered at once if their index is old, after a barrier of the right mode', async () => {
    const solo = new Solo();
    solo.must(policy(P1, 'one', true));
    const outcome = await solo.service.read(MANAGER, held(1), readPolicy('default', P1));
    expect(outcome.index).to.equal(solo.machine.appliedIndex());
    expect(solo.barriers).to.equal(1);
    solo.node.contact = () => ({ knownLeader: false, lastContactMs: 700 });
    expect(outcome).to.include({ knownLeader: true, lastContactMs: 0 });
    const stale: ReadOptions = { ...now, mode: 'stale' };
    const old = await solo.service.read(MANAGER, stale, readPolicy('default', P1));
    expect(old).to.include({ knownLeader: false, lastContactMs: 700 });
    expect(solo.barriers).to.equal(1);
  });

  it('wake only for their object, and return it with a greater index', async () => {
    const solo = new Solo();
    const { ModifyIndex } = solo.must(policy(P1, 'one', true));
    const read = new Pending(solo, MANAGER, held(ModifyIndex), readPolicy('default', P1));
    await read.settle();
    solo.must(policy('11111111-aaaa-4aaa-8aaa-000000000002', 'two', true));
    expect((await read.settle()).state).to.equal('held');
    expect(read.runs).to.equal(1);
    solo.must(policy(P1, 'three', false));
    expect((await read.settle()).state).to.equal('answered');
    expect(JSON.parse(read.result.value).Name).to.equal('three');
    expect(read.result.index).to.be.greaterThan(ModifyIndex);
  });

  it('end at once with 403 if the caller loses its token, or the permission', async () => {
    const solo = new Solo();
    solo.must(policy(P1, 'one', true, 'acl = "read"'));
    const secret = '99999999-aaaa-4aaa-8aaa-000000000001';
    const caller = callerOf(secret);
    const ends = [
      [{ type: 'token.delete', v: 1, ns: 'default', accessor: T1 }, 'acl_not_found'],
      [policy(P1, 'one', false, 'acl = "deny"'), 'permission_denied'],
    ] as const;
    for (const [end, code] of ends) {
      solo.must(token(secret, [{ ID: P1 }]));
      const useCase = readPolicy('default', GLOBAL_MANAGEMENT_ID);
      const { index } = await solo.service.read(caller, now, useCase);
      const read = new Pending(solo, caller, held(index), useCase);
      expect((await read.settle()).state).to.equal('held');
      solo.must(role([], code === 'acl_not_found'));
      expect(read.runs).to.equal(1);
      solo.must(end as Command);
      expect((await read.settle()).state).to.equal('refused');
      expect(read.result.refusal.code).to.equal(code);
    }
  });

  it('and all calls, even stale reads, are refused by a node that does not serve', async () => {
    const solo = new Solo();
    const useCase = listRoles('default', { filter: all });
    const read = new Pending<unknown>(solo, MANAGER, held(1_000_000), useCase);
    expect((await read.settle()).state).to.equal('held');
    solo.node.closed = () =>
      refusal('unavailable', 'This server is not serving requests: table "role"');
    solo.watches.wakeAll();
    expect((await read.settle()).result.refusal.message).to.include('table "role"');
    const refused = async (run: () => unknown): Promise<string> => {
      try {
        await run();
      } catch (error) {
        return (error as ApiError).refusal.code;
      }
      return 'served';
    };
    const stale: ReadOptions = { ...now, mode: 'stale' };
    const ways = [
      () => solo.service.read<unknown>(MANAGER, stale, useCase),
      () => solo.service.authorize(MANAGER),
      () => solo.service.permit({ caller: MANAGER, timeoutMs: 1000 }, () => undefined),
    ];
    for (const way of ways) expect(await refused(way)).to.equal('unavailable');
  });

  it('and all other calls are refused as unavailable by a node that has no state yet', async () => {
    const solo = new Solo('deny', false);
    const stale: ReadOptions = { ...now, mode: 'stale' };
    const read = (): Promise<unknown> =>
      solo.service.read<unknown>(MANAGER, stale, listRoles('default', { filter: all }));
    const refused = async (): Promise<string> =>
      read().then(
        () => 'served',
        (error: ApiError) => error.refusal.code,
      );
    expect(await refused()).to.equal('unavailable');
    solo.begin();
    expect(await refused()).to.equal('served');
  });

  it('and all other calls wait in a new cluster that has a leader but no tokens yet', async () => {
    const solo = new Solo('deny', false);
    solo.apply({ type: 'fact.set', v: 1, name: 'first', value: {} } as Command);
    const caught = solo.service.catchUp(60_000);
    const patient = { ...now, timeoutMs: 60_000 };
    const read = new Pending(solo, MANAGER, patient, readPolicy('default', GLOBAL_MANAGEMENT_ID));
    expect((await read.settle()).state).to.equal('held');
    const refused = await solo.service.authorize(MANAGER).catch((error: Error) => error.message);
    expect(refused).to.include('it has no state yet');
    solo.begin();
    await caught;
    expect((await read.settle()).state).to.equal('answered');
    expect((await solo.service.authorize(MANAGER)).allowed('acl', 'write')).to.equal(true);
  });

  it('of a role wake if a linked policy is renamed or deleted, not for new rules', async () => {
    const solo = new Solo();
    solo.must(policy(P1, 'one', true));
    solo.must(role([{ ID: P1 }], true));
    for (const useCase of [readRole('default', R1), listRoles('default', { filter: all })]) {
      const { index } = await solo.service.read<unknown>(MANAGER, now, useCase);
      const read = new Pending<unknown>(solo, MANAGER, held(index), useCase);
      await read.settle();
      const name = JSON.parse(solo.store.get(keys.policyLink(P1))!).Name as string;
      solo.must(policy(P1, name, false, 'acl = "read"'));
      expect((await read.settle()).state).to.equal('held');
      expect(read.runs).to.equal(1);
      solo.must(policy(P1, `${name}-renamed`, false));
      expect((await read.settle()).state).to.equal('answered');
      const { value } = read.result;
      const shown = typeof value === 'string' ? value : listItems(solo.store, value).join();
      expect(shown).to.include(`${name}-renamed`);
      expect(read.result.index).to.be.greaterThan(index);
    }
    const { index } = await solo.service.read(MANAGER, now, readRole('default', R1));
    const read = new Pending(solo, MANAGER, held(index), readRole('default', R1));
    await read.settle();
    solo.must({ type: 'policy.delete', v: 1, ns: 'default', id: P1 } as Command);
    await read.settle();
    expect(JSON.parse(read.result.value)).not.to.have.property('Policies');
  });

  it('of a missing object have an index to wait on, and wake when it is created', async () => {
    const solo = new Solo();
    for (const useCase of [readPolicy('default', P1), readPolicyByName('default', 'ONE')]) {
      const missing = await solo.service.read(MANAGER, now, useCase);
      expect(missing.value).to.equal(undefined);
      const read = new Pending(solo, MANAGER, held(missing.index), useCase);
      await read.settle();
      solo.must(policy(P1, 'one', true));
      await read.settle();
      expect(read.result.value).to.be.a('string');
      solo.must({ type: 'policy.delete', v: 1, ns: 'default', id: P1 } as Command);
      const gone = await solo.service.read(MANAGER, held(read.result.index), useCase);
      expect(gone.value).to.equal(undefined);
      expect(gone.index).to.be.greaterThan(read.result.index);
    }
  });

  it('by name wake when another object gets the name', async () => {
    const solo = new Solo();
    const { ModifyIndex } = solo.must(policy(P1, 'one', true));
    const useCase = readPolicyByName('default', 'one');
    const read = new Pending(solo, MANAGER, held(ModifyIndex), useCase);
    await read.settle();
    solo.must(policy(P1, 'two', false));
    await read.settle();
    expect(read.result.value).to.equal(undefined);
    expect(read.result.index).to.equal(solo.machine.appliedIndex());
  });

  it('are refused if the caller loses the permission meanwhile', async () => {
    const solo = new Solo();
    solo.must(policy(P1, 'one', true, 'acl = "read"'));
    const secret = '44444444-aaaa-4aaa-8aaa-000000000001';
    solo.must(token(secret, [{ ID: P1 }]));
    const index = solo.machine.appliedIndex();
    const read = new Pending(solo, callerOf(secret), held(index), readPolicy('default', P1));
    await read.settle();
    solo.must(policy(P1, 'one', false, ''));
    await read.settle();
    expect(read.result).to.be.instanceOf(ApiError);
    expect(read.result.status).to.equal(403);
  });

  it('end when the client disconnects or the time is over, and leave nothing behind', async () => {
    const solo = new Solo();
    const { ModifyIndex } = solo.must(policy(P1, 'one', true));
    const end = new CallEnd();
    const left = new Pending(solo, MANAGER, held(ModifyIndex, { end }), readPolicy('default', P1));
    await left.settle();
    end.end();
    expect((await left.settle()).state).to.equal('answered');
    const other = new CallEnd();
    const timed = new Pending(
      solo,
      MANAGER,
      held(ModifyIndex, { waitMs: 1, end: other }),
      readPolicy('default', P1),
    );
    expect(other.heldMs).to.equal(0);
    await timed.done;
    expect(other.heldMs).to.be.greaterThan(0);
    expect(timed.result.index).to.equal(ModifyIndex);
    expect(solo.watches.size).to.equal(0);
  });

  it('of a part wake when its digest changes, and rest after other changes', async () => {
    const solo = new Solo();
    const { ModifyIndex } = solo.must(policy(P1, 'one', true));
    let part = 'a';
    const read = new Pending(solo, MANAGER, held(ModifyIndex), (context) => {
      const digest = part;
      return {
        ...readPolicy('default', P1)(context),
        value: digest,
        digest: async () => digest,
      };
    });
    expect((await read.settle()).state).to.equal('held');
    const before = read.runs;
    solo.must(policy(P1, 'two', false));
    await read.settle();
    // it rests: a burst of such changes does not read each time
    solo.must(policy(P1, 'three', false));
    expect((await read.settle()).state).to.equal('held');
    expect(read.runs).to.equal(before + 1);
    part = 'b';
    const { ModifyIndex: last } = solo.must(policy(P1, 'four', false));
    await read.done;
    expect(read.result).to.include({ value: 'b', index: last });
    expect(solo.watches.size).to.equal(0);
  });

  it('of an answer that must be made first wait for a change of its keys', async () => {
    const solo = new Solo();
    const { ModifyIndex } = solo.must(policy(P1, 'one', true));
    let made = 0;
    const useCase: ReadUseCase<string | undefined> = (context) => {
      const answer = readPolicy('default', P1)(context);
      if (made === answer.index) return answer;
      const pending = Promise.resolve().then(() => {
        made = answer.index;
      });
      return { value: undefined, index: 0, keys: [], pending };
    };
    const first = await solo.service.read(MANAGER, now, useCase);
    // the barrier was passed before it was made
    expect(first).to.include({ index: ModifyIndex, knownLeader: true, lastContactMs: 0 });
    const read = new Pending(solo, MANAGER, held(ModifyIndex), useCase);
    expect((await read.settle()).state).to.equal('held');
    solo.must(policy(P1, 'two', false));
    await read.done;
    expect(read.result.index).to.be.greaterThan(ModifyIndex);
  });

  it('of the token list also wake for the names of links', async () => {
    const solo = new Solo();
    solo.must(policy(P1, 'one', true));
    solo.must(token('44444444-aaaa-4aaa-8aaa-000000000001', [{ ID: P1 }]));
    const useCase = listTokens('default', { filter: all }, () => solo.nowMs);
    const { index } = await solo.service.read(MANAGER, now, useCase);
    const read = new Pending(solo, MANAGER, held(index), useCase);
    await read.settle();
    solo.must(policy(P1, 'renamed', false));
    expect((await read.settle()).state).to.equal('answered');
  });
});

describe('node service: permissions', () => {
  it('an unknown secret is refused, and a missing one means the anonymous token', async () => {
    const solo = new Solo();
    const unknown = callerOf('no-such-secret');
    const refused = await solo.service.authorize(unknown).catch((error: Error) => error.message);
    expect(refused).to.equal('ACL not found');
    const why = await new Pending(solo, NOBODY, now, readPolicy('default', P1)).settle();
    expect(why.result.message).to.match(/anonymous token lacks permission 'acl:read'/);
  });

  it('an unknown caller is refused only after this node has caught up', async () => {
    const solo = new Solo();
    const secret = '44444444-aaaa-4aaa-8aaa-000000000001';
    const original = solo.node.barrier;
    solo.node.barrier = async (...asked) => {
      await original(...asked);
      if (solo.authorizers.of(secretKeyOf(secret)) === undefined) solo.must(token(secret, []));
    };
    const authorizer = await solo.service.permit(
      { caller: callerOf(secret), timeoutMs: 1000 },
      () => undefined,
    );
    expect(authorizer.accessor).to.equal('33333333-aaaa-4aaa-8aaa-000000000001');
    expect(solo.barriers).to.equal(1);
    await solo.service.permit({ caller: MANAGER, timeoutMs: 1000 }, (a) =>
      a.denial('acl', 'write'),
    );
    expect(solo.barriers).to.equal(1);
  });

  it('internal and unknown commands are refused, whoever sends them', () => {
    const solo = new Solo();
    for (const type of ['token.reap', 'system.init', 'method.reap', 'namespace.reap']) {
      const why = solo.gate(solo.store, MANAGER.tokenKey, { type, v: 1 });
      expect(why?.code, type).to.equal('permission_denied');
      expect(solo.gate(solo.store, 'internal', { type, v: 1 })).to.equal(undefined);
    }
    for (const type of ['nope', '__proto__', 'constructor', 'x.y', 'policy.', 'config.nope']) {
      for (const key of [MANAGER.tokenKey, 'internal', null]) {
        expect(solo.gate(solo.store, key, { type, v: 1 })?.code, type).to.equal('unavailable');
      }
    }
    const newer = { type: 'policy.set', v: 2 } as unknown as Command;
    expect(solo.gate(solo.store, 'internal', newer)?.code).to.equal('unavailable');
    const logout = { type: 'token.logout', v: 1, secretKey: 'other' } as Command;
    expect(solo.gate(solo.store, MANAGER.tokenKey, logout)?.code).to.equal('permission_denied');
  });
});
