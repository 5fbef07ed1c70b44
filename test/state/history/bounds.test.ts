import { expect } from 'chai';
import { NotKnown, objectAt } from '../../../src/state/history/past.js';
import { RINGS, VERSION } from '../../../src/state/history/records.js';
import { floorsOf, HISTORY_DEFAULTS } from '../../../src/state/history/settings.js';
import { trimDue } from '../../../src/state/history/trim.js';
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

  it('keep the newest versions of an object', () => {
    const recorded = new Recorded();
    recorded.must(configure({ VersionsPerObject: 3 }));
    recorded.must(policy(1, '', true));
    for (let n = 0; n < 10; n++) recorded.must(policy(1, `# ${n}`));
    expect(countOf(recorded, VERSION)).to.equal(3);
    // What was dropped last was in force until the version after it.
    expect(floorsOf(recorded.store)?.Index).to.equal(recorded.index - 3);
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

  it('keep nothing with 0 bytes, and begin again later', () => {
    const recorded = new Recorded();
    recorded.must(policy(1, '', true));
    for (let n = 0; n < 5; n++) recorded.must(policy(1, `# ${n}`));
    recorded.must(configure({ Bytes: 0, LoginBytes: 0 }));
    const trim = { type: 'history.trim', nowMs: 0 };
    for (let left = 20; left > 0 && trimDue(recorded.store, 0); left--) recorded.must(trim);
    recorded.must(policy(1, '# more'));
    for (const table of [...RINGS, VERSION]) expect(countOf(recorded, table), table).to.equal(0);
    expect(floorsOf(recorded.store)).to.include({ Bytes: 0, Index: recorded.index - 1 });
    recorded.must(configure({}));
    recorded.must(policy(1, '# kept'));
    expect(countOf(recorded, VERSION)).to.equal(2);
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

  it('that fall to no versions are reached where an object changes meanwhile', () => {
    const recorded = new Recorded();
    recorded.must(policy(1, '', true));
    for (let n = 0; n < 300; n++) recorded.must(policy(1, `# ${n}`));
    recorded.must(configure({ VersionsPerObject: 0 }));
    recorded.must(policy(1, '# meanwhile'));
    while (trimDue(recorded.store, 0)) recorded.must({ type: 'history.trim', nowMs: 0 });
    expect(countOf(recorded, VERSION)).to.equal(0);
  });

  it('drop what is older than MaxAge, by the time of the entry', () => {
    const recorded = new Recorded();
    recorded.must(configure({ MaxAge: '1h' }));
    recorded.must(policy(1, '', true));
    for (let n = 0; n < 5; n++) recorded.must(policy(1, `# ${n}`));
    const nowMs = Date.parse('2030-01-01T01:00:00.000Z') + (recorded.index - 2) * 1000;
    expect(trimDue(recorded.store, nowMs - 3_600_000)).to.equal(false);
    expect(trimDue(recorded.store, nowMs)).to.equal(true);
    recorded.must({ type: 'history.trim', nowMs });
    expect(trimDue(recorded.store, nowMs)).to.equal(false);
    expect(countOf(recorded, VERSION)).to.be.lessThan(6).and.greaterThan(1);
  });

  it('that fall are reached by entries of their own', () => {
    const recorded = new Recorded();
    for (let n = 0; n < 40; n++) recorded.must(policy(n, '', true));
    for (let round = 0; round < 10; round++)
      for (let n = 0; n < 40; n++) recorded.must(policy(n, `# ${round}`));
    recorded.must(configure({ VersionsPerObject: 2 }));
    expect(countOf(recorded, VERSION)).to.equal(440);
    let entries = 0;
    for (; trimDue(recorded.store, 0); entries++) recorded.must({ type: 'history.trim', nowMs: 0 });
    expect(entries).to.equal(2);
    expect(countOf(recorded, VERSION)).to.equal(80);
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
