import { expect } from 'chai';
import { Checksums } from '../../src/state/checksum.js';
import { HANDLERS } from '../../src/state/handlers.js';
import { keys, POSITION_KEY } from '../../src/state/keys.js';
import { levelOf } from '../../src/state/levels.js';
import { RESTORE_FACT, restoreParts } from '../../src/state/restore.js';
import { INIT_FACT } from '../../src/state/system.js';
import type { Command, Result } from '../../src/state/types.js';
import { restorePart } from '../support/random-commands.js';
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

  it('goes on at a member that gets a snapshot of its half, under another leader', async () => {
    const limits = { cutEntries: 20, keepEntries: 5, keepBytes: 0, markEntries: 4 };
    cluster = await Cluster.create(['a', 'b', 'c'], { handlers: HANDLERS, limits });
    const nodes = await cluster.startAll('a', 'b', 'c');
    const write = async (command: object): Promise<Result> => {
      const { node } = await cluster.leader();
      const written = { v: 1, ...command } as Command;
      return node.write({ tokenKey: null, command: written, timeoutMs: 60_000 });
    };
    await cluster.until(() => nodes.every(({ view }) => levelOf(view) >= 3));
    const part = (number: number) =>
      restorePart({
        id: 'a',
        part: number,
        records: [[key(number), `{"Name":"${name(number)}","CreateIndex":1,"ModifyIndex":1}`]],
      });
    const { name: first, node: leader } = await cluster.leader();
    const away = ['a', 'b', 'c'].find((each) => each !== first)!;
    await write(part(0));
    await cluster.stop(away);
    for (let number = 1; number < 60; number++) await write(part(number));
    await cluster.until(() => leader.replica.appliedLog.first > 20);
    const back = await cluster.start(away);
    await cluster.until(() => restoreParts(back.view).get('a') === 60);
    // It got a snapshot.
    expect(back.view.get(POSITION_KEY)).to.be.a('string');
    await cluster.stop(first);
    await write(part(60));
    const result = await write({ type: 'restore.commit', id: 'a', parts: 61, records: 61 });
    expect(result).to.include({ ok: true });
    await cluster.start(first);
    const now = ['a', 'b', 'c'].map((each) => cluster.nodes.get(each)!);
    await cluster.until(() => now.every(({ view }) => view.get(key(60)) !== undefined));
    const restored = now.map(({ view }) => [...view.keys('')].filter((each) => each !== 'machine'));
    for (const each of restored) expect(each).to.include.members([key(0), key(30), RESTORE_FACT]);
    await cluster.until(() => {
      const [one, ...others] = now.map(({ view }) => JSON.parse(view.get(keys.machine)!));
      return others.every(({ index }) => index === one.index);
    });
    const [one, ...others] = now.map(({ view }) => JSON.parse(view.get(keys.machine)!).sums);
    for (const other of others) expect(other).to.deep.equal(one);
    expect(Checksums.of(back.view).toJSON()).to.deep.equal(
      JSON.parse(back.view.get(keys.machine)!).sums,
    );
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
