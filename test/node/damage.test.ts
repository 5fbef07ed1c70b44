/** Servers that lost data on disk: they restore what they can and never serve a partial state. */
import { cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { RunningNode } from '../../src/node/node.js';
import { inspectFolder, recoverFolder, UNFINISHED } from '../../src/node/recover.js';
import { recover } from '../../src/program/offline.js';
import { Checksums } from '../../src/state/checksum.js';
import { DIVERGED_KEY } from '../../src/state/keys.js';
import { type Handlers, keyOf } from '../../src/state/types.js';
import { Folders, flip, flipRecord, isEntry, loseBatch, raw } from '../storage/helpers.js';
import { append, Cluster, HANDLERS, put, valueAt } from './processes.js';

/** Limits with which the log is truncated soon. */
const limits = { cutEntries: 100, keepEntries: 50, keepBytes: 0 };

const write = (node: RunningNode, key: string, value: string): Promise<unknown> =>
  node.write({ tokenKey: null, command: put(key, value), timeoutMs: 8000 });
const fill = (node: RunningNode): Promise<unknown> =>
  Promise.all(Array.from({ length: 1300 }, (_, i) => write(node, `f${i % 9}`, 'x')));

async function failure(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

/** A server's state folder, the keys in it, its newest batch number, and its records of a key. */
const stateOf = (cluster: Cluster, name: string): string => join(cluster.folder(name), 'state');
const keysIn = (dir: string): Promise<string[]> =>
  raw(dir, async (db) => (await db.keys().all()).map(String));
async function newestBatch(dir: string): Promise<number> {
  const numbers = (await keysIn(dir)).filter((key) => key.startsWith('#'));
  return Math.max(...numbers.map((key) => Number(key.slice(1))));
}
const recordsOf = (keys: readonly string[], suffix: string): string[] =>
  keys.filter((key) => /^\d/.test(key) && key.endsWith(suffix));

/** Writes several batches of the state, one write in each. */
async function writeSlowly(cluster: Cluster, node: RunningNode, name: string): Promise<void> {
  for (let i = 0; i < 4; i++) {
    await write(node, `slow${i}`, `${i}`);
    await cluster.flushed(name);
  }
}

describe('node: a server whose state is damaged', () => {
  let cluster: Cluster;
  afterEach(() => cluster.remove());

  /** Loses a batch with the record `slow1`. */
  async function loseSlow1(name: string): Promise<string> {
    const dir = stateOf(cluster, name);
    const keys = await keysIn(dir);
    await loseBatch(dir, (await newestBatch(dir)) - 2, recordsOf(keys, '\u0000slow1'));
    return dir;
  }

  it('rebuilds it from its log before it serves, and finds it complete from then on', async () => {
    cluster = await Cluster.create(['a'], { limits });
    let a = await cluster.start('a');
    await write(a, 'precious', 'data');
    await writeSlowly(cluster, a, 'a');
    await cluster.stop('a');
    await loseSlow1('a');
    a = await cluster.start('a');
    expect(a.status().fault).to.equal(undefined);
    expect([valueAt(a, 'precious'), valueAt(a, 'slow1')]).to.deep.equal(['data', '1']);
    expect(cluster.logCount('a', 'error the state has lost')).to.equal(1);
    await fill(a);
    await cluster.until(() => a.replica.appliedLog.first > 1000);
    a = (await cluster.restartUnchanged('a'))[0]!;
    expect(valueAt(a, 'precious')).to.equal('data');
  });

  it('alone, with a truncated log, refuses to start and leaves the state unchanged', async () => {
    cluster = await Cluster.create(['a'], { limits });
    let a = await cluster.start('a');
    await write(a, 'precious', 'data');
    await fill(a);
    await cluster.until(() => a.replica.appliedLog.first > 1000);
    await writeSlowly(cluster, a, 'a');
    await cluster.stop('a');
    const dir = await loseSlow1('a');
    const before = await keysIn(dir);
    for (let again = 0; again < 2; again++) {
      const why = await failure(cluster.start('a'));
      expect(why).to.match(/lost batch/);
      expect(why).to.match(/no other server/);
      expect(why).to.match(/conclave recover --accept-loss/);
      expect(why).to.match(/snapshot/);
      expect(await keysIn(dir)).to.deep.equal(before);
    }
    const { damage, appliedIndex, lastIndex } = await inspectFolder(cluster.folder('a'));
    expect(damage).to.have.lengthOf(1);
    expect(appliedIndex).to.equal(lastIndex);
    expect(await keysIn(dir)).to.deep.equal(before);

    const options = { name: 'a', members: cluster.initial('a'), handlers: HANDLERS };
    const folder = cluster.folder('a');
    expect(await failure(recoverFolder(folder, options))).to.match(/lost batch/);
    expect(await keysIn(dir)).to.deep.equal(before);
    const after = await recoverFolder(folder, { ...options, acceptLoss: true });
    expect(after.damage).to.deep.equal([]);
    expect((await inspectFolder(folder)).damage).to.deep.equal([]);
    a = await cluster.start('a');
    expect(a.status().fault).to.equal(undefined);
    expect(valueAt(a, 'precious')).to.equal('data');
    expect([valueAt(a, 'slow0'), valueAt(a, 'slow1')]).to.deep.equal(['0', undefined]);
    await write(a, 'later', 'x');
    await cluster.restartUnchanged('a');
  });

  it('rebuilds it from its log although the pointer to the current state is lost', async () => {
    cluster = await Cluster.create(['a']);
    await write(await cluster.start('a'), 'precious', 'data');
    await cluster.stop('a');
    const dir = stateOf(cluster, 'a');
    await flip(dir, Buffer.from('!state'), 70);
    await flip(dir, Buffer.from('!keys'), 70);
    const a = await cluster.start('a');
    await a.barrier('default', 8000);
    expect(valueAt(a, 'precious')).to.equal('data');
    await cluster.restartUnchanged('a');
  });

  it('alone, with a corrupt last log entry, logs that no server has it', async () => {
    cluster = await Cluster.create(['a']);
    let a = await cluster.start('a');
    await write(a, 'precious', 'data');
    const { lastLogIndex } = a.status();
    await cluster.stop('a');
    await flipRecord(join(cluster.folder('a'), 'log'), isEntry(lastLogIndex));
    for (let again = 0; again < 2; again++) {
      cluster.lines.length = 0;
      a = await cluster.start('a');
      expect(a.replica.loop.elections.votingSuspended).to.equal(true);
      expect(cluster.logCount('a', 'error no other voting server is known')).to.equal(1);
      await cluster.stop('a');
    }
    const dataDir = cluster.folder('a');
    const flags = { dataDir, nodeName: 'a', advertise: cluster.address('a'), members: undefined };
    const plan = await recover({ ...flags, acceptLoss: true, dryRun: true });
    expect(plan.text).to.match(new RegExp(`^Would apply +0, up to index ${lastLogIndex}$`, 'm'));
    const options = { name: 'a', members: cluster.initial('a'), handlers: HANDLERS };
    await recoverFolder(dataDir, { ...options, acceptLoss: true });
    a = await cluster.start('a');
    await a.barrier('default', 8000);
    expect(valueAt(a, 'precious')).to.equal('data');
    await cluster.restartUnchanged('a');
  });

  it('alone, without its state and with a truncated log, does not start empty', async () => {
    cluster = await Cluster.create(['a'], { limits });
    const a = await cluster.start('a');
    await write(a, 'precious', 'data');
    await fill(a);
    await cluster.until(() => a.replica.appliedLog.first > 1000);
    await cluster.stop('a');
    const dir = stateOf(cluster, 'a');
    await cp(dir, `${dir}.aside`, { recursive: true });
    await rm(dir, { recursive: true });
    const why = await failure(cluster.start('a'));
    expect(why).to.match(/ends before its log begins/);
    expect(why).to.match(/no other server/);
    await rm(dir, { recursive: true });
    await cp(`${dir}.aside`, dir, { recursive: true });
    expect(valueAt(await cluster.start('a'), 'precious')).to.equal('data');
  });

  it('with peers keeps its damaged state until theirs is complete, serving neither', async () => {
    cluster = await Cluster.create(['a', 'b', 'c'], { limits });
    const [a] = await cluster.startAll('a', 'b', 'c');
    const c = cluster.nodes.get('c')!;
    await write(a!, 'precious', 'data');
    await fill(a!);
    await cluster.until(() => c.replica.appliedLog.first > 1000);
    await writeSlowly(cluster, c, 'c');
    for (const name of ['a', 'b', 'c']) await cluster.stop(name);
    const dir = await loseSlow1('c');
    const damaged = recordsOf(await keysIn(dir), '\u0000precious');
    for (let again = 0; again < 2; again++) {
      const alone = await cluster.start('c');
      expect(alone.status().fault).to.match(/lost batch .* being fetched from the leader/);
      expect(valueAt(alone, 'precious')).to.equal(undefined);
      expect(await failure(alone.barrier('default', 100))).to.match(/is not serving requests/);
      await cluster.stop('c');
      expect(recordsOf(await keysIn(dir), '\u0000precious')).to.deep.equal(damaged);
    }
    const hurtNode = await cluster.start('c');
    await Promise.all(['a', 'b'].map((name) => cluster.start(name)));
    await cluster.until(() => hurtNode.status().fault === undefined);
    await hurtNode.barrier('default', 8000);
    expect([valueAt(hurtNode, 'precious'), valueAt(hurtNode, 'slow1')]).to.deep.equal([
      'data',
      '1',
    ]);
    await cluster.restartUnchanged('a', 'b', 'c');
    await cluster.stop('c');
    const left = recordsOf(await keysIn(dir), '\u0000precious');
    expect(left).to.have.lengthOf(1);
    expect(left).to.not.deep.equal(damaged);
  });

  it("with peers fetches the state and also the log, if the log's start is lost", async () => {
    cluster = await Cluster.create(['a', 'b', 'c'], { limits });
    const [a] = await cluster.startAll('a', 'b', 'c');
    const c = cluster.nodes.get('c')!;
    await write(a!, 'precious', 'data');
    await fill(a!);
    await cluster.until(() => c.replica.appliedLog.first > 1000);
    await writeSlowly(cluster, c, 'c');
    await cluster.stop('c');
    await loseSlow1('c');
    await flipRecord(join(cluster.folder('c'), 'log'), (record) => record.at === 0, 8);
    const again = await cluster.start('c');
    expect(again.status().fault).to.match(/being fetched/);
    await cluster.until(
      () => again.status().fault === undefined && !again.replica.loop.elections.votingSuspended,
    );
    await again.barrier('default', 8000);
    expect([valueAt(again, 'precious'), valueAt(again, 'slow1')]).to.deep.equal(['data', '1']);
    await cluster.restartUnchanged('a', 'b', 'c');
  });

  it('after a majority was lost is recovered, though commands need lost records', async () => {
    cluster = await Cluster.create(['a', 'b', 'c'], { limits });
    const [a] = await cluster.startAll('a', 'b', 'c');
    await write(a!, 'precious', 'data');
    await fill(a!);
    await cluster.until(() => a!.replica.appliedLog.first > 1000);
    await writeSlowly(cluster, a!, 'a');
    for (const name of ['a', 'b', 'c']) await cluster.stop(name);
    const dir = stateOf(cluster, 'a');
    // The state ends before the last commands of the log, which were applied to the lost records.
    const behind = `${dir}.behind`;
    await cp(dir, behind, { recursive: true });
    const again = await Promise.all(['a', 'b', 'c'].map((name) => cluster.start(name)));
    for (const text of ['x', 'y']) {
      const command = append('slow1', text);
      await again[0]!.write({ tokenKey: null, command, timeoutMs: 8000 });
    }
    await write(again[0]!, 'last', 'z');
    for (const name of ['a', 'b', 'c']) await cluster.stop(name);
    await rm(dir, { recursive: true });
    await cp(behind, dir, { recursive: true });
    await loseSlow1('a');
    const strict: Handlers = {
      ...HANDLERS,
      append: (context, command) => {
        const before = context.draft.get(keyOf('test', command.key))!;
        context.draft.put(keyOf('test', command.key), before.concat(command.value));
        return { ok: true };
      },
    };
    const options = { name: 'a', members: cluster.initial('a'), handlers: strict };
    const folder = cluster.folder('a');
    expect((await inspectFolder(folder)).damage).to.have.lengthOf(1);
    const after = await recoverFolder(folder, { ...options, acceptLoss: true });
    expect(after.appliedIndex).to.equal(after.lastIndex);
    expect(after.notApplied).to.equal(2);
    const folders = new Folders();
    const held = await folders.state(dir);
    expect(after.checksums).to.deep.equal(Checksums.of(held).toJSON());
    await folders.clean();
    const node = await cluster.start('a');
    await node.barrier('default', 8000);
    expect([valueAt(node, 'precious'), valueAt(node, 'last')]).to.deep.equal(['data', 'z']);
    expect(valueAt(node, 'slow1')).to.equal(undefined);
    await write(node, 'slow1', 'new');
    await cluster.restartUnchanged('a');
  });

  it('that joined and then lost log and state is refused, as its votes are lost', async () => {
    cluster = await Cluster.create(['a', 'b']);
    const a = await cluster.start('a');
    await write(a, 'k', 'v');
    const joins = { join: [cluster.address('a')] };
    const b = await cluster.join('b', 'a');
    await cluster.until(() => a.status().peers.filter(({ voter }) => voter).length === 2);
    await b.barrier('default', 8000);
    const identity: unknown = JSON.parse(
      await readFile(join(cluster.folder('b'), 'node.json'), 'utf8'),
    );
    expect(identity).to.have.property('begun', true);
    await cluster.stop('b');
    for (const part of ['log', 'state']) {
      await rm(join(cluster.folder('b'), part), { recursive: true });
    }
    expect(await failure(cluster.start('b', joins))).to.match(/log .* is lost/);
  });

  it('with an unreadable record is recovered without that record', async () => {
    cluster = await Cluster.create(['a'], { limits });
    const a = await cluster.start('a');
    await write(a, 'precious', 'data');
    await write(a, 'rotten', 'data');
    await fill(a);
    await cluster.until(() => a.replica.appliedLog.first > 1000);
    await cluster.stop('a');
    const dir = stateOf(cluster, 'a');
    const [rotten] = recordsOf(await keysIn(dir), '\u0000rotten');
    await raw(dir, (db) => db.put(Buffer.from(rotten!), Buffer.from('00000000data')));
    const folder = cluster.folder('a');
    const { damage } = await inspectFolder(folder);
    expect(damage).to.have.lengthOf(1);
    expect(damage[0]).to.match(/records that cannot be read \(1, in table test\)/);
    const options = { name: 'a', members: cluster.initial('a'), handlers: HANDLERS };
    await recoverFolder(folder, { ...options, acceptLoss: true });
    const again = await cluster.start('a');
    expect([valueAt(again, 'precious'), valueAt(again, 'rotten')]).to.deep.equal([
      'data',
      undefined,
    ]);
    await cluster.restartUnchanged('a');
  });

  it('does not start after an interrupted recovery until it has been recovered', async () => {
    cluster = await Cluster.create(['a']);
    await write(await cluster.start('a'), 'precious', 'data');
    await cluster.stop('a');
    const dir = stateOf(cluster, 'a');
    await cp(dir, `${dir}.behind`, { recursive: true });
    const command = append('precious', '!');
    await (await cluster.start('a')).write({ tokenKey: null, command, timeoutMs: 8000 });
    await cluster.stop('a');
    await rm(dir, { recursive: true });
    await cp(`${dir}.behind`, dir, { recursive: true });

    const folder = cluster.folder('a');
    const options = { name: 'a', members: cluster.initial('a') };
    // An older version of the program, which does not know one of the log's commands.
    const { append: _, ...handlers } = HANDLERS;
    expect(await failure(recoverFolder(folder, { ...options, handlers }))).to.match(/not known/);
    expect((await inspectFolder(folder)).damage).to.deep.equal([UNFINISHED]);
    expect(await failure(cluster.start('a'))).to.match(/conclave recover/);
    const after = await recoverFolder(folder, { ...options, handlers: HANDLERS });
    expect([after.damage, after.notApplied]).to.deep.equal([[], 0]);
    expect(valueAt(await cluster.start('a'), 'precious')).to.equal('data!');
    await cluster.restartUnchanged('a');
  });

  it('alone, with a differing state, starts only after a recovery that accepts loss', async () => {
    cluster = await Cluster.create(['a']);
    await write(await cluster.start('a'), 'k', 'v');
    await cluster.stop('a');
    const folders = new Folders();
    const state = await folders.state(stateOf(cluster, 'a'));
    state.commit([[DIVERGED_KEY, 'its state differs']]);
    await folders.clean();
    expect(await failure(cluster.start('a'))).to.match(/its state differs.*no other server/);
    const options = { name: 'a', members: cluster.initial('a'), handlers: HANDLERS };
    expect(await failure(recoverFolder(cluster.folder('a'), options))).to.match(/differs/);
    await recoverFolder(cluster.folder('a'), { ...options, acceptLoss: true });
    expect(valueAt(await cluster.start('a'), 'k')).to.equal('v');
    await cluster.restartUnchanged('a');
  });
});
