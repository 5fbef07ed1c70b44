import { expect } from 'chai';
import fc from 'fast-check';
import { GLOBAL_MANAGEMENT_ID } from '../../src/acl/builtin.js';
import { Checksums } from '../../src/state/checksum.js';
import { keys } from '../../src/state/keys.js';
import { listIndex, stored } from '../../src/state/lists.js';
import { CASCADE_MAX } from '../../src/state/methods.js';
import type { Token } from '../../src/state/tokens.js';
import { AT, State } from './acl-state.js';
import { aCommand, fitted } from './commands.js';
import { actualKeys, expectedKeys, linkProblems, orphans } from './derived.js';

const P1 = '11111111-aaaa-4aaa-8aaa-000000000001';
const P2 = '11111111-aaaa-4aaa-8aaa-000000000002';
const R1 = '22222222-aaaa-4aaa-8aaa-000000000001';

describe('ACL commands', () => {
  it('keep every secondary key, link and checksum consistent with the objects', () => {
    fc.assert(
      fc.property(fc.array(aCommand, { minLength: 20, maxLength: 80 }), (commands) => {
        const state = new State('red');
        for (const command of commands) state.apply(fitted(command, state.store));
        expect(actualKeys(state.store)).to.deep.equal(expectedKeys(state.store));
        expect(linkProblems(state.store)).to.deep.equal([]);
        expect(orphans(state.store)).to.deep.equal([]);
        const sums = Checksums.of(state.store).toJSON();
        expect(state.machine.checksum().sums).to.deep.equal(sums);
      }),
      { numRuns: 100 },
    );
  });

  it('are idempotent when the cluster is initialised', () => {
    const state = new State();
    const before = [...state.store.keys('policy')].map((key) => state.store.get(key));
    expect(state.must({ type: 'system.init', createTime: '2031-01-01T00:00:00Z' })).to.equal(false);
    expect([...state.store.keys('policy')].map((key) => state.store.get(key))).to.deep.equal(
      before,
    );
  });

  it('allow one bootstrap, and another only with the index of the last', () => {
    const state = new State();
    const ask = (n: number, more = {}) => ({
      type: 'bootstrap',
      token: { accessor: `a${n}`, secret: `s${n}`, createTime: AT },
      ...more,
    });
    const first = state.must(ask(1));
    expect(first.Policies).to.deep.equal([{ ID: GLOBAL_MANAGEMENT_ID }]);
    const index = first.CreateIndex as number;
    expect(state.refusal(ask(2))).to.match(
      new RegExp(`no longer allowed \\(reset index: ${index}\\)`),
    );
    expect(state.refusal(ask(2, { resetIndex: index + 1 }))).to.match(/Invalid bootstrap reset/);
    expect(state.must(ask(2, { resetIndex: index })).CreateIndex).to.be.greaterThan(index);
    expect(state.refusal(ask(3, { resetIndex: index }))).to.match(/Invalid bootstrap reset/);
  });
});

describe('policies and roles', () => {
  it('have names that are unique per namespace, ignoring case', () => {
    const state = new State('red');
    state.must(state.policy(P1, 'Web'));
    expect(state.refusal(state.policy(P2, 'wEB'))).to.match(/^conflict: .*already exists/);
    state.must(state.policy(P2, 'web', 'red'));
    state.must(state.role(R1, 'Admin'));
    state.must(state.role(R1, 'ADMIN', [], false));
    expect(state.store.get(keys.roleName('default', 'admin'))).to.equal(R1);
  });

  it("links show a policy's new name, or none once deleted; its holders are unchanged", () => {
    const state = new State();
    state.must(state.policy(P1, 'one'));
    const role = state.must(state.role(R1, 'r', [{ Name: 'ONE' }]));
    expect(role.Policies).to.deep.equal([{ ID: P1 }]);
    const before = state.store.get(keys.role('default', R1));
    const listed = () => listIndex(state.store, 'role', 'default');
    const list = listed();
    state.must(state.policy(P2, 'other'));
    state.must(state.policy(P2, 'another', 'default', false));
    expect(listed(), 'no role links to it').to.equal(list);
    state.must(state.policy(P1, 'two', 'default', false));
    const renamedAt = state.machine.appliedIndex();
    expect(listed(), 'the list shows another name').to.equal(renamedAt);
    expect(stored(state.store, keys.policyLink(P1))).to.deep.equal({
      Name: 'two',
      Index: renamedAt,
    });
    state.must({ type: 'policy.delete', ns: 'default', id: P1 });
    const deletedAt = state.machine.appliedIndex();
    expect(stored(state.store, keys.policyLink(P1))).to.deep.equal({ Index: deletedAt });
    expect(state.store.get(keys.role('default', R1))).to.equal(before);
    expect(listed(), 'the list shows no name').to.equal(deletedAt);
    state.must(state.role(R1, 'r', [], false));
    expect(state.store.get(keys.policyLink(P1))).to.equal(undefined);
  });

  it('an update without new content raises ModifyIndex and wakes no reader of links', () => {
    const state = new State();
    const first = state.must(state.policy(P1, 'one'));
    const changed: string[] = [];
    state.machine.onChanged((some) => changed.push(...some));
    const second = state.must(state.policy(P1, 'one', 'default', false));
    expect(second).to.deep.equal({ ...first, ModifyIndex: first.ModifyIndex + 1 });
    expect(changed).to.have.members([keys.policy('default', P1), keys.index('policy', 'default')]);
  });

  it('links resolve only within their own namespace', () => {
    const state = new State('red');
    state.must(state.policy(P1, 'one', 'red'));
    expect(state.refusal(state.role(R1, 'r', [{ ID: P1 }]))).to.match(/No such policy with ID/);
    expect(state.refusal(state.role(R1, 'r', [{ Name: 'one' }]))).to.match(/with name "one"/);
  });

  it('names like those of built-in object members are ordinary names', () => {
    const state = new State();
    for (const [position, name] of ['__proto__', 'constructor', 'hasOwnProperty'].entries()) {
      const id = `33333333-aaaa-4aaa-8aaa-00000000000${position}`;
      expect(state.must(state.role(id, name)).Name).to.equal(name);
      expect(state.store.get(keys.roleName('default', name))).to.equal(id);
    }
    expect(({} as Record<string, unknown>)['ID']).to.equal(undefined);
  });
});

describe('tokens', () => {
  it('have accessors and secrets that are unique together, in all namespaces', () => {
    const state = new State('red');
    const { accessor, secret } = state.token(1);
    state.must(state.token(1));
    const other = { ...state.token(2), ns: 'red' };
    expect(state.refusal({ ...other, accessor })).to.match(/AccessorID is already in use/);
    expect(state.refusal({ ...other, accessor: secret })).to.match(/AccessorID is already in use/);
    expect(state.refusal({ ...other, secret })).to.match(/SecretID is already in use/);
    expect(state.refusal({ ...other, secret: accessor.toUpperCase() })).to.match(/SecretID is/);
    const own = other.accessor.toUpperCase();
    expect(state.refusal({ ...other, secret: own })).to.match(/SecretID is already in use as/);
  });

  it('keep or refuse changes of their immutable fields', () => {
    const state = new State();
    const created = state.must({ ...state.token(1), expirationTime: '2040-01-01T00:00:00Z' });
    const { accessor, token } = state.token(1);
    const update = { type: 'token.update', ns: 'default', accessor, nowMs: 0, token };
    const after = state.must({ ...update, token: { ...token, Description: 'new' } });
    expect(after).to.deep.include({
      SecretID: created.SecretID,
      ExpirationTime: '2040-01-01T00:00:00Z',
      CreateIndex: created.CreateIndex,
      Description: 'new',
    });
    const no = (more: object) => state.refusal({ ...update, ...more });
    expect(no({ secretKey: 'x' })).to.match(/Changing a token's SecretID/);
    expect(no({ token: { ...token, Local: true } })).to.match(/Cannot toggle local mode/);
    expect(no({ authMethod: 'm' })).to.match(/Cannot change AuthMethod/);
    expect(no({ expirationTime: '2041-01-01T00:00:00Z' })).to.match(/Cannot change expiration/);
    expect(no({ expirationTtl: true })).to.match(/Cannot change expiration/);
    expect(no({ nowMs: Date.parse('2040-01-01T00:00:00Z') })).to.match(
      /^not_found: Cannot find token/,
    );
  });

  it('are reaped in order of expiry, a limited number at a time', () => {
    const state = new State();
    for (const n of [1, 2, 3]) {
      state.must({ ...state.token(n), expirationTime: `2030-01-01T00:0${4 - n}:00Z` });
    }
    const reap = (at: string) =>
      state.must({ type: 'token.reap', nowMs: Date.parse(`2030-01-01T00:0${at}Z`), max: 1 });
    expect([reap('0:59'), reap('2:00'), reap('2:00'), reap('2:00')]).to.deep.equal([0, 1, 1, 0]);
    const left = [...state.store.keys('token-by-expiry')];
    expect(left).to.have.lengthOf(1);
    expect(left[0]).to.include(state.token(1).accessor);
  });

  it('are reaped, and methods deleted, where a recovery accepted that objects are lost', () => {
    const state = new State();
    state.must({ ...state.token(1), expirationTime: '2030-01-01T00:01:00Z' });
    state.must(state.method('m'));
    state.must(state.login(2, 'm'));
    const lost = [...state.store.keys('token\u0000')];
    expect(lost).to.have.lengthOf(3);
    state.store.commit(lost.map((key) => [key, undefined]));
    const nowMs = Date.parse('2031-01-01T00:00:00Z');
    expect(state.must({ type: 'token.reap', nowMs, max: 10 })).to.equal(1);
    state.must({ type: 'method.delete', ns: 'default', name: 'm' });
    for (const table of ['token-by-expiry', 'token-by-method'])
      expect([...state.store.keys(table)]).to.deep.equal([]);
  });
});

describe('auth methods', () => {
  it('refuse a login if the method changed since it was verified, or if it binds nothing', () => {
    const state = new State();
    state.must(state.method('m'));
    const login = state.login(1, 'm');
    state.must(state.method('m'));
    expect(state.refusal(login)).to.equal('permission_denied: Permission denied');
    const nothing = { ...state.login(1, 'm'), token: state.token(1).token };
    expect(state.refusal(nothing)).to.equal('permission_denied: Permission denied');
    const made = state.must(state.login(1, 'M'));
    expect(made).to.deep.include({ AuthMethod: 'm', AuthMethodNamespace: 'default' });
  });

  it('delete any number of tokens in parts, and free the name only then', () => {
    const state = new State();
    state.must(state.method('m'));
    for (let n = 0; n < CASCADE_MAX + 5; n++) state.must(state.login(n, 'm'));
    state.must(state.token(9999));
    expect(state.must({ type: 'method.delete', ns: 'default', name: 'm' })).to.equal(true);
    expect(state.refusal(state.method('M'))).to.match(/still being deleted/);
    expect(state.must({ type: 'method.reap', ns: 'default', name: 'm' })).to.equal(5);
    const left = [...state.store.keys('token\0default\0')];
    expect(left.some((key) => stored<Token>(state.store, key)!.AuthMethod)).to.equal(false);
    expect(left).to.have.lengthOf(2);
    state.must(state.method('M'));
  });

  it('do not change their type', () => {
    const state = new State();
    state.must(state.method('m'));
    const other = {
      type: 'method.set',
      ns: 'default',
      method: { Name: 'm', Type: 'k', Config: {} },
    };
    expect(state.refusal(other)).to.match(/Type field of an Auth Method is immutable/);
  });
});

describe('namespaces', () => {
  it('accept no writes if missing or being deleted', () => {
    const state = new State('red');
    expect(state.refusal(state.policy(P1, 'one', 'green'))).to.match(/does not exist/);
    state.must({ type: 'namespace.delete', name: 'red', at: AT });
    expect(state.refusal(state.policy(P1, 'one', 'red'))).to.match(/is being deleted/);
    expect(state.refusal(state.method('m', 'red'))).to.match(/is being deleted/);
    expect(state.refusal({ type: 'namespace.delete', name: 'default', at: AT })).to.match(
      /not permitted/,
    );
  });

  it('remove all of their own objects and none of others when they are reaped', () => {
    const namespaces = ['default', 'red', 'blue'];
    const state = new State('red', 'blue');
    for (const ns of namespaces) {
      const id = ns === 'red' ? P1 : ns === 'blue' ? P2 : R1;
      state.must(state.policy(id, 'one', ns));
      state.must(state.method('m', ns));
      const token = { ...state.token(namespaces.indexOf(ns)), ns };
      state.must({ ...token, token: { ...token.token, Policies: [{ ID: id }] } });
    }
    const foreign = () =>
      [...state.store.keys('')]
        .filter(
          (key) => !key.includes('red') && !/^(index|deleted|machine|request|namespace)/.test(key),
        )
        .filter((key) => !key.includes(P1) && !state.store.get(key)!.includes('red'));
    const before = foreign();
    state.must({ type: 'namespace.delete', name: 'red', at: AT });
    expect(state.must({ type: 'namespace.reap', name: 'red' })).to.equal(true);
    const left = [...state.store.keys('')].filter((key) => key.split('\0').includes('red'));
    expect(left.filter((key) => !/^(index|deleted)\0/.test(key))).to.deep.equal([]);
    expect(foreign()).to.deep.equal(before);
  });
});
