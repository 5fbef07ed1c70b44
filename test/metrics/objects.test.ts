import { expect } from 'chai';
import { objectCounts } from '../../src/metrics/objects.js';
import { keys } from '../../src/state/keys.js';
import { StateKeys } from '../../src/storage/state-keys.js';

describe('metrics: the gauge of objects', () => {
  it('counts objects by type, and config entries by kind in all namespaces', () => {
    const state = new StateKeys([keys.role('default', 'r1'), keys.role('team', 'r2')]);
    state.add(keys.roleName('default', 'a'));
    state.add(keys.rule('default', 'b1'));
    for (const ns of ['default', 'team']) state.add(keys.config(ns, 'service-defaults', 'web'));
    state.add(keys.config('default', 'mesh', 'mesh'));
    state.delete(keys.config('default', 'mesh', 'mesh'));
    const { byType, byKind } = objectCounts(state.counts());
    expect([...byType]).to.deep.equal([
      ['policy', 0],
      ['role', 2],
      ['token', 0],
      ['auth-method', 0],
      ['binding-rule', 1],
      ['namespace', 0],
    ]);
    expect([byKind.get('service-defaults'), byKind.get('mesh')]).to.deep.equal([2, 0]);
    expect(byKind.size).to.equal(17);
  });
});
