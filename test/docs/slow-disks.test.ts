import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Config, loadConfig } from '../../src/config/config.js';

describe('the profiles of docs/slow-disks.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-profiles-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const page = readFileSync('docs/slow-disks.md', 'utf8');
  const profiles = [...page.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text]): Config => {
    const file = join(folder, 'node.json');
    writeFileSync(file, text!);
    return loadConfig({ file });
  });

  it('are three configurations that a node takes, the first of which is the default', () => {
    expect(profiles).to.have.length(3);
    const { raft, limits } = loadConfig({});
    expect(profiles[0]!.raft).to.deep.equal(raft);
    expect(profiles[0]!.limits).to.deep.equal(limits);
  });

  it('leave two heartbeats and more, and elections an ever longer time', () => {
    const elections = profiles.map(({ raft }) => raft.electionMs);
    expect(elections).to.deep.equal([...elections].sort((a, b) => a - b));
    for (const { raft } of profiles)
      expect(raft.electionMs / raft.heartbeatMs).to.be.greaterThan(4);
  });
});
