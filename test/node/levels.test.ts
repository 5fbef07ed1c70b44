/** Rolling upgrades: what only a later release supports waits until every member runs it. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ApiError } from '../../src/base/errors.js';
import type { RunningNode } from '../../src/node/node.js';
import type { NodeOptions } from '../../src/node/options.js';
import { COMMAND_LEVELS, levelOf } from '../../src/state/levels.js';
import { type Command, keyOf } from '../../src/state/types.js';
import { Cluster, HANDLERS, put } from './processes.js';

/** A release that knows no levels beyond the first. */
const FIRST: Partial<NodeOptions> = { levels: { supported: 1, commands: {} } };
/** A release with one more command, which needs level 2. */
const NEXT: Partial<NodeOptions> = {
  handlers: {
    ...HANDLERS,
    'thing.set': ({ draft }, { value }: Command & { value: string }) => {
      draft.put(keyOf('thing'), value);
      return { ok: true };
    },
  },
  levels: { supported: 2, commands: { 'thing.set': 2 } },
};
const thing = { type: 'thing.set', v: 1, value: 'x' } as Command;
const FAR = 30_000;

describe('node: levels', function () {
  this.timeout(60_000);
  let cluster: Cluster;
  const make = async (options: Partial<NodeOptions> = FIRST): Promise<void> => {
    cluster = await Cluster.create(['a', 'b', 'c', 'd'], options);
  };
  afterEach(() => cluster.remove());

  const write = (node: RunningNode, command: Command, timeoutMs = FAR) =>
    node.write({ tokenKey: null, command, timeoutMs });
  const refusalOf = (node: RunningNode, command: Command) =>
    write(node, command).then(
      () => undefined,
      ({ refusal }: ApiError) => refusal,
    );
  const nodes = (): RunningNode[] => [...cluster.nodes.values()];
  const areAt = (level: number): Promise<void> =>
    cluster.until(() => nodes().every((node) => levelOf(node.view) === level), FAR);
  const isRefused = (node: RunningNode, why: string): Promise<void> => {
    const again = async (): Promise<void> => {
      const refused = await refusalOf(node, thing);
      expect(refused?.code).to.equal('unavailable');
      const text = `This needs level 2, the cluster is at level 1: ${why}`;
      // Members are queried once a second; until then the last response is shown.
      if (refused?.message !== text) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        return again();
      }
    };
    return again();
  };
  const upgrade = async (name: string): Promise<RunningNode> => {
    await cluster.stop(name);
    return cluster.start(name, { ...NEXT, initial: cluster.initial('a', 'b', 'c') });
  };

  it('are the highest ones in a new cluster', async () => {
    await make(NEXT);
    await cluster.startAll('a', 'b', 'c');
    await areAt(2);
    for (const node of nodes()) await write(node, thing);
    await cluster.until(() => cluster.logCount('a', 'info the cluster is now at level 2') === 1);
  });

  it('rise only when the last member runs the new release, and nobody stops', async () => {
    await make();
    await cluster.startAll('a', 'b', 'c');
    await cluster.leader();
    const c = await upgrade('c');
    await write(c, put('k', '1'));
    await isRefused(c, 'a and b run a release without it');
    // A new leader could apply it; the others could not.
    await (await cluster.leader()).node.transfer(c.id);
    await cluster.until(() => c.status().role === 'leader');
    await isRefused(c, 'a and b run a release without it');
    await upgrade('b');
    await isRefused(c, 'a runs a release without it');
    await cluster.stop('a');
    await isRefused(c, 'a does not answer');
    expect((await c.levels()).members).to.deep.include({
      ...{ id: c.status().peers.find(({ name }) => name === 'a')!.id, name: 'a' },
      supported: undefined,
    });
    await cluster.start('a', { ...NEXT, initial: cluster.initial('a', 'b', 'c') });
    await areAt(2);
    for (const node of nodes()) await write(node, thing);
    expect(cluster.fatal).to.deep.equal([]);
  });

  it('below the third let no author, reason or precondition into the log', async () => {
    await make({ levels: { supported: 2, commands: COMMAND_LEVELS } });
    await cluster.startAll('a');
    await areAt(2);
    const { node } = await cluster.leader();
    const command = put('k', '1');
    const author = { AccessorID: '', Description: 'server' };
    for (const more of [{ match: 'any' as const }, { author }, { time: 'x' }, { reason: 'x' }]) {
      const refused = await refusalOf(node, { ...command, ...more });
      expect(refused?.code).to.equal('unavailable');
      expect(refused?.message).to.match(/^This needs level 3, the cluster is at level 2: /);
      expect(refused?.about).to.deep.equal({ kind: 'level' });
    }
    await write(node, command);
  });

  it('stop a release that does not support them: it refuses the folder', async () => {
    await make(NEXT);
    await cluster.startAll('a', 'b', 'c');
    await areAt(2);
    await cluster.stop('c');
    const old = { handlers: HANDLERS, levels: { supported: 1, commands: {} } };
    const failure = await cluster.start('c', old).catch((error: Error) => error.message);
    expect(failure).to.equal(
      'the state was written by another version: the cluster is at level 2, this release supports up to level 1. ' +
        'A level is never lowered: start a release that supports it',
    );
    await cluster.start('c');
    await write((await cluster.leader()).node, thing);
  });

  it('stop a release that does not support them and gets its state from a member', async () => {
    const limits = { cutEntries: 20, keepEntries: 5, keepBytes: 0 };
    await make({ ...NEXT, limits });
    await cluster.startAll('a', 'b', 'c');
    await areAt(2);
    const { node } = await cluster.leader();
    const name = node.name === 'c' ? 'b' : 'c';
    await cluster.stop(name);
    for (let i = 0; i < 60; i++) await write(node, put('k', String(i)));
    await rm(join(cluster.folder(name), 'state'), { recursive: true });
    const old = { handlers: HANDLERS, levels: { supported: 1, commands: {} } };
    await cluster.start(name, old);
    await cluster.until(() => cluster.fatal.length > 0, FAR);
    expect(cluster.fatal[0]!.message).to.include('another version: the cluster is at level 2');
  });

  it('keep a server out until it runs the release of the members', async () => {
    await make(NEXT);
    await cluster.startAll('a', 'b', 'c');
    await areAt(2);
    const join = [cluster.address('a'), cluster.address('b')];
    const d = await cluster.start('d', { join, levels: { supported: 1, commands: {} } });
    const why = 'The cluster is at level 2, and d runs a release that supports up to level 1';
    await cluster.until(() => cluster.lines.some((line) => line.includes(why)), FAR);
    await cluster.stop('d');
    await cluster.start('d', { join });
    await cluster.waits('d', 'a');
    await cluster.nodes.get('a')!.admit(d.id);
    await cluster.until(
      () =>
        nodes()[0]!
          .status()
          .peers.some(({ id }) => id === d.id),
      FAR,
    );
    await areAt(2);
  });

  it('do not rise while a joining server does not support them', async () => {
    await make();
    await cluster.startAll('a', 'b', 'c');
    await cluster.leader();
    await cluster.join('d', 'a');
    await cluster.until(() => nodes().every((node) => node.status().peers.length === 4), FAR);
    for (const name of ['a', 'b', 'c']) await upgrade(name);
    await isRefused(cluster.nodes.get('a')!, 'd runs a release without it');
    await upgrade('d');
    await areAt(2);
    expect(cluster.fatal).to.deep.equal([]);
  });
});
