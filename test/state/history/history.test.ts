import { expect } from 'chai';
import fc from 'fast-check';
import { decodeInSteps } from '../../../src/kinds/decode.js';
import { Checksums, tableOf } from '../../../src/state/checksum.js';
import { HANDLERS } from '../../../src/state/handlers.js';
import { hiddenText, isComputed } from '../../../src/state/history/contents.js';
import { NotKnown, objectAt, PastView } from '../../../src/state/history/past.js';
import { countedBytes, placeOf, RINGS, VERSION } from '../../../src/state/history/records.js';
import { floorsOf } from '../../../src/state/history/settings.js';
import { versionsOf } from '../../../src/state/history/versions.js';
import { keys } from '../../../src/state/keys.js';
import { Machine } from '../../../src/state/machine.js';
import { encodeProposal } from '../../../src/state/proposal.js';
import type { Command } from '../../../src/state/types.js';
import { MapStore } from '../store.js';
import { Recorded } from './random-history.js';

const seeds = fc.integer({ min: 1, max: 1_000_000 });

/** The objects of a recorded history whose past is kept otherwise or not at all. */
const isOfLogin = (text: string | undefined): boolean => text?.includes('"AuthMethod":"') === true;

describe('the history of objects', () => {
  /** Compares what is known of each object after each entry with what was there then. */
  function compare(seed: number, hasBounds: boolean): number {
    const recorded = new Recorded();
    recorded.run(seed, 150, hasBounds);
    const { store, objects } = recorded;
    const all = new Set(objects.flatMap((one) => [...one.keys()]));
    let known = 0;
    const floor = floorsOf(store)!.Index;
    for (let index = 3; index <= recorded.index; index++) {
      for (const key of all) {
        const place = placeOf(key)!;
        // Only the server writes these, and leaves no versions.
        if (place.id.startsWith('bound-api-gateway/')) continue;
        // Tokens of logins leave none either, once they end.
        if (objects.some((one) => isOfLogin(one.get(key)))) continue;
        const was = objects[index]!.get(key);
        try {
          const { text } = objectAt(store, place, index);
          const then = text === undefined ? undefined : hiddenText(place, text);
          known += 1;
          if (then !== was && !(then !== undefined && was && isComputed(place, was, then)))
            expect(then, `${key} at ${index}`).to.equal(was);
        } catch (error) {
          if (!(error instanceof NotKnown)) throw error;
          // What was in a namespace that is removed goes with it.
          const isLost = place.ns !== 'default' || (hasBounds && index <= floor);
          expect(isLost, `${key} at ${index}, above the floor ${floor}`).to.equal(true);
        }
      }
    }
    return known;
  }

  it('has each object as it was after each entry', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        expect(compare(seed, false)).to.be.greaterThan(100);
      }),
      { numRuns: 10 },
    );
  });

  it('says nothing wrong where its bounds have changed: it knows, or it does not', () => {
    fc.assert(
      fc.property(seeds, (seed) => void compare(seed, true)),
      { numRuns: 10 },
    );
  });

  for (const how of ['with a line', 'without a line'])
    it(`knows entries from before it whose Status alone has changed, ${how}`, () => {
      const store = new MapStore();
      const member = new Machine(store, HANDLERS);
      const apply = (command: object): number => {
        const index = member.appliedIndex() + 1;
        const facts = { at: '2030-01-01T00:00:00Z', datacenter: 'dc1' };
        const full = { v: 1, ...facts, ...command } as unknown as Command;
        const data = encodeProposal({ id: `r${index}`, since: 0, command: full });
        const [result] = member.apply([{ kind: 'command', index, term: 1, data }]);
        expect(result, full.type).to.include({ ok: true });
        return index;
      };
      const entry = (Kind: string, Name: string, members: object): number => {
        const steps = decodeInSteps({ Kind, Name, ...members }, { namespace: 'default' });
        let step = steps.next();
        while (!step.done) step = steps.next();
        const text = JSON.stringify((step.value as { entry: object }).entry);
        const about = { ns: 'default', kind: Kind, name: Name, cas: null };
        return apply({ type: 'config.set', ...about, entry: text });
      };
      apply({ type: 'system.init', createTime: '2030-01-01T00:00:00Z' });
      entry('api-gateway', 'gw', { Listeners: [{ Name: 'l1', Port: 1, Protocol: 'tcp' }] });
      const begun = apply({ type: 'system.level', level: 3 });
      const none = { VersionsPerObject: 0, Bytes: 0, LoginBytes: 0, MaxAge: '' };
      if (how === 'without a line') apply({ type: 'history.configure', bounds: none });
      const Parents = [{ Kind: 'api-gateway', Name: 'gw', SectionName: 'l1' }];
      const bound = entry('tcp-route', 'r', { Parents, Services: [{ Name: 'web' }] });
      // two routes of one listener are in conflict, which the Status of the gateway tells
      const second = entry('tcp-route', 'r2', { Parents, Services: [{ Name: 'web' }] });
      expect(store.get(keys.config('default', 'api-gateway', 'gw'))).to.include(
        `"ModifyIndex":${second}`,
      );
      const place = { type: 'config', ns: 'default', id: 'api-gateway/gw' } as const;
      expect(objectAt(store, place, bound).text).to.include('"Listeners"');
      if (how === 'without a line') return;
      // once it is written, its oldest version is what it was before the history
      entry('api-gateway', 'gw', { Listeners: [{ Name: 'l1', Port: 2, Protocol: 'tcp' }] });
      for (const index of [begun - 1, begun, bound, second])
        expect(objectAt(store, place, index).text, `at ${index}`).to.include('"Port":1');
      expect(() => objectAt(store, place, begun - 2)).to.throw(NotKnown);
    });

  it('is the same on a machine that starts again after the history kept nothing', () => {
    const recorded = new Recorded();
    const entry = (Kind: string, Name: string, members: object): void => {
      const steps = decodeInSteps({ Kind, Name, ...members }, { namespace: 'default' });
      let step = steps.next();
      while (!step.done) step = steps.next();
      const text = JSON.stringify((step.value as { entry: object }).entry);
      const about = { ns: 'default', kind: Kind, name: Name, cas: null };
      recorded.must({ type: 'config.set', datacenter: 'dc1', at: AT, ...about, entry: text });
    };
    const AT = '2030-01-01T00:00:00Z';
    const Parents = [{ Kind: 'api-gateway', Name: 'gw', SectionName: 'l1' }];
    const bounds = { VersionsPerObject: 16, Bytes: 1_000_000, LoginBytes: 1000, MaxAge: '' };
    recorded.must({ type: 'history.configure', bounds: { ...bounds, Bytes: 0, LoginBytes: 0 } });
    entry('api-gateway', 'gw', { Listeners: [{ Name: 'l1', Port: 1, Protocol: 'tcp' }] });
    entry('tcp-route', 'r', { Parents, Services: [{ Name: 'web' }] });
    // Two routes of one listener are in conflict: the server changes the Status of the gateway.
    entry('tcp-route', 'r2', { Parents, Services: [{ Name: 'web' }] });
    recorded.must({ type: 'history.configure', bounds });
    const started = new MapStore(recorded.store.map);
    const about = { ns: 'default', kind: 'tcp-route', name: 'r2', cas: null };
    recorded.must({ type: 'config.delete', datacenter: 'dc1', at: AT, ...about });
    const { index, commands } = recorded;
    const data = encodeProposal({ id: `r${index}`, since: 0, command: commands.at(-1)! });
    new Machine(started, HANDLERS).apply([{ kind: 'command', index, term: 1, data }]);
    expect(recorded.store.map).to.deep.equal(started.map);
  });

  it('is the same on a machine that starts again after an entry with a wrong time', () => {
    const recorded = new Recorded();
    const id = '00000001-aaaa-4aaa-8aaa-000000000001';
    const set = { type: 'policy.set', ns: 'default', id, hash: 'h' };
    const policy = { Name: 'p', Description: '', Rules: '' };
    recorded.must({ ...set, create: true, time: '2030-13-01T00:00:00.000Z', policy });
    const started = new MapStore(recorded.store.map);
    const again = new Machine(started, HANDLERS);
    for (let n = 0; n < 100; n++) {
      recorded.must({ ...set, policy: { ...policy, Rules: `# ${n}` } });
      const { index, commands } = recorded;
      const data = encodeProposal({ id: `r${index}`, since: 0, command: commands.at(-1)! });
      again.apply([{ kind: 'command', index, term: 1, data }]);
    }
    expect(recorded.store.map).to.deep.equal(started.map);
  });

  it('is the same on a machine that starts again before each entry', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const recorded = new Recorded();
        recorded.run(seed, 200, true);
        const store = new MapStore();
        for (const [at, command] of recorded.commands.entries()) {
          const index = at + 1;
          const data = encodeProposal({ id: `r${index}`, since: 0, command });
          new Machine(store, HANDLERS).apply([{ kind: 'command', index, term: 1, data }]);
        }
        expect(store.map).to.deep.equal(recorded.store.map);
      }),
      { numRuns: 40 },
    );
  });

  it('has the tokens of logins that have ended', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const recorded = new Recorded();
        recorded.run(seed, 150);
        const { store, objects } = recorded;
        for (let index = 3; index <= recorded.index; index += 7) {
          const past = new PastView(store, index);
          for (const _ of past.findEnded()) {
          }
          for (const [key, text] of objects[index]!) {
            if (!isOfLogin(text) || placeOf(key)!.ns !== 'default') continue;
            const was = JSON.parse(text);
            const then = JSON.parse(past.get(key) ?? 'null');
            for (const name of ['AccessorID', 'Description', 'Policies', 'Roles', 'AuthMethod'])
              expect(then?.[name], `${name} of ${key} at ${index}`).to.deep.equal(was[name]);
          }
        }
      }),
      { numRuns: 10 },
    );
  });

  it('finds each of many versions, also where the object was deleted between them', () => {
    const recorded = new Recorded();
    const entry = { ns: 'default', kind: 'service-defaults', name: 'web', cas: null };
    const facts = { at: '2030-01-01T00:00:00Z', datacenter: 'dc1' };
    const begun = recorded.index;
    for (let n = 1; n <= 120; n++) {
      const content = { Kind: 'service-defaults', Name: 'web', Meta: { n: String(n) } };
      const command =
        n % 25 === 0
          ? { type: 'config.delete' }
          : { type: 'config.set', entry: JSON.stringify(content) };
      recorded.must({ ...entry, ...facts, ...command });
    }
    const { store, index: last } = recorded;
    const place = { type: 'config', ns: 'default', id: 'service-defaults/web' } as const;
    const key = keys.config('default', 'service-defaults', 'web');
    for (let index = begun + 1; index <= last; index++) {
      expect(objectAt(store, place, index).text).to.equal(recorded.objects[index]!.get(key));
      const [version] = versionsOf(store, place, index + 1);
      expect(version).to.include({ index, text: recorded.objects[index]!.get(key) });
    }
    expect([...versionsOf(store, place)]).to.have.length(120);
  });

  it('is the same on a member that starts again all the time', () => {
    fc.assert(
      fc.property(seeds, fc.boolean(), (seed, hasBounds) => {
        const recorded = new Recorded();
        recorded.run(seed, 100, hasBounds);
        const store = new MapStore();
        for (const [at, command] of recorded.commands.entries()) {
          const index = at + 1;
          const data = encodeProposal({ id: `r${index}`, since: 0, command });
          new Machine(store, HANDLERS).apply([{ kind: 'command', index, term: 1, data }]);
        }
        expect(new Map(store.map)).to.deep.equal(new Map(recorded.store.map));
      }),
      { numRuns: 10 },
    );
  });

  it('counts the bytes that it keeps, and has them in the checksums', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const recorded = new Recorded();
        recorded.run(seed, 100);
        const { store, machine } = recorded;
        let [bytes, logins] = [0, 0];
        for (const [key, text] of store.map) {
          bytes += countedBytes(key, text);
          if (tableOf(key) === 'login-change') logins += countedBytes(key, text);
        }
        expect(floorsOf(store)).to.include({ Bytes: bytes, LoginBytes: logins });
        expect(machine.checksum().sums).to.deep.equal(Checksums.of(store).toJSON());
        const kept = [VERSION, ...RINGS].filter(
          (table) => [...store.keys(`${table}\0`)].length > 0,
        );
        for (const table of kept) expect(machine.checksum().sums, table).to.have.property(table);
      }),
      { numRuns: 10 },
    );
  });
});
