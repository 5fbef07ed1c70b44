import { expect } from 'chai';
import { HANDLERS } from '../../src/state/handlers.js';
import { COMMAND_LEVELS, SUPPORTED_LEVEL } from '../../src/state/levels.js';

/** What the first release with levels knows. Nothing is ever added here. */
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
  it('name every command that the first release does not know', () => {
    const later = Object.keys(HANDLERS).filter((type) => !LEVEL_1.includes(type));
    const named = Object.keys(COMMAND_LEVELS).filter((name) => !name.includes('/'));
    expect(later.sort()).to.deep.equal(named.sort());
    for (const level of Object.values(COMMAND_LEVELS))
      expect(level).to.be.within(2, SUPPORTED_LEVEL);
  });

  it('keep every command of the first release: logs hold them', () => {
    expect(Object.keys(HANDLERS)).to.include.members(LEVEL_1);
  });
});
