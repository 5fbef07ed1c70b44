import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runChaos } from '../../cluster/chaos/run.js';

describe('real processes under faults', () => {
  it('keep acknowledged writes, stay linearizable, and survive the death of leaders', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'conclave-chaos-'));
    const faults: string[] = [];
    const report = await runChaos({
      seed: 7,
      nodes: 3,
      seconds: 20,
      kills: 2,
      clients: 8,
      pauseMs: 80,
      dir,
      note: (text) => faults.push(text),
    });
    const story = `${faults.join('\n')}\n${JSON.stringify(report, null, 2)}\nin ${dir}`;
    expect(report.verdict.result, story).to.equal('linearizable');
    expect(report.anomalies, story).to.deep.equal([]);
    expect(report.agreedAt, story).to.be.a('number');
    expect(report.kills, story).to.include({ lost: 0, duplicates: 0 });
    // how many there are depends on the machine
    expect(report.rights.refused, story).to.be.greaterThan(0);
    expect(report.counts.acknowledged, story).to.be.greaterThan(0);
    rmSync(dir, { recursive: true, force: true });
  });
});
