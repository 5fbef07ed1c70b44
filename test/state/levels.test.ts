import { expect } from 'chai';
import { HANDLERS } from '../../src/state/handlers.js';
import { COMMAND_LEVELS, levelFor, SUPPORTED_LEVEL } from '../../src/state/levels.js';
import type { Command } from '../../src/state/types.js';

/** The commands of release 0.3.0, from which upgrades start. Nothing is ever added here. */
const LEVEL_2 = [
  'acl.configure',
  ...['bootstrap', 'config.delete', 'config.set', 'fact.set', 'method.delete', 'method.reap'],
  ...['method.set', 'namespace.delete', 'namespace.reap', 'namespace.set', 'policy.delete'],
  ...[
    'policy.set',
    'request.forget',
    'restore.abort',
    'restore.add',
    'restore.commit',
    'role.delete',
    'role.set',
  ],
  ...['rule.delete', 'rule.set', 'system.init', 'token.clone', 'token.create', 'token.delete'],
  ...['token.login', 'token.logout', 'token.reap', 'token.update'],
];

describe('state: levels', () => {
  it('list every command that release 0.3.0 does not know', () => {
    const later = Object.keys(HANDLERS).filter((type) => !LEVEL_2.includes(type));
    const named = Object.keys(COMMAND_LEVELS).filter((name) => !name.includes('/'));
    expect(later.sort()).to.deep.equal(named.sort());
    for (const level of Object.values(COMMAND_LEVELS))
      expect(level).to.be.within(3, SUPPORTED_LEVEL);
  });

  it('depend on the type of a command and on its members', () => {
    const table = { supported: 4, commands: { 'a.set': 3, 'a.set/new': 4, 'b/new': 2 } };
    const needed = (command: object): number => levelFor(table, { v: 1, ...command } as Command);
    expect(needed({ type: 'a.set' })).to.equal(3);
    expect(needed({ type: 'a.set', new: 1 })).to.equal(4);
    expect(needed({ type: 'b' })).to.equal(1);
    expect(needed({ type: 'b', new: 1 })).to.equal(2);
    expect(needed({ type: 'c', new: 1 })).to.equal(1);
  });

  it('still include every command of release 0.3.0, as logs contain them', () => {
    expect(Object.keys(HANDLERS)).to.include.members(LEVEL_2);
  });
});
