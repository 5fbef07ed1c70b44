/** What readers of events share, seen by the parts that are written to their connections. */
import { expect } from 'chai';
import { restMs } from '../../src/service/events/hub.js';
import { openEvents } from '../../src/service/events/open.js';
import { PIECE_BYTES } from '../../src/service/events/pieces.js';
import type { EventSink, EventStream } from '../../src/service/events/stream.js';
import { topicsIn } from '../../src/service/events/topics.js';
import type { Command } from '../../src/state/types.js';
import { SoloClient } from './client.js';
import { callerOf, MANAGEMENT_SECRET, Solo } from './solo.js';

const LEVEL = { type: 'system.level', v: 1, level: 3 } as Command;
const NOW = { mode: 'stale', index: 0, waitMs: 0, timeoutMs: 1000 } as const;

/** A connection that takes as much as it is told. */
class Connection implements EventSink {
  readonly parts: Uint8Array[] = [];
  stream: EventStream | undefined;
  /** Whether it takes more after a part. */
  takes = true;
  isCut = false;
  isEnded = false;
  /** Called with each part. */
  onPart = (): void => {};
  #wake = (): void => {};

  write(part: string | Uint8Array): boolean {
    this.parts.push(typeof part === 'string' ? Buffer.from(part) : part);
    this.onPart();
    this.#wake();
    return this.takes;
  }

  end(): void {
    this.isEnded = true;
  }

  cut(): void {
    this.isCut = true;
  }

  get text(): string {
    return Buffer.concat(this.parts).toString();
  }

  /** The names of the objects in whole frames, by their index. */
  get names(): string[] {
    const frames = this.text.split('\n\n').slice(0, -1);
    return frames.flatMap((frame) => {
      const { Events } = JSON.parse(/^data: (.*)$/m.exec(frame)![1]!);
      return (Events ?? []).map(({ Name }: { Name: string }) => Name);
    });
  }

  /** Resolves once it has got an object; without one, once it has got anything. */
  async until(name?: string): Promise<void> {
    while (name === undefined ? this.parts.length === 0 : !this.names.includes(name)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  goOn(): void {
    this.takes = true;
    this.stream!.drained();
  }
}

describe('readers of events that ask for the same', function () {
  this.timeout(60_000);
  let solo: Solo;
  let client: SoloClient;
  /** A token that reads ACLs by a policy of its own. */
  let token: { readonly SecretID: string; readonly policy: string };
  let made: number;
  beforeEach(async () => {
    made = 0;
    solo = new Solo();
    client = await SoloClient.open([], solo);
    solo.must(LEVEL);
    const { ID } = await client.must('PUT /acl/policy', { Name: 'reader', Rules: 'acl = "read"' });
    const { SecretID } = await client.must('PUT /acl/token', { Policies: [{ ID }] });
    token = { SecretID, policy: ID };
  });
  afterEach(async () => {
    solo.events.stop();
    await client.close();
  });

  /** Applies an entry that writes a policy, at once. */
  function policy(Name: string, Rules = '', id?: string): void {
    made += 1;
    const own = `00000000-0000-4000-8000-${String(made).padStart(12, '0')}`;
    const command = { type: 'policy.set', v: 1, ns: 'default', id: id ?? own, hash: 'h' };
    const create = id === undefined;
    solo.must({ ...command, create, policy: { Name, Description: '', Rules } } as Command);
  }
  const long = (name: string): void => policy(name, `# ${'x'.repeat(30_000)}`);
  const takeRight = (): void => policy('reader', '', token.policy);

  async function open(
    secret = MANAGEMENT_SECRET,
    topics = 'ACLPolicy',
    after = solo.machine.appliedIndex(),
  ): Promise<Connection> {
    const connection = new Connection();
    const opened = await openEvents(solo.service, solo.events, {
      caller: callerOf(secret),
      options: NOW,
      filter: topicsIn(topics),
      ns: 'default',
      hasPayload: true,
      logins: false,
      after,
    });
    connection.stream = opened.begin(connection);
    return connection;
  }

  it('are written the same bytes, also who joins later', async () => {
    const [a, b] = [await open(), await open()];
    const all = [a, b];
    // entries of one turn, once all readers have had theirs
    const send = async (...names: string[]): Promise<void> => {
      for (const each of [names.slice(0, 1), names.slice(1)]) {
        for (const name of each) policy(name);
        await Promise.all(all.map((reader) => reader.until(each.at(-1)!)));
      }
    };
    await send('zero', 'one', 'two');
    const late = await open();
    all.push(late);
    await send('three', 'four');
    expect(a.names).to.deep.equal(['zero', 'one', 'two', 'three', 'four']);
    expect(late.names).to.deep.equal(['three', 'four']);
    const placesOf = ({ parts }: Connection) =>
      parts.map(({ buffer, byteOffset, length }) => ({ buffer, byteOffset, length }));
    const [first, ...others] = all.map((each) => placesOf(each).at(-1)!);
    expect(placesOf(a)[1]).to.deep.equal(placesOf(b)[1]);
    for (const { buffer, ...place } of others) {
      expect(buffer === first!.buffer).to.equal(true);
      expect(place.byteOffset).to.equal(first!.byteOffset);
    }
  });

  it('share nothing with who asks for something else, or in another form', async () => {
    const readers = [await open(), await open(MANAGEMENT_SECRET, 'ACLRole,ACLPolicy:two')];
    for (const name of ['one', 'two']) policy(name);
    await Promise.all(readers.map((each) => each.until('two')));
    expect(readers.map(({ names }) => names)).to.deep.equal([['one', 'two'], ['two']]);
  });

  it('see what their own tokens may see', async () => {
    const nobody = await client.must('PUT /acl/token', { Description: 'nobody' });
    const after = solo.machine.appliedIndex();
    const connections = [MANAGEMENT_SECRET, token.SecretID, nobody.SecretID].map((secret) =>
      open(secret, 'ACLPolicy,ACLToken,Namespace', after),
    );
    const [manager, reader, blind] = (await Promise.all(connections)) as [
      Connection,
      Connection,
      Connection,
    ];
    policy('one');
    await Promise.all([manager.until('one'), reader.until('one')]);
    // the right is gone before the hub has its turn: what came before it is not seen either
    policy('two');
    takeRight();
    policy('three');
    await manager.until('three');
    expect(manager.names).to.deep.equal(['one', 'two', 'reader', 'three']);
    expect(reader.names).to.deep.equal(['one']);
    expect(blind.parts).to.deep.equal([]);
  });

  it('lose a right between two of them that stand at the same place', async () => {
    const both = [await open(token.SecretID), await open(token.SecretID)];
    const manager = await open();
    for (const each of both) {
      each.onPart = () => {
        for (const other of both) other.onPart = () => {};
        takeRight();
      };
    }
    policy('one');
    policy('two');
    await manager.until('reader');
    const seen = both.map(({ names }) => names.join()).sort();
    expect(seen).to.deep.equal(['', 'one,two']);
  });

  it('go on exactly where they were blocked between pieces', async () => {
    const [quick, slow, losing] = [await open(), await open(), await open(token.SecretID)];
    for (const each of [slow, losing]) each.takes = false;
    const names = ['one', 'two', 'three', 'four', 'five'];
    for (const name of names) long(name);
    await Promise.all([quick.until('five'), slow.until('two'), losing.until('two')]);
    for (const { parts } of [quick, slow, losing])
      for (const { length } of parts) expect(length).to.be.at.most(PIECE_BYTES);
    expect(slow.names).to.deep.equal(['one', 'two']);
    takeRight();
    slow.goOn();
    losing.goOn();
    await Promise.all([slow.until('reader'), quick.until('reader')]);
    expect(slow.names).to.deep.equal([...names, 'reader']);
    expect(slow.text).to.equal(quick.text);
    expect(losing.names).to.deep.equal(['one', 'two']);
  });

  it('are not ended, but cut, in the middle of a long frame', async () => {
    const [whole, ended, resumed] = [await open(), await open(), await open()];
    for (const each of [ended, resumed]) each.takes = false;
    const Rules = `# ${'x'.repeat(60_000)}`;
    const Objects = ['one', 'two', 'three'].map((Name) => ({
      Type: 'policy',
      Object: { Name, Rules },
    }));
    await client.must('POST /apply', { Objects });
    await Promise.all([whole.until('three'), ended.until(), resumed.until()]);
    expect(whole.parts.map(({ length }) => length).slice(0, 2)).to.deep.equal([
      PIECE_BYTES,
      PIECE_BYTES,
    ]);
    expect([ended.parts.length, resumed.parts.length]).to.deep.equal([1, 1]);
    ended.stream!.end('stopping');
    expect([ended.isCut, ended.isEnded, ended.parts.length]).to.deep.equal([true, false, 1]);
    resumed.goOn();
    await resumed.until('three');
    expect(resumed.text).to.equal(whole.text);
  });

  it('are told of all entries, though more than the machine remembers come in a rest', async () => {
    const readers = [await open(), await open()];
    const names = Array.from({ length: 1500 }, (_, n) => `p${n}`);
    for (const name of names) policy(name);
    await Promise.all(readers.map((each) => each.until('p1499')));
    for (const each of readers) expect(each.names).to.deep.equal(names);
  });
});

describe('the hub of event streams', () => {
  it('rests 24 times as long as it served, up to 100 ms, and never less than 4 times', () => {
    expect([0, 1, 4, 5, 25, 30].map(restMs)).to.deep.equal([0, 24, 96, 100, 100, 120]);
  });
});
