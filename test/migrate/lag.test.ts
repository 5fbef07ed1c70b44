/** What `conclave migrate --watch` says of how far it is behind, while it cannot know. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Follower, type FollowParts } from '../../src/cli/migrate/follow.js';
import { clockOf } from '../../src/cli/migrate/source-connection.js';
import { type SourceAnswer, SourceError } from '../../src/migrate/source/types.js';
import { until } from '../cluster/operator.js';

/** Follows a source of one list, which is `there` or not, and says each 50 ms how far it is. */
function following(metricsFile: string) {
  const stop = new AbortController();
  const { signal } = stop;
  const source = { isThere: false, status: 200 };
  const said: { readonly BehindMs: number }[] = [];
  const notes: string[] = [];
  const answer = (): SourceAnswer => ({
    status: source.status,
    text: source.status === 200 ? '[]' : 'Permission denied',
    header: () => '5',
  });
  const held = (): Promise<never> =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('stopped')));
    });
  const parts = {
    call: {
      io: { signal, endWithReader: () => {} },
      options: { metricsFile, poll: 10 },
      print: {
        isForPrograms: true,
        startSeries: () => {},
        value: async (one: { readonly BehindMs: number }) => void said.push(one),
        note: (text: string) => void notes.push(text),
      },
    },
    migration: {},
    source: {
      pace: { clock: clockOf(signal), rate: 1000 },
      asking: { patiently: (send: () => Promise<SourceAnswer>) => send() },
      get: async (_path: string, query: Readonly<Record<string, string>>) => {
        if (!source.isThere) throw new SourceError('the source cannot be reached');
        return query['wait'] === undefined || source.status !== 200 ? answer() : held();
      },
    },
    first: { state: { info: { Indexes: { 'acl/policies': 5 }, isOurs: false } }, problems: [] },
    exit: 0,
    everyMs: 50,
  } as unknown as FollowParts;
  const ended = new Follower(parts).run();
  const end = (): Promise<number> => {
    stop.abort();
    return ended;
  };
  return { source, said, notes, end };
}

describe('conclave migrate --watch, how far it is behind', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-lag-'));
  const isBehind = (file: string): boolean =>
    !/^conclave_migrate_behind_seconds 0$/m.test(readFileSync(file, 'utf8'));

  it('grows while the source cannot be reached, and is 0 when it is heard again', async () => {
    const file = join(folder, 'metrics');
    const { source, said, notes, end } = following(file);
    const latest = async (): Promise<number | undefined> => said.at(-1)?.BehindMs;
    await until(latest, (ms) => ms !== undefined && ms > 100);
    expect(isBehind(file)).to.equal(true);
    expect(notes).to.include('the source cannot be reached: trying again');
    source.isThere = true;
    await until(latest, (ms) => ms === 0);
    await until(
      async () => isBehind(file),
      (behind) => !behind,
    );
    expect(await end()).to.equal(0);
  });

  it('grows while the source refuses to show a list, which is said', async () => {
    const file = join(folder, 'refused');
    const { source, said, notes, end } = following(file);
    Object.assign(source, { isThere: true, status: 403 });
    const latest = async (): Promise<number | undefined> => said.at(-1)?.BehindMs;
    await until(
      async () => notes.at(-1) ?? '',
      (note) => note.endsWith('acl/policies with status 403: Permission denied: trying again'),
    );
    await until(latest, (ms) => ms !== undefined && ms > 1500);
    expect(isBehind(file)).to.equal(true);
    source.status = 200;
    await until(latest, (ms) => ms === 0);
    expect(await end()).to.equal(0);
  });

  it('is told although the metrics cannot be written, which is said once', async () => {
    const { said, notes, end } = following(join(folder, 'none', 'metrics'));
    await until(
      async () => said.length,
      (count) => count > 2,
    );
    expect(notes.filter((note) => note.includes('none'))).to.have.length(1);
    expect(await end()).to.equal(0);
  });
});
