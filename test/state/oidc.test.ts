/** What apply decides of OIDC logins: used States, replaced tokens, the key of the cluster. */
import { expect } from 'chai';
import { LEVELS, levelFor } from '../../src/state/levels.js';
import { OIDC_FACT, OIDC_USED } from '../../src/state/oidc.js';
import { isRestored, keptRecords } from '../../src/state/restore.js';
import { secretKeyOf } from '../../src/state/tokens.js';
import type { Command } from '../../src/state/types.js';
import { AT, State } from './acl-state.js';
import { actualKeys, expectedKeys } from './derived.js';

const NOW = Date.parse(AT);
const MINUTE = 60_000;

class Logins extends State {
  constructor() {
    super();
    this.must({ type: 'system.level', level: 3 });
    this.must(this.method('m'));
    this.must(this.method('other'));
  }
  /** A login of an identity that uses something up. */
  completed(n: number, hash: string, more: object = {}, atMs = NOW) {
    return {
      ...this.login(n, 'm'),
      identity: secretKeyOf('ann'),
      createTime: new Date(atMs).toISOString(),
      once: { hash, untilMs: atMs + 10 * MINUTE },
      ...more,
    };
  }
  replacing(n: number, old: number, more: object = {}) {
    return this.completed(n, `h${n}`, { replaces: secretKeyOf(this.token(old).secret), ...more });
  }
  limit(TokensPerIdentity: number, OnTokenLimit: string): void {
    const TTLs = { LoginTokenTTL: '', LoginTokenTTLMax: '' };
    const configuration = { ...TTLs, TokensPerIdentity, OnTokenLimit };
    this.must({ type: 'acl.configure', configuration });
  }
  get accessors(): number[] {
    return [...this.store.keys('token\0')].flatMap((key) => {
      const { AuthMethod, AccessorID } = JSON.parse(this.store.get(key)!);
      return AuthMethod === undefined ? [] : [Number(AccessorID.slice(-12))];
    });
  }
  get used(): number {
    return [...this.store.keys(`${OIDC_USED}\0`)].length;
  }
}

describe('state: OIDC logins', () => {
  it('complete what a client kept once, and nothing of the second login is done', () => {
    const state = new Logins();
    state.must(state.completed(1, 'a'));
    const again = { ...state.completed(2, 'a'), once: { hash: 'a', untilMs: NOW + 10 * MINUTE } };
    expect(state.refusal(again)).to.equal(
      'permission_denied: Permission denied: this login was completed before',
    );
    expect(state.accessors).to.deep.equal([1]);
    state.must(state.completed(3, 'b'));
    expect(state.accessors).to.deep.equal([1, 3]);
  });

  it('forget what was used once it is over, and not before', () => {
    const state = new Logins();
    for (let n = 1; n <= 6; n++) state.must(state.completed(n, `h${n}`));
    state.must(state.completed(7, 'h7', {}, NOW + 10 * MINUTE - 1));
    expect(state.used).to.equal(7);
    state.must(state.completed(8, 'h8', {}, NOW + 10 * MINUTE));
    expect(state.used).to.equal(2);
  });

  it('end the token that they replace in the same entry', () => {
    const state = new Logins();
    state.must(state.completed(1, 'a'));
    state.must(state.replacing(2, 1));
    expect(state.accessors).to.deep.equal([2]);
    expect(actualKeys(state.store)).to.deep.equal(expectedKeys(state.store));
  });

  it('replace no token that is unknown, of another method, of no login, or over', () => {
    const state = new Logins();
    const refused = /^acl_not_found: /;
    expect(state.refusal(state.replacing(2, 1))).to.match(refused);
    state.must({ ...state.login(1, 'other'), identity: secretKeyOf('ann') });
    expect(state.refusal(state.replacing(2, 1))).to.match(refused);
    state.must(state.token(3));
    expect(state.refusal(state.replacing(4, 3))).to.match(refused);
    state.must({
      ...state.method('m'),
      method: { Name: 'm', Type: 'jwt', MaxTokenTTL: '1m', Config: {} },
    });
    state.must(state.completed(5, 'a'));
    const late = { createTime: new Date(NOW + MINUTE).toISOString() };
    expect(state.refusal(state.replacing(6, 5, late))).to.match(refused);
    expect(state.used).to.equal(1);
    state.must(state.replacing(7, 5));
  });

  it('replace a token where their identity has as many as it may have', () => {
    const state = new Logins();
    state.limit(1, 'refuse');
    state.must(state.completed(1, 'a'));
    expect(state.refusal(state.completed(2, 'b'))).to.include('as many tokens as it may have');
    state.must(state.replacing(3, 1));
    state.limit(2, 'replace');
    state.must(state.completed(4, 'c'));
    state.must(state.replacing(5, 4));
    expect(state.accessors).to.deep.equal([3, 5]);
  });

  it('have a key from the first method of their type on, which only a rotation changes', () => {
    const state = new Logins();
    const fact = () => JSON.parse(state.store.get(OIDC_FACT) ?? 'null');
    const oidc = (oidcKey: string) => ({
      type: 'method.set',
      ns: 'default',
      oidcKey,
      method: { Name: 'staff', Type: 'oidc', Config: {} },
    });
    expect(fact()).to.equal(null);
    expect(state.refusal({ ...oidc('one'), ns: 'nowhere' })).to.include('nowhere');
    expect(fact()).to.equal(null);
    state.must(oidc('one'));
    state.must(oidc('two'));
    expect(fact()).to.include({ Key: 'one' }).and.not.to.have.property('Before');
    state.must({ type: 'oidc.rotate', key: 'three' });
    const index = state.must({ type: 'oidc.rotate', key: 'four' });
    expect(fact()).to.deep.equal({ Key: 'four', Before: 'three', ...index });
  });

  it('keep what was used when an archive is restored, which does not hold it', () => {
    const state = new Logins();
    state.must(state.completed(1, 'a'));
    const [key] = [...state.store.keys(`${OIDC_USED}\0`)];
    expect(isRestored(key!)).to.equal(false);
    expect([...keptRecords(state.store)].flat().map(([own]) => own)).to.include(key);
    expect(isRestored(OIDC_FACT)).to.equal(true);
  });

  it('need level 3', () => {
    const state = new Logins();
    const command = { v: 1, ...state.completed(1, 'a') } as Command;
    expect(levelFor(LEVELS, command)).to.equal(3);
    const plant = { ...state.method('m'), v: 1, oidcKey: 'k' } as Command;
    expect(levelFor(LEVELS, plant)).to.equal(3);
  });
});
