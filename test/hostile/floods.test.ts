/**
 * Requests that look harmless one by one: `npm run fuzz` sends more of them, and judges stalls too.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runFloods } from '../../scripts/fuzz/flood-run.js';
import { FLOODS } from '../../scripts/fuzz/floods.js';

describe('floods of requests', () => {
  const dir = mkdtempSync(join(tmpdir(), 'conclave-floods-'));
  after(() => rmSync(dir, { recursive: true, force: true }));

  it('change no leader, fail no permitted client, and stay within the memory bound', async () => {
    const lines: string[] = [];
    const results = await runFloods({
      dir,
      seconds: 1,
      // A busy machine delays heartbeats by itself.
      settings: { raft: { electionMs: 1500, heartbeatMs: 100, leaseMs: 600 } },
      judgesStalls: false,
      note: (text) => lines.push(text),
    });
    expect(results.map(({ name }) => name)).to.deep.equal(FLOODS.map(({ name }) => name));
    const problems = results.flatMap(({ problems: found }) => found);
    expect(problems, lines.join('\n')).to.deep.equal([]);
    for (const { name, answers } of results)
      if (name !== 'erased secrets') expect(answers, name).to.be.above(0);
  });
});
