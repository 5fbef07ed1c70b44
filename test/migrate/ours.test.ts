import { expect } from 'chai';
import { readSource } from '../../src/migrate/source/read.js';
import type { Converted, Shown } from '../../src/migrate/source/types.js';
import type { Command } from '../../src/state/types.js';
import { SoloClient } from '../service/client.js';
import { connectionTo, converted, stateOf, TestClock } from './reading.js';
import { SELF } from './running.js';
import { recordedSource } from './stand-in.js';

const raise = { type: 'system.level', v: 1, level: 3 } as Command;

/**
 * Returns the objects that are written, without members that say nothing, and without the name of
 * the mesh entry, which only our own server shows.
 */
const objectsOf = ({ parts }: Converted): readonly Shown[] =>
  parts
    .flatMap(({ items }) => items)
    .filter(({ Type }) => Type !== 'namespace')
    .map(({ Object: object }) =>
      Object.fromEntries(
        Object.entries(object).filter(
          ([key, value]) =>
            value !== '' &&
            !(Array.isArray(value) && value.length === 0) &&
            !(key === 'Name' && value === 'mesh'),
        ),
      ),
    );

describe('a cluster of ours as a source', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open(SELF);
    client.solo.must(raise);
  });
  afterEach(() => client.close());

  it('shows what was moved into it, and needs the same writes', async () => {
    const wanted = converted(stateOf(recordedSource('community')));
    const Objects = wanted.parts.flatMap(({ items }) => items);
    await client.must('POST /apply', { Owner: 'migrate/dc1', TakeOver: true, Objects });
    const state = await readSource(connectionTo(client.url, client.token), {
      clock: new TestClock(),
      rate: 1000,
      namespaces: 'all',
    });
    expect(state.info.hasNamespaces).to.equal(true);
    const again = converted(state, { withSecrets: false });
    expect(again.findings.filter(({ LeftOut }) => LeftOut)).to.deep.equal([]);
    expect(objectsOf(again)).to.have.deep.members(objectsOf(wanted));
  });
});
