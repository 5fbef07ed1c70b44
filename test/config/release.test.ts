import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { missingNames, publicNames, type Release } from '../../scripts/release/names.js';

describe('the public names of the last release', () => {
  const kept = JSON.parse(readFileSync('scripts/release.json', 'utf8')) as Release;
  const release: Release = {
    version: '0.9.0',
    lines: {},
    removed: {},
    names: {
      setting: ['http.port', 'ui.idleMs'],
      command: ['conclave health: --live --wait', 'conclave watch: --wait'],
    },
  };

  it('are all there, except those removed on purpose', () => {
    expect(missingNames(kept, publicNames('.'))).to.deep.equal([]);
  });

  it('include endpoints, settings, commands, metrics and lines of the log', () => {
    for (const list of Object.values(kept.names)) expect(list).to.have.length.above(40);
    expect(publicNames('.')).to.have.all.keys(Object.keys(kept.names));
  });

  it('are reported when they are gone: a name, and an option of a command', () => {
    const now = { setting: ['http.port'], command: ['conclave health: --wait', 'conclave watch'] };
    expect(missingNames(release, now).map((text) => text.split(' of 0.9.0')[0])).to.deep.equal([
      'setting ui.idleMs',
      'command conclave health --live',
      'command conclave watch --wait',
    ]);
  });

  it('may go with a reason, which needs a name that is gone', () => {
    const now = { setting: ['http.port'], command: ['conclave health: --live', 'conclave watch'] };
    const removed = { 'ui.idleMs': 'nobody idles', '--wait': 'it never waits' };
    expect(missingNames({ ...release, removed }, now)).to.deep.equal([]);
    const [problem] = missingNames({ ...release, removed: { ...removed, '--live': 'no' } }, now);
    expect(problem).to.include('--live is listed as removed');
  });
});
