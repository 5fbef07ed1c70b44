/** The lifetime of login tokens and their number per identity, as apply decides them. */
import { expect } from 'chai';
import { Checksums } from '../../src/state/checksum.js';
import { keys } from '../../src/state/keys.js';
import { stored } from '../../src/state/lists.js';
import { CASCADE_MAX } from '../../src/state/methods.js';
import type { Token } from '../../src/state/tokens.js';
import { AT, State } from './acl-state.js';

const ALICE = 'a'.repeat(64);
const BOB = 'b'.repeat(64);
const DENIED = /^permission_denied: Permission denied/;

class LoginState extends State {
  constructor() {
    super('red');
    this.must(this.method('m'));
  }
  configure(more: object, rest: object = {}) {
    const configuration = {
      ...{ LoginTokenTTL: '', LoginTokenTTLMax: '', TokensPerIdentity: 0, OnTokenLimit: 'refuse' },
      ...more,
    };
    return { type: 'acl.configure', configuration, ...rest };
  }
  /** Login number `n`, `n` seconds after the first. */
  loginOf(n: number, identity = ALICE, more: object = {}) {
    const createTime = new Date(Date.parse(AT) + n * 1000).toISOString().replace('.000', '');
    return { ...this.login(n, 'm'), createTime, identity, ...more };
  }
  methodWith(MaxTokenTTL: string) {
    const { method, ...rest } = this.method('m');
    return { ...rest, method: { ...method, MaxTokenTTL } };
  }
  /** The numbers of the login tokens that exist. */
  get left(): number[] {
    return [...this.store.keys('token\0')]
      .map((key) => stored<Token>(this.store, key)!)
      .filter(({ AuthMethod }) => AuthMethod !== undefined)
      .map(({ AccessorID }) => Number(AccessorID.slice(-12)));
  }
  get identities(): string[] {
    return [...this.store.keys('token-identity')];
  }
}

describe('the configuration of logins', () => {
  it('is stored with its index, and only over the version that its writer has seen', () => {
    const state = new LoginState();
    const first = state.must(state.configure({ LoginTokenTTL: '1h0m0s' }));
    expect(first).to.deep.equal({
      ...{ LoginTokenTTL: '1h0m0s', LoginTokenTTLMax: '', TokensPerIdentity: 0 },
      ...{ OnTokenLimit: 'refuse', ModifyIndex: state.machine.appliedIndex() },
    });
    expect(stored(state.store, keys.fact('acl'))).to.deep.equal(first);
    expect(state.refusal(state.configure({}, { ifMatch: [1, 2] }))).to.equal(
      `precondition_failed: Precondition failed: the ACL configuration has ModifyIndex ${first.ModifyIndex}`,
    );
    const next = state.must(state.configure({}, { ifMatch: [7, first.ModifyIndex] }));
    expect(next.LoginTokenTTL).to.equal('');
  });

  it('has the index 0 until it is written', () => {
    const state = new LoginState();
    expect(state.must(state.configure({}, { ifMatch: [0] })).ModifyIndex).to.be.greaterThan(0);
    expect(state.refusal(state.configure({}, { ifMatch: [0] }))).to.match(/^precondition_failed/);
  });

  for (const [own, ttl, most, lives] of [
    ['', '', '', undefined],
    ['', '1h0m0s', '', 3600],
    ['2m0s', '1h0m0s', '', 120],
    ['2h0m0s', '1h0m0s', '30m0s', 1800],
    ['', '', '1h30m0s', 5400],
    ['2m0s', '', '1h0m0s', 120],
  ] as const) {
    it(`method ${own || '-'}, default ${ttl || '-'}, maximum ${most || '-'}: lasts ${lives ?? 'for ever'}`, () => {
      const state = new LoginState();
      if (own !== '') state.must(state.methodWith(own));
      state.must(state.configure({ LoginTokenTTL: ttl, LoginTokenTTLMax: most }));
      const { ExpirationTime, CreateTime } = state.must(state.loginOf(1));
      expect(CreateTime).to.equal('2030-01-01T00:00:01Z');
      const end = lives === undefined ? undefined : Date.parse(CreateTime) + lives * 1000;
      expect(ExpirationTime && Date.parse(ExpirationTime)).to.equal(end);
      expect(ExpirationTime ?? 'Z').to.match(/^[^.]*Z$/);
    });
  }

  it('does not apply to a login of a member that sends no identity', () => {
    const state = new LoginState();
    state.must(state.configure({ LoginTokenTTL: '1h0m0s', TokensPerIdentity: 1 }));
    for (const n of [1, 2]) {
      const expirationTime = '2030-01-02T00:00:00Z';
      const made = state.must({ ...state.login(n, 'm'), expirationTime });
      expect(made.ExpirationTime).to.equal(expirationTime);
    }
    expect(state.identities).to.deep.equal([]);
  });
});

describe('tokens of one identity', () => {
  it('are refused beyond the limit, counted for each identity and method separately', () => {
    const state = new LoginState();
    state.must(state.method('other'));
    state.must(state.configure({ TokensPerIdentity: 2 }));
    for (const n of [1, 2]) state.must(state.loginOf(n));
    expect(state.refusal(state.loginOf(3))).to.match(DENIED);
    state.must(state.loginOf(4, BOB));
    state.must({ ...state.login(5, 'other'), identity: ALICE });
    state.must({
      type: 'token.delete',
      ns: 'default',
      accessor: state.token(1).accessor,
      callerKey: null,
    });
    state.must(state.loginOf(6));
    expect(state.left).to.deep.equal([2, 4, 5, 6]);
  });

  it("are counted together if the method's name differs only in letter case", () => {
    const state = new LoginState();
    state.must(state.configure({ TokensPerIdentity: 1 }));
    state.must(state.loginOf(1));
    expect(state.refusal({ ...state.login(2, 'M'), identity: ALICE })).to.match(DENIED);
  });

  it('are replaced oldest first, in the entry of the new one', () => {
    const state = new LoginState();
    for (const n of [3, 1, 2, 4]) state.must(state.loginOf(n));
    state.must(state.configure({ TokensPerIdentity: 3, OnTokenLimit: 'replace' }));
    const before = state.machine.appliedIndex();
    state.must(state.loginOf(5));
    expect(state.machine.appliedIndex()).to.equal(before + 1);
    expect(state.left).to.deep.equal([3, 4, 5]);
    state.must(state.loginOf(6));
    expect(state.left).to.deep.equal([4, 5, 6]);
    expect(state.identities).to.have.lengthOf(3);
  });

  it('do not count once they expired or their namespace is being deleted', () => {
    const state = new LoginState();
    state.must(state.configure({ TokensPerIdentity: 2, LoginTokenTTL: '1m0s' }));
    state.must(state.loginOf(1));
    state.must(state.loginOf(2, ALICE, { ns: 'red' }));
    expect(state.refusal(state.loginOf(3))).to.match(DENIED);
    state.must({ type: 'namespace.delete', name: 'red', at: AT });
    state.must(state.loginOf(4));
    expect(state.refusal(state.loginOf(60))).to.match(DENIED);
    state.must(state.loginOf(61));
  });

  it('are kept when the limit is lowered, and replaced in parts if there are many', () => {
    const state = new LoginState();
    const count = CASCADE_MAX + 10;
    for (let n = 1; n <= count; n++) state.must(state.loginOf(n));
    state.must(state.configure({ TokensPerIdentity: 2, OnTokenLimit: 'replace' }));
    expect(state.left).to.have.lengthOf(count);
    state.must(state.loginOf(count + 1));
    // One entry removes a limited number of the oldest.
    expect(state.left).to.have.lengthOf(11);
    state.must(state.loginOf(count + 2));
    expect(state.left).to.deep.equal([count + 1, count + 2]);
  });

  it('leave no identity record behind, however they are removed', () => {
    const state = new LoginState();
    state.must({
      type: 'namespace.set',
      policyId: 'p',
      namespace: { Name: 'blue', PolicyDefaults: [], RoleDefaults: [] },
    });
    state.must(state.configure({ LoginTokenTTL: '1m0s' }));
    const gone = (): void => {
      expect(state.identities).to.deep.equal([]);
      expect(state.machine.checksum().sums).to.deep.equal(Checksums.of(state.store).toJSON());
    };
    const { accessor } = state.token(1);
    const ways: readonly (() => unknown)[] = [
      () => state.must({ type: 'token.delete', ns: 'default', accessor, callerKey: null }),
      () => state.must({ type: 'token.reap', nowMs: Date.parse(AT) + 1e6, max: 10 }),
      () => state.must({ type: 'method.delete', ns: 'default', name: 'm' }),
    ];
    for (const go of ways) {
      if (state.store.get(keys.method('default', 'm')) === undefined) state.must(state.method('m'));
      state.must(state.loginOf(1));
      expect(state.identities).to.have.lengthOf(1);
      go();
      gone();
    }
    state.must(state.method('m'));
    state.must(state.loginOf(1, ALICE, { ns: 'blue' }));
    state.must({ type: 'namespace.delete', name: 'blue', at: AT });
    state.must({ type: 'namespace.reap', name: 'blue' });
    gone();
  });

  it('do not show the identity', () => {
    const state = new LoginState();
    state.must(state.loginOf(1));
    expect(
      [...state.store.keys('token\0')].map((key) => state.store.get(key)).join(),
    ).to.not.include(ALICE);
    state.must({ ...state.token(1), type: 'token.update', nowMs: 0 });
    expect(state.identities).to.have.lengthOf(1);
  });
});
