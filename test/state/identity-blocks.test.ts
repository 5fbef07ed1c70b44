/** Revoked and blocked identities, as apply decides them. */
import { expect } from 'chai';
import { PastView } from '../../src/state/history/past.js';
import { nextRevocation } from '../../src/state/identity-blocks.js';
import { keys } from '../../src/state/keys.js';
import { CASCADE_MAX } from '../../src/state/methods.js';
import { isAlive, secretKeyOf, type Token, tokenByAccessor } from '../../src/state/tokens.js';
import { AT, State } from './acl-state.js';
import { actualKeys, expectedKeys } from './derived.js';

const NOW = Date.parse(AT);
const DENIED = /^permission_denied: Permission denied/;
const AUTHOR = { AccessorID: '', Description: 'server' };

class Identities extends State {
  constructor() {
    super('red');
    this.must({ type: 'system.level', level: 3 });
    this.must(this.method('M'));
    this.must(this.method('m2'));
  }
  loginOf(n: number, Subject: string, name = 'm', seconds = 0) {
    const Identity = { AuthMethod: name, Namespace: 'default', Subject };
    const author = { AccessorID: '', Description: '', Identity };
    const createTime = new Date(NOW + seconds * 1000).toISOString();
    const identity = secretKeyOf(Subject);
    return { ...this.login(n, name), createTime, identity, author, time: createTime };
  }
  logIn(from: number, to: number, subject: string, name = 'm'): void {
    for (let n = from; n <= to; n++) this.must(this.loginOf(n, subject, name));
  }
  revoke(whom: object, more: object = {}, name = 'm') {
    const time = '2030-01-01T00:00:00.000Z';
    const about = { ns: 'default', name, whom, count: 0, author: AUTHOR, time };
    return { type: 'identity.revoke', ...about, ...more };
  }
  reap(name = 'm') {
    return { type: 'identity.reap', ns: 'default', name, author: AUTHOR };
  }
  get stored(): Token[] {
    return [...this.store.keys('token\0')].map((key) => JSON.parse(this.store.get(key)!) as Token);
  }
  /** The numbers of the login tokens that are alive. */
  get alive(): number[] {
    return this.stored
      .filter((token) => token.AuthMethod !== undefined && isAlive(this.store, token, NOW))
      .map(({ AccessorID }) => Number(AccessorID.slice(-12)));
  }
  get records(): string[] {
    return [...this.store.keys('identity-block\0')].map((key) => key.replaceAll('\0', '·'));
  }
}

describe('state: revoked identities', () => {
  it('lose every token of a method at once, and nobody else does', () => {
    const state = new Identities();
    state.logIn(1, 2, 'web');
    state.logIn(3, 3, 'web2');
    state.logIn(4, 4, 'web', 'm2');
    state.must(state.login(5, 'M'));
    const { BlockID, Index } = state.must(state.revoke({ Subject: 'web' }));
    expect([BlockID, Index]).to.deep.equal(['', state.machine.appliedIndex()]);
    expect(state.alive).to.deep.equal([3, 4, 5]);
    expect(state.stored).to.have.length(state.alive.length + 1);
    expect(actualKeys(state.store)).to.deep.equal(expectedKeys(state.store));
  });

  it('by a prefix: all whose subject begins with it; an empty one means everybody', () => {
    const state = new Identities();
    state.logIn(1, 1, 'prod/web');
    state.logIn(2, 2, 'prod');
    state.logIn(3, 3, '');
    state.must(state.revoke({ SubjectPrefix: 'prod/' }));
    expect(state.alive).to.deep.equal([2, 3]);
    state.must(state.revoke({ SubjectPrefix: '' }));
    expect(state.alive).to.deep.equal([]);
  });

  it('may log in again, and these tokens live although older ones are still being removed', () => {
    const state = new Identities();
    const many = CASCADE_MAX + 500;
    state.logIn(1, many, 'web');
    state.must(state.revoke({ Subject: 'web' }));
    expect(state.alive).to.deep.equal([]);
    expect(state.stored.length).to.be.greaterThan(400);
    state.logIn(5001, 5003, 'web');
    expect(state.alive).to.deep.equal([5001, 5002, 5003]);
    expect(nextRevocation(state.store)).to.deep.equal({ ns: 'default', name: 'm' });
    const removed: number[] = [];
    while (nextRevocation(state.store) !== undefined) removed.push(state.must(state.reap()));
    expect(removed).to.deep.equal([500, 0]);
    expect(state.alive).to.deep.equal([5001, 5002, 5003]);
    expect(state.stored).to.have.length(4);
    // the second revocation knows those that survived the first one
    state.must(state.revoke({ SubjectPrefix: 'w' }));
    expect(state.alive).to.deep.equal([]);
    expect(actualKeys(state.store)).to.deep.equal(expectedKeys(state.store));
  });

  it('cannot use what is left of their tokens: not to log out, nor may others update them', () => {
    const state = new Identities();
    state.logIn(1, CASCADE_MAX + 1, 'web');
    state.must(state.revoke({ Subject: 'web' }));
    const [left] = state.stored.filter(({ AuthMethod }) => AuthMethod !== undefined);
    expect(tokenByAccessor(state.store, left!.AccessorID)).to.not.equal(undefined);
    const secretKey = secretKeyOf(left!.SecretID);
    expect(state.refusal({ type: 'token.logout', secretKey })).to.match(/^acl_not_found/);
    const token = { Description: 'x', Policies: [], Roles: [], Local: false };
    const update = { type: 'token.update', ns: 'default', nowMs: NOW, token };
    expect(state.refusal({ ...update, accessor: left!.AccessorID })).to.match(/^not_found/);
  });

  it('are so from the index of the revocation on, whenever their tokens are removed', () => {
    const state = new Identities();
    state.logIn(1, CASCADE_MAX + 1, 'web');
    const { Index } = state.must(state.revoke({ Subject: 'web' }));
    const { AccessorID } = state.stored.find(({ AuthMethod }) => AuthMethod !== undefined)!;
    const alive = (index: number): boolean => {
      const past = new PastView(state.store, index);
      for (const _ of past.findEnded());
      const token = tokenByAccessor(past, AccessorID);
      return token !== undefined && isAlive(past, token, NOW);
    };
    expect([Index - 1, Index].map(alive)).to.deep.equal([true, false]);
    while (nextRevocation(state.store) !== undefined) state.must(state.reap());
    expect(tokenByAccessor(state.store, AccessorID)).to.equal(undefined);
    expect([Index - 1, Index].map(alive)).to.deep.equal([true, false]);
  });

  it('are bounded: 100 revocations of a method at a time', () => {
    const state = new Identities();
    for (let n = 1; n <= 101; n++) state.logIn(n, n, `s${n}`);
    for (let n = 1; n <= 100; n++) state.must(state.revoke({ Subject: `s${n}` }));
    expect(state.refusal(state.revoke({ Subject: 's101' }))).to.match(/^too_many/);
    expect(state.alive).to.deep.equal([101]);
    state.must(state.reap());
    state.must(state.revoke({ Subject: 's101' }));
    expect(state.alive).to.deep.equal([]);
  });

  it('are unknown with an unknown method, and forgotten with theirs', () => {
    const state = new Identities();
    const none = 'not_found: auth method "x" not found';
    expect(state.refusal(state.revoke({ Subject: 'a' }, {}, 'x'))).to.equal(none);
    state.logIn(1, 1, 'a');
    const block = { id: 'b1', until: null };
    state.must(state.revoke({ Subject: 'a' }, { block }));
    expect(state.records).to.deep.equal([
      'identity-block·default·m',
      'identity-block·default·m·revoked·000000001',
      'identity-block·default·m·subject·a·b1',
    ]);
    state.must({ type: 'method.delete', ns: 'default', name: 'm' });
    expect(state.records).to.deep.equal([]);
    state.must(state.method('M'));
    state.logIn(2, 2, 'a');
    expect(state.alive).to.deep.equal([2]);
  });
});

describe('state: blocked identities', () => {
  const block = (id: string, until: string | null = null) => ({ block: { id, until } });

  it('cannot log in until the block ends, by subject or by prefix', () => {
    const state = new Identities();
    const until = new Date(NOW + 60_000).toISOString();
    state.must(state.revoke({ Subject: 'web' }, block('b1', until)));
    state.must(state.revoke({ SubjectPrefix: 'prod/' }, block('b2')));
    expect(state.refusal(state.loginOf(1, 'web'))).to.match(DENIED);
    expect(state.refusal(state.loginOf(2, 'web', 'm', 59))).to.match(DENIED);
    expect(state.refusal(state.loginOf(3, 'prod/a', 'm', 3600))).to.match(DENIED);
    state.must(state.loginOf(4, 'web', 'm', 60));
    state.must(state.loginOf(5, 'web2'));
    state.must(state.loginOf(6, 'web', 'm2'));
    state.must(state.loginOf(7, 'prod'));
  });

  it('can log in once it is lifted, unless another one holds', () => {
    const state = new Identities();
    state.must(state.revoke({ Subject: 'web' }, block('b1')));
    state.must(state.revoke({ Subject: 'web' }, block('b2')));
    const lift = (id: string) => {
      const about = { ns: 'default', name: 'm', whom: { Subject: 'web' }, id, author: AUTHOR };
      return { type: 'identity.unblock', ...about };
    };
    state.must(lift('b1'));
    expect(state.refusal(state.loginOf(1, 'web'))).to.match(DENIED);
    expect(state.refusal(lift('b1'))).to.equal('not_found: The block does not exist');
    state.must(lift('b2'));
    state.must(state.loginOf(1, 'web'));
  });

  it('are bounded: 1,000 blocks of a method, without those that are over', () => {
    const state = new Identities();
    const until = new Date(NOW + 60_000).toISOString();
    for (let n = 1; n <= 1000; n++)
      state.must(state.revoke({ Subject: `s${n}` }, block(`b${n}`, until)));
    const more = state.revoke({ Subject: 'more' }, block('more'));
    expect(state.refusal(more)).to.match(/^conflict: .* 1000 blocked identities/);
    expect(state.records).to.have.length(1001);
    state.must({ ...more, time: until });
    expect(state.records).to.have.length(2);
  });
});

describe('state: the keys of a token of a login', () => {
  it('include what tells that its identity was revoked', () => {
    const state = new Identities();
    state.logIn(1, 1, 'web');
    const own = keys.identityBlock('default', 'm');
    const changed: string[] = [];
    state.machine.onChanged((all) => changed.push(...all));
    state.must(state.revoke({ Subject: 'nobody' }));
    expect(changed).to.include(own);
  });
});
