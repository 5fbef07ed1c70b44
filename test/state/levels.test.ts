import { expect } from 'chai';
import { HANDLERS } from '../../src/state/handlers.js';
import { COMMAND_LEVELS, LEVELS, levelFor, SUPPORTED_LEVEL } from '../../src/state/levels.js';
import type { Command } from '../../src/state/types.js';

/** The commands of the first release with levels. Nothing is ever added here. */
const LEVEL_1 = [
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
  it('list every command that the first release does not know', () => {
    const later = Object.keys(HANDLERS).filter((type) => !LEVEL_1.includes(type));
    const named = Object.keys(COMMAND_LEVELS).filter((name) => !name.includes('/'));
    expect(later.sort()).to.deep.equal(named.sort());
    for (const level of Object.values(COMMAND_LEVELS))
      expect(level).to.be.within(2, SUPPORTED_LEVEL);
  });

  it('depend on the type of a command and on its members', () => {
    const needed = (command: object): number => levelFor(LEVELS, command as Command);
    expect(needed({ type: 'token.login', v: 1 })).to.equal(1);
    expect(needed({ type: 'token.login', v: 1, identity: 'a' })).to.equal(2);
    expect(needed({ type: 'acl.configure', v: 1 })).to.equal(2);
    expect(needed({ type: 'config.set', v: 1, kind: 'mesh' })).to.equal(1);
    expect(needed({ type: 'config.set', v: 1, kind: 'mesh', provider: true })).to.equal(2);
    expect(needed({ type: 'token.create', v: 1, identity: 'a' })).to.equal(1);
    const table = { supported: 4, commands: { 'a.set': 3, 'a.set/new': 4, 'b/new': 2 } };
    const levels = [{}, { new: 1 }].map((more) =>
      levelFor(table, { type: 'a.set', v: 1, ...more }),
    );
    expect(levels).to.deep.equal([3, 4]);
  });

  it('still include every command of the first release, as logs contain them', () => {
    expect(Object.keys(HANDLERS)).to.include.members(LEVEL_1);
  });
});
