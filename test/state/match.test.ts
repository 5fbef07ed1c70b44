import { expect } from 'chai';
import { HANDLERS } from '../../src/state/handlers.js';
import { LEVELS, levelFor } from '../../src/state/levels.js';
import { Machine } from '../../src/state/machine.js';
import type { Command, Match } from '../../src/state/types.js';
import { State } from './acl-state.js';

/** A machine with all commands. */
class Whole extends State {
  override readonly machine = new Machine(this.store, HANDLERS);
}

const AT = '2030-01-01T00:00:00Z';
const ID = '0000000a-aaaa-4aaa-8aaa-000000000001';
const entry = '{"Kind":"service-defaults","Name":"web","Protocol":"http"}';
const place = { ns: 'default', kind: 'service-defaults', name: 'web', cas: null };
const config = (type: string) => ({ type, ...place, at: AT, datacenter: 'dc1', entry });
const namespace = { Name: 'team', PolicyDefaults: [], RoleDefaults: [] };

describe('the precondition of a command', () => {
  let state: Whole;
  beforeEach(() => {
    state = new Whole();
  });
  const types: Record<string, { set: object; again: object; gone: object; named: string }> = {
    role: {
      set: { ...new State().role(ID, 'web') },
      again: { ...new State().role(ID, 'web', [], false) },
      gone: { type: 'role.delete', ns: 'default', id: ID },
      named: 'role "web"',
    },
    'auth method': {
      set: new State().method('jwt1'),
      again: new State().method('jwt1'),
      gone: { type: 'method.delete', ns: 'default', name: 'jwt1' },
      named: 'auth method "jwt1"',
    },
    token: {
      set: new State().token(1),
      again: {
        type: 'token.update',
        ns: 'default',
        accessor: ID,
        nowMs: 0,
        token: { Description: 'x', Policies: [], Roles: [], Local: false },
      },
      gone: { type: 'token.delete', ns: 'default', accessor: ID, callerKey: null },
      named: `token "${ID}"`,
    },
    namespace: {
      set: { type: 'namespace.set', policyId: 'p', namespace },
      again: { type: 'namespace.set', policyId: 'p', namespace },
      gone: { type: 'namespace.delete', name: 'team', at: AT },
      named: 'namespace "team"',
    },
    'config entry': {
      set: config('config.set'),
      again: config('config.set'),
      gone: config('config.delete'),
      named: 'service-defaults "web"',
    },
  };
  for (const [noun, { set, again, gone, named }] of Object.entries(types)) {
    it(`is the version of the ${noun} that a write or a delete changes`, () => {
      const missing = `precondition_failed: Precondition failed: the ${noun} does not exist`;
      const refused = (command: object, match: Match) => state.refusal({ ...command, match });
      expect(refused(again, 'any')).to.equal(missing);
      expect(refused(again, [1])).to.equal(missing);
      expect(refused(gone, 'any')).to.equal(missing);
      state.must(set);
      const index = state.machine.appliedIndex();
      const other = `precondition_failed: Precondition failed: ${named} has ModifyIndex ${index}`;
      for (const command of [again, gone]) {
        expect(refused(command, [index - 1, index + 1])).to.equal(other);
        expect(refused(command, [])).to.equal(other);
        expect(refused(command, 'none')).to.equal(other);
      }
      state.must({ ...again, match: [index] });
      state.must({ ...again, match: 'any' });
      state.must({ ...gone, match: 'any' });
    });
  }

  it('lets a write pass that must not replace anything', () => {
    state.must({ ...config('config.set'), match: 'none' });
    expect(state.refusal({ ...config('config.set'), match: 'none' })).to.match(/has ModifyIndex/);
  });

  it('tells the version that is there as data', () => {
    state.must(config('config.set'));
    const result = state.apply({ ...config('config.set'), match: [9] });
    const about = result.ok ? undefined : result.refusal.about;
    expect(about).to.deep.equal({ kind: 'version', current: 2 });
  });

  it('makes the write of an entry answer the entry as it is stored', () => {
    const made = state.must({ ...config('config.set'), match: 'none' });
    expect(made).to.include({ Protocol: 'http', ModifyIndex: 2 });
    expect(state.must({ ...config('config.set'), match: [2] })).to.deep.equal(made);
  });

  it('is refused where a command has no object', () => {
    const reap = { type: 'token.reap', nowMs: 0, max: 1, match: 'any' };
    expect(state.refusal(reap)).to.equal('invalid: token.reap takes no precondition');
  });

  it('needs level 3, as an author does', () => {
    const command = { type: 'role.set', v: 1 } as Command;
    expect(levelFor(LEVELS, command)).to.equal(1);
    expect(levelFor(LEVELS, { ...command, match: 'any' })).to.equal(3);
    const author = { AccessorID: '', Description: 'server' };
    expect(levelFor(LEVELS, { ...command, author })).to.equal(3);
  });
});
