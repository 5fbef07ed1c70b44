import { expect } from 'chai';
import { HANDLERS } from '../../../src/state/handlers.js';
import { NotKnown, objectAt } from '../../../src/state/history/past.js';
import { RINGS, VERSION } from '../../../src/state/history/records.js';
import { floorsOf, HISTORY_DEFAULTS } from '../../../src/state/history/settings.js';
import { trimDue } from '../../../src/state/history/trim.js';
import { deedOfVersion, versionsOf } from '../../../src/state/history/versions.js';
import { Machine } from '../../../src/state/machine.js';
import { encodeProposal } from '../../../src/state/proposal.js';
import { MapStore } from '../store.js';
import { Recorded } from './random-history.js';

const id = (n: number): string => `00000001-aaaa-4aaa-8aaa-${String(n).padStart(12, '0')}`;
const policy = (n: number, Rules: string, create = false) => ({
  type: 'policy.set',
  ns: 'default',
  id: id(n),
  create,
  hash: 'h',
  policy: { Name: `policy-${n}`, Description: '', Rules },
});
const configure = (bounds: object) => ({
  type: 'history.configure',
  bounds: { ...HISTORY_DEFAULTS, ...bounds },
});

describe('the bounds of the history', () => {
  const countOf = ({ store }: Recorded, table: string): number =>
    [...store.keys(`${table}\0`)].length;

  const versionsIn = ({ store }: Recorded, n: number): number =>
    [...versionsOf(store, { type: 'policy', ns: 'default', id: id(n) })].length;
  const trim = (recorded: Recorded): number => {
    let entries = 0;
    for (; trimDue(recorded.store, 0); entries++) recorded.must({ type: 'history.trim', nowMs: 0 });
    return entries;
  };

  it('drop the oldest versions of an object, once many are beyond their number', () => {
    const recorded = new Recorded();
    recorded.must(configure({ Bytes: 2 ** 20, VersionsPerObject: 3 }));
    trim(recorded);
    recorded.must(policy(1, '', true));
    recorded.must(policy(2, '', true));
    recorded.must(policy(2, '# two'));
    const Rules = `# ${'x'.repeat(2000)}`;
    for (let n = 0; n < 25; n++) recorded.must(policy(1, `${Rules}${n}`));
    expect([trim(recorded), versionsIn(recorded, 1)]).to.deep.equal([0, 26]);
    for (let n = 0; n < 10; n++) recorded.must(policy(1, `${Rules} again ${n}`));
    const { Bytes } = floorsOf(recorded.store)!;
    const last = recorded.index;
    expect(trim(recorded)).to.equal(1);
    expect([versionsIn(recorded, 1), versionsIn(recorded, 2)]).to.deep.equal([3, 2]);
    // What was dropped last was in force until the version after it.
    expect(floorsOf(recorded.store)?.Index).to.equal(last - 3);
    expect(floorsOf(recorded.store)?.Bytes).to.be.lessThan(Bytes - 32 * 2000);
    recorded.must(policy(1, '# more'));
    expect(versionsIn(recorded, 1)).to.equal(4);
  });

  it('drop the oldest lines with their versions beyond the bytes, a part per entry', () => {
    const recorded = new Recorded();
    recorded.must(configure({ Bytes: 2 ** 20 }));
    for (let n = 0; n < 300; n++) recorded.must(policy(n, '', true));
    const Rules = `# ${'x'.repeat(8000)}`;
    for (let n = 0; n < 300; n++) recorded.must(policy(n, `${Rules}${n}`));
    for (let n = 0; n < 300; n++) recorded.must(policy(n, `${Rules}again ${n}`));
    const { Bytes, Index } = floorsOf(recorded.store)!;
    expect(Bytes).to.be.at.most(2 ** 20 + 10_000);
    expect(Bytes).to.be.greaterThan(2 ** 19);
    expect(Index).to.be.greaterThan(300);
  });

  for (const [what, bounds] of [
    ['lines', { Bytes: 2 ** 20 }],
    ['versions', { VersionsPerObject: 1 }],
  ] as const)
    it(`that drop ${what} leave the same to members that have started again since`, () => {
      const recorded = new Recorded();
      recorded.must(policy(1, '', true));
      for (let n = 0; n < 5; n++) recorded.must(policy(1, `# ${n}`));
      recorded.must(configure(bounds));
      const Rules = `# ${'x'.repeat(8000)}`;
      for (let n = 2; n < 150; n++) recorded.must(policy(n, `${Rules}${n}`, true));
      for (let n = 2; n < 150; n++) recorded.must(policy(n, Rules));
      trim(recorded);
      const started = new MapStore(recorded.store.map);
      recorded.must(policy(1, '# later'));
      const { index, commands } = recorded;
      const data = encodeProposal({ id: `r${index}`, since: 0, command: commands.at(-1)! });
      new Machine(started, HANDLERS).apply([{ kind: 'command', index, term: 1, data }]);
      expect(recorded.store.map).to.deep.equal(started.map);
    });

  it('keep nothing with 0 bytes, and begin again later', () => {
    const recorded = new Recorded();
    recorded.must(policy(1, '', true));
    for (let n = 0; n < 5; n++) recorded.must(policy(1, `# ${n}`));
    recorded.must(configure({ Bytes: 0, LoginBytes: 0 }));
    trim(recorded);
    recorded.must(policy(1, '# more'));
    for (const table of [...RINGS, VERSION]) expect(countOf(recorded, table), table).to.equal(0);
    expect(floorsOf(recorded.store)).to.include({ Bytes: 0, Index: recorded.index - 1 });
    recorded.must(configure({}));
    recorded.must(policy(1, '# kept'));
    expect(versionsIn(recorded, 1)).to.equal(2);
  });

  it('leave known what is above the floor, where older versions are still there', () => {
    const recorded = new Recorded();
    recorded.must(policy(1, '', true));
    recorded.must(policy(1, '# more'));
    recorded.must(configure({ VersionsPerObject: 0 }));
    recorded.must({ type: 'policy.delete', ns: 'default', id: id(1) });
    const place = { type: 'policy', ns: 'default', id: id(1) } as const;
    const gone = recorded.index;
    expect(floorsOf(recorded.store)?.Index).to.equal(gone - 1);
    expect(objectAt(recorded.store, place, gone).text).to.equal(undefined);
    recorded.must(policy(1, '# again', true));
    recorded.must(configure({}));
    expect(objectAt(recorded.store, place, gone).text).to.equal(undefined);
    recorded.must(policy(1, '# last'));
    expect(objectAt(recorded.store, place, gone).text).to.equal(undefined);
    expect(objectAt(recorded.store, place, gone + 1).text).to.include('# again');
    expect(() => objectAt(recorded.store, place, gone - 1)).to.throw(NotKnown);
  });

  for (const bounds of [{ VersionsPerObject: 0 }, { Bytes: 0, LoginBytes: 0 }])
    it(`say nothing wrong of an object that is made again while ${JSON.stringify(bounds)}`, () => {
      const recorded = new Recorded();
      recorded.must(policy(1, '# first', true));
      const made = recorded.index;
      recorded.must({ type: 'policy.delete', ns: 'default', id: id(1) });
      for (let n = 2; n < 300; n++) recorded.must(policy(n, '', true));
      recorded.must(configure(bounds));
      recorded.must(policy(1, '# again', true));
      const place = { type: 'policy', ns: 'default', id: id(1) } as const;
      const isKnown = made > floorsOf(recorded.store)!.Index;
      if (isKnown) expect(objectAt(recorded.store, place, made).text).to.include('# first');
      else expect(() => objectAt(recorded.store, place, made)).to.throw(NotKnown);
      expect(isKnown).to.equal('VersionsPerObject' in bounds);
    });

  it('that fall to no versions are reached where an object changes meanwhile', () => {
    const recorded = new Recorded();
    recorded.must(policy(1, '', true));
    for (let n = 0; n < 300; n++) recorded.must(policy(1, `# ${n}`));
    recorded.must(configure({ VersionsPerObject: 0 }));
    recorded.must(policy(1, '# meanwhile'));
    trim(recorded);
    expect(versionsIn(recorded, 1)).to.equal(1);
    const texts = [...recorded.store.keys('change\0')].map((key) => recorded.store.get(key));
    expect(texts.filter((text) => text!.includes('Rules'))).to.deep.equal([]);
  });

  it('drop what is older than MaxAge, by the time of the entry', () => {
    const recorded = new Recorded();
    recorded.must(configure({ MaxAge: '1h' }));
    recorded.must(policy(1, '', true));
    recorded.must(policy(2, '', true));
    const made = recorded.index;
    for (let n = 0; n < 5; n++) recorded.must(policy(1, `# ${n}`));
    const nowMs = Date.parse('2030-01-01T01:00:00.000Z') + (recorded.index - 2) * 1000;
    expect(trimDue(recorded.store, nowMs - 3_600_000)).to.equal(false);
    expect(trimDue(recorded.store, nowMs)).to.equal(true);
    recorded.must({ type: 'history.trim', nowMs });
    expect(trimDue(recorded.store, nowMs)).to.equal(false);
    expect(versionsIn(recorded, 1)).to.be.lessThan(6).and.greaterThan(1);
    // a version that is in force is kept with what made it, however old
    const place = { type: 'policy', ns: 'default', id: id(2) } as const;
    const [version] = versionsOf(recorded.store, place);
    expect(version).to.include({ index: made, line: undefined });
    expect(deedOfVersion(recorded.store, place, version!)).to.include({ operation: 'create' });
    recorded.must(policy(2, '# more'));
    expect(versionsIn(recorded, 2)).to.equal(2);
    recorded.must({ type: 'policy.delete', ns: 'default', id: id(2) });
    expect(countOf(recorded, VERSION)).to.equal(2);
    recorded.must({ type: 'history.trim', nowMs: nowMs + 7_200_000 });
    expect(countOf(recorded, VERSION)).to.equal(1);
  });

  it('that fall are reached by entries of their own', () => {
    const recorded = new Recorded();
    for (let n = 0; n < 40; n++) recorded.must(policy(n, '', true));
    for (let round = 0; round < 10; round++)
      for (let n = 0; n < 40; n++) recorded.must(policy(n, `# ${round}`));
    recorded.must(configure({ VersionsPerObject: 2 }));
    const all = (): number =>
      Array.from({ length: 40 }, (_, n) => versionsIn(recorded, n)).reduce((a, b) => a + b);
    expect(all()).to.equal(440);
    expect(trim(recorded)).to.equal(3);
    expect(all()).to.equal(80);
  });

  it('hold a year of ordinary work in 45 MiB, and days of logins', () => {
    const recorded = new Recorded();
    const author = { AccessorID: id(7), Description: 'ci pipeline' };
    const text = 'x'.repeat(2048);
    recorded.must({ ...policy(1, text, true), author });
    const before = floorsOf(recorded.store)!;
    for (let n = 0; n < 128; n++) recorded.must({ ...policy(1, `${text}${n % 10}`), author });
    const after = floorsOf(recorded.store)!;
    const perChange = (after.Bytes - before.Bytes) / 128;
    expect(perChange * 50 * 365).to.be.lessThan(45 * 2 ** 20);
    const method = { Name: 'jwt1', Type: 'jwt', Config: {} };
    recorded.must({ type: 'method.set', ns: 'default', method, author });
    const modifyIndex = recorded.index;
    const Identity = { AuthMethod: 'jwt1', Namespace: 'default', Subject: 'user-1' };
    const login = (n: number) => ({
      type: 'token.login',
      ns: 'default',
      accessor: id(100 + n),
      secret: id(5000 + n),
      createTime: '2030-01-01T00:00:00Z',
      author: { AccessorID: '', Description: '', Identity },
      method: { ns: 'default', name: 'jwt1', modifyIndex },
      identity: 'a'.repeat(64),
      expirationTime: '2030-01-02T00:00:00Z',
      token: {
        Description: 'token created via login',
        Local: true,
        Policies: [],
        Roles: [],
        ServiceIdentities: [{ ServiceName: 'web' }],
      },
    });
    const start = floorsOf(recorded.store)!.LoginBytes;
    for (let n = 0; n < 128; n++) recorded.must(login(n));
    const made = floorsOf(recorded.store)!.LoginBytes;
    expect((made - start) / 128).to.be.lessThan(250);
    const server = { AccessorID: '', Description: 'server' };
    for (let n = 0; n < 128; n++) {
      const accessor = id(100 + n);
      recorded.must({
        type: 'token.delete',
        ns: 'default',
        accessor,
        callerKey: null,
        author: server,
      });
    }
    const ended = floorsOf(recorded.store)!.LoginBytes;
    expect((ended - made) / 128).to.be.lessThan(350);
    expect(HISTORY_DEFAULTS.LoginBytes / (((ended - start) / 128) * 20_000)).to.be.greaterThan(5);
  });

  it('cost a create at most 400 bytes', () => {
    const recorded = new Recorded();
    const author = { AccessorID: id(7), Description: 'ci' };
    const size = (): number =>
      [...recorded.store.map].reduce(
        (sum, [key, text]) =>
          /^(version|change)\0/.test(key) ? sum + key.length + text.length : sum,
        0,
      );
    const before = size();
    for (let n = 0; n < 128; n++) recorded.must({ ...policy(n, '', true), author });
    expect((size() - before) / 128).to.be.lessThan(400);
  });
});
