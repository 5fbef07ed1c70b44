import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
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

  it('end with a run that is interrupted, those that are paused too', async () => {
    const script = fileURLToPath(new URL('../../cluster/chaos.js', import.meta.url));
    const run = spawn(process.execPath, [script, '--minutes', '2', '--faults', 'pause']);
    const ended = once(run, 'exit');
    let printed = '';
    for await (const text of run.stdout) {
      printed += text;
      if (printed.includes(' pause: ')) break;
    }
    const dir = / are in (\S+)/.exec(printed)![1]!;
    const pids = ['n1', 'n2', 'n3'].map((name) => Number(readFileSync(join(dir, `${name}.pid`))));
    run.kill('SIGINT');
    expect((await ended)[0]).to.equal(130);
    expect(await survivors(pids), 'nodes that are left').to.deep.equal([]);
    rmSync(dir, { recursive: true, force: true });
  });
});

/**
 * Waits for processes that were killed and whose exit nobody reports here: the kernel ends each in
 * its own time. Returns those that run on, which it kills again.
 */
async function survivors(pids: readonly number[]): Promise<number[]> {
  const until = performance.now() + 30_000;
  while (pids.some(isAlive) && performance.now() < until) await sleep(20);
  const left = pids.filter(isAlive);
  for (const pid of left) process.kill(pid, 'SIGKILL');
  return left;
}

/** Whether a process runs; one that has ended and that nobody has waited for does not. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
