import { expect } from 'chai';
import { SnapshotCheck } from '../../../src/service/archives/snapshot-check.js';
import { Checksums, tableOf } from '../../../src/state/checksum.js';
import { HANDLERS } from '../../../src/state/handlers.js';
import { linesAfter } from '../../../src/state/history/lines.js';
import { NotKnown, objectAt } from '../../../src/state/history/past.js';
import { countedBytes, lineOf, RINGS, VERSION } from '../../../src/state/history/records.js';
import { floorsOf } from '../../../src/state/history/settings.js';
import { versionsOf } from '../../../src/state/history/versions.js';
import { Machine } from '../../../src/state/machine.js';
import { encodeProposal } from '../../../src/state/proposal.js';
import { isArchived, isTaken, proposedRecord } from '../../../src/state/restore.js';
import type { Command, StateRecord } from '../../../src/state/types.js';
import { undoPlan } from '../../../src/state/undo.js';
import { restorePart } from '../../support/random-commands.js';
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
const place = { type: 'policy', ns: 'default', id: id(1) } as const;
const HISTORY = [VERSION, ...RINGS] as readonly string[];

/** A cluster that made a policy and changed it some times. */
function changed(times: number): Recorded {
  const recorded = new Recorded();
  recorded.must(policy(1, '', true));
  for (let n = 1; n <= times; n++) recorded.must(policy(1, `# ${n}`));
  return recorded;
}

/** Restores what an archive of a state has, as the node that takes it does. */
function restored(into: Recorded, from: Recorded): void {
  const { index } = into;
  const records = [...from.store.map]
    .filter(([key]) => isTaken(key) && isArchived(key))
    .map((record) => proposedRecord(record, index))
    .filter((record) => record !== undefined);
  into.must(restorePart({ id: 'r', part: 0, records }));
  into.restore({ type: 'restore.commit', id: 'r', parts: 1, records: records.length });
}

const problemOf = (records: readonly StateRecord[]): string => {
  try {
    const check = new SnapshotCheck();
    for (const record of records) check.add(record);
    for (const _ of check.end()) {
    }
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('archives', () => {
  it('hold the history, and a restore marks itself in it', () => {
    const from = changed(5);
    const into = changed(20);
    restored(into, from);
    const { store, machine, index } = into;
    const lines = [...store.keys('change\0')].map((key) => store.get(key)!);
    expect(lines.at(-1)).to.include('"restore"');
    const undone = undoPlan(store, { undone: index, caller: '' });
    expect(undone.problem?.message).to.equal(
      `Entry ${index} cannot be undone: it restored an archive`,
    );
    expect([...versionsOf(store, place)]).to.have.length(6);
    let [bytes, logins] = [0, 0];
    for (const [key, text] of store.map) {
      bytes += countedBytes(key, text);
      if (tableOf(key) === 'login-change') logins += countedBytes(key, text);
    }
    const floors = { Index: index, Logins: index, Bytes: bytes, LoginBytes: logins };
    expect(floorsOf(store)).to.deep.equal(floors);
    expect(machine.checksum().sums).to.deep.equal(Checksums.of(store).toJSON());
    expect(() => objectAt(store, place, index - 1)).to.throw(NotKnown);
    into.must(policy(1, '# later'));
    expect(objectAt(store, place, index).text).to.include('# 5');
  });

  it('are followed by the same lines on a member that has started again since the restore', () => {
    const recorded = changed(3);
    // the archive ends with the chunk to which this member would add its next line
    restored(recorded, recorded);
    const started = new MapStore(recorded.store.map);
    const command = { v: 1, ...policy(1, '# later') } as Command;
    recorded.apply(command);
    const index = recorded.index;
    const data = encodeProposal({ id: `r${index}`, since: 0, command: recorded.commands.at(-1)! });
    new Machine(started, HANDLERS).apply([{ kind: 'command', index, term: 1, data }]);
    expect(recorded.store.map).to.deep.equal(started.map);
    expect([...linesAfter(started, 'change', 0)].at(-1)).to.include({ index });
  });

  it('lose in a shorter log the history of indexes that it has not reached', () => {
    const from = changed(20);
    const into = changed(1);
    const reached = into.index;
    restored(into, from);
    expect([...versionsOf(into.store, place)]).to.have.length(reached - 2);
    expect([...linesAfter(into.store, 'change', 0)]).to.have.length(reached - 1);
    for (const key of into.store.keys('change\0'))
      for (const line of into.store.get(key)!.split('\n').slice(1, -1))
        expect(lineOf(line).index).to.be.at.most(into.index);
    // The object is there as it was saved.
    expect(objectAt(into.store, place, into.index).text).to.include('# 20');
    into.must(policy(1, '# later'));
    expect(objectAt(into.store, place, into.index - 1).text).to.include('# 20');
  });

  it('without a history are restored as ones whose history is empty', () => {
    const from = changed(5);
    for (const key of [...from.store.map.keys()])
      if (HISTORY.includes(tableOf(key)) || key.includes('history')) from.store.map.delete(key);
    const into = changed(10);
    restored(into, from);
    expect([...versionsOf(into.store, place)]).to.have.length(1);
    expect(floorsOf(into.store)?.Index).to.equal(into.index);
    into.must(policy(1, '# later'));
    expect([...versionsOf(into.store, place)]).to.have.length(2);
  });

  it('with a record that is there twice are refused', () => {
    const { store } = changed(1);
    const records = [...store.map].filter(([key]) => isTaken(key));
    for (const record of records)
      expect(problemOf([...records, record])).to.include(
        `table "${tableOf(record[0])}": a record appears twice`,
      );
  });

  it('with records that are none of the history are refused', () => {
    const { store } = changed(3);
    const records = [...store.map].filter(([key]) => isTaken(key));
    expect(problemOf(records)).to.equal('');
    for (const [key, text] of records.filter(([one]) => HISTORY.includes(tableOf(one)))) {
      for (const other of ['', '[]', '5\n[1]\n', text.slice(0, 12), `${text}\n{`]) {
        const broken = records.map((record) =>
          record[0] === key ? ([key, other] as const) : record,
        );
        expect(problemOf(broken), `${key} ${other}`).to.match(/table "(version|change)"/);
      }
    }
    const trace = '0 3\n["create",1,null,""]';
    const broken = ['0 0\n', '3 0\n[]', '0 3\n', '0 -3\n["create",1,null,""]'];
    const at = (key: string, text: string) =>
      problemOf([...records.filter(([own]) => own !== key), [key, text]]);
    expect(at('version\0policy\0default\0x', trace)).to.equal('');
    expect(at('version\0thing\0default\0x', trace)).to.include('version');
    for (const text of broken)
      expect(at('version\0policy\0default\0x', text), text).to.include('version');
    const bounds = ['fact\0history', '{"VersionsPerObject":-1}'] as const;
    expect(problemOf([...records, bounds])).to.include('history configuration');
  });
});
