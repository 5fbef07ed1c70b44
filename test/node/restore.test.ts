import { expect } from 'chai';
import { HANDLERS } from '../../src/state/handlers.js';
import { keys } from '../../src/state/keys.js';
import { RESTORE_FACT } from '../../src/state/restore.js';
import { INIT_FACT } from '../../src/state/system.js';
import type { Command } from '../../src/state/types.js';
import { Cluster } from './processes.js';

const PARTS = 60;
const RECORDS = 1000;
const name = (n: number): string => `entry-${String(n).padStart(6, '0')}`;
const key = (n: number): string => keys.config('default', 'service-defaults', name(n));

describe('node: a restore', function () {
  this.timeout(120_000);
  let cluster: Cluster;
  afterEach(async () => {
    await cluster.remove();
    expect(cluster.fatal).to.deep.equal([]);
  });

  it('of many entries is applied on every member, and wakes blocking queries', async () => {
    cluster = await Cluster.create(['a', 'b', 'c'], { handlers: HANDLERS });
    const nodes = await cluster.startAll('a', 'b', 'c');
    const { node: leader } = await cluster.leader();
    const { term } = leader.status();
    const write = (command: object) =>
      leader.write({
        tokenKey: null,
        command: { v: 1, ...command } as Command,
        timeoutMs: 60_000,
      });
    for (let part = 0; part < PARTS; part++) {
      const records = Array.from({ length: RECORDS }, (_, n) => {
        const at = part * RECORDS + n;
        return [key(at), `{"Kind":"service-defaults","Name":"${name(at)}","ModifyIndex":1}`];
      });
      await write({ type: 'restore.add', id: 'a', part, records });
    }
    const woken = nodes.map((node) => new Promise<void>((wake) => node.watch([INIT_FACT], wake)));
    const result = await write({ type: 'restore.commit', id: 'a', parts: PARTS });
    expect(result.ok).to.equal(true);
    await Promise.all(woken);
    const last = key(PARTS * RECORDS - 1);
    await cluster.until(() => nodes.every(({ view }) => view.get(last) !== undefined));
    const sums = nodes.map((node) => {
      expect(node.view.get(RESTORE_FACT)).to.equal(`{"Index":${result.index}}`);
      expect([...node.view.keys('restore')]).to.deep.equal([]);
      return JSON.parse(node.view.get(keys.machine)!).sums;
    });
    expect(sums[1]).to.deep.equal(sums[0]);
    expect(sums[2]).to.deep.equal(sums[0]);
    expect(leader.status()).to.include({ role: 'leader', term });
    const after = await write({ type: 'fact.set', name: 'autopilot', value: {} });
    expect(after.ok).to.equal(true);
  });

  it('that a shutdown interrupts is applied again from the log', async () => {
    cluster = await Cluster.create(['a'], { handlers: HANDLERS });
    let node = await cluster.start('a');
    await cluster.leader();
    const write = (command: object) =>
      node.write({ tokenKey: null, command: { v: 1, ...command } as Command, timeoutMs: 60_000 });
    const records = Array.from({ length: 20 * RECORDS }, (_, n) => [key(n), `{"Name":"${n}"}`]);
    await write({ type: 'restore.add', id: 'a', part: 0, records });
    const before = node.status().appliedIndex;
    const unanswered = write({ type: 'restore.commit', id: 'a', parts: 1 }).catch(() => undefined);
    await cluster.until(() => node.status().commitIndex > before);
    expect(node.view.get(key(0))).to.equal(undefined);
    await cluster.stop('a');
    await unanswered;
    node = await cluster.start('a');
    await cluster.until(() => node.view.get(key(0)) !== undefined);
    expect(node.view.get(key(20 * RECORDS - 1))).not.to.equal(undefined);
    expect(node.status().appliedIndex).to.be.greaterThan(before);
  });
});
