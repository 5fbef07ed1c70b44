import { expect } from 'chai';
import { mend } from '../../src/migrate/rights/mend.js';
import type { ConvertOptions, SourceState } from '../../src/migrate/source/types.js';
import type { Command } from '../../src/state/types.js';
import { SoloClient } from '../service/client.js';
import { converted, read } from './reading.js';
import { recordedSource, StandIn } from './stand-in.js';

/** The part of a plan that matters here. */
interface Plan {
  readonly Problems: readonly unknown[];
  readonly Summary: Readonly<Record<string, number>>;
}

const raise = { type: 'system.level', v: 1, level: 3 } as Command;

describe('a converted source at a node', () => {
  let client: SoloClient;
  let source: StandIn;
  beforeEach(async () => {
    client = await SoloClient.open();
    client.solo.must(raise);
  });
  afterEach(async () => {
    source.close();
    await client.close();
  });

  /** Plans what is written. */
  const planned = async (state: SourceState, more: Partial<ConvertOptions> = {}): Promise<Plan> => {
    const Objects = converted(state, more).parts.flatMap(({ items }) => items);
    const set = { Owner: 'migrate/dc1', Prune: true, TakeOver: true, Objects };
    return (await client.must('POST /plan', set)) as Plan;
  };

  it('is a valid set', async () => {
    source = await StandIn.start(recordedSource('community'));
    const { Problems, Summary } = await planned(await read(source));
    expect(Problems).to.deep.equal([]);
    expect(Summary).to.include({ Create: 33, Update: 1 });
  });

  it('is a valid set with all policies, whose texts are mended', async () => {
    source = await StandIn.start(recordedSource('community'));
    const state = await read(source);
    const mendRules = (rules: string, ns: string) => mend(rules, 'community', ns);
    const { Problems, Summary } = await planned(state, { mend: true, mendRules });
    expect(Problems).to.deep.equal([]);
    // Four policies and a binding rule are refused as they are.
    expect(Summary).to.include({ Create: 38, Update: 1 });
    const { findings } = converted(state, { mend: true, mendRules });
    const mended = findings.filter(({ Code, Pointer }) => Code === 'rules' && Pointer === '/Rules');
    expect(mended.map(({ Ref }) => Ref)).to.deep.equal([
      'policy/default/argument',
      'policy/default/identity',
      'policy/default/shouting',
      'policy/default/typo',
    ]);
    expect(mended.every(({ LeftOut, Mended }) => !LeftOut && Mended !== undefined)).to.equal(true);
  });

  it('is a valid set with the namespaces of an enterprise source', async () => {
    source = await StandIn.start(recordedSource('enterprise'));
    const { Problems, Summary } = await planned(await read(source));
    expect(Problems).to.deep.equal([]);
    expect(Summary).to.include({ Create: 6 });
  });
});
