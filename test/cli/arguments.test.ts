import { expect } from 'chai';
import { Command } from 'commander';
import { withTwoDashes } from '../../src/cli/arguments.js';

const program = (): Command => {
  const made = new Command('conclave').option('-o, --output <form>').option('--stale');
  const acl = made.command('acl');
  acl.command('read').option('--policy-name <name>').option('--meta').argument('[name]');
  acl.command('login').option('--meta <pair>');
  return made;
};

describe('arguments with one dash', () => {
  const cases: readonly (readonly [given: string, expected: string])[] = [
    ['acl read -policy-name x', 'acl read --policy-name x'],
    ['acl read -policy-name=x', 'acl read --policy-name=x'],
    ['acl read --policy-name -meta', 'acl read --policy-name -meta'],
    ['acl read -meta -stale', 'acl read --meta --stale'],
    ['acl login -meta -stale', 'acl login --meta -stale'],
    ['-stale acl read', '--stale acl read'],
    ['acl read -o json', 'acl read -o json'],
    ['acl read -o -stale', 'acl read -o -stale'],
    ['acl read -ojson', 'acl read -ojson'],
    ['acl read -unknown x', 'acl read -unknown x'],
    ['acl read - -- -meta', 'acl read - -- -meta'],
    ['acl read -help', 'acl read --help'],
  ];
  for (const [given, expected] of cases)
    it(`reads ${given} as ${expected}`, () => {
      expect(withTwoDashes(program(), given.split(' ')).join(' ')).to.equal(expected);
    });
});
