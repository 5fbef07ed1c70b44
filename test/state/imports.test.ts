/** What apply decides of imports and releases that a change since their check has overtaken. */
import { expect } from 'chai';
import { AT, State } from './acl-state.js';

class Moved extends State {
  constructor() {
    super();
    this.must({ type: 'system.level', level: 3 });
  }
  import(source: string, ns: readonly number[], more: object = {}) {
    const tokens = ns.map((n) => {
      const { accessor, secret, token } = this.token(n);
      return { ns: 'default', accessor, secret, createTime: AT, token };
    });
    const facts = { source, takeOver: false, nowMs: Date.parse(AT) };
    return { type: 'tokens.import', ...facts, tokens, deletes: [], ...more };
  }
  release(owner: string, ns: readonly number[]) {
    const objects = ns.map((n) => ({ table: 'token', ns: 'default', id: this.token(n).accessor }));
    return { type: 'owner.release', owner, objects };
  }
  /** All records but the answers that are remembered. */
  get content(): readonly string[] {
    const objects = ['token', 'token-secret', 'owner'];
    return objects.flatMap((table) =>
      [...this.store.keys(`${table}\0`)].map((key) => `${key} ${this.store.get(key)}`),
    );
  }
}

describe('state: imports', () => {
  it('do nothing at all if one of their tokens cannot be imported any more', () => {
    const state = new Moved();
    state.must(state.import('dc1', [1]));
    // made here since the import was checked
    state.must(state.token(3));
    const before = state.content;
    const { accessor } = state.token(1);
    const late = state.import('dc1', [2, 3], { deletes: [{ ns: 'default', accessor }] });
    expect(state.refusal(late)).to.equal(
      `conflict: Token ${state.token(3).accessor} was made here`,
    );
    expect(state.content).to.deep.equal(before);
  });

  it('keep the owners of objects that changed hands before a release of their old one', () => {
    const state = new Moved();
    state.must(state.import('dc1', [1, 2]));
    // taken by another source since the release was asked for
    state.must(state.import('dc2', [2], { takeOver: true }));
    expect(state.must(state.release('migrate/dc1', [1, 2])).Released).to.equal(1);
    const owners = [...state.store.keys('owner\0')].map((key) => state.store.get(key));
    expect(owners).to.deep.equal(['{"Owner":"migrate/dc2"}']);
  });
});
