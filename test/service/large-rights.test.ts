/** Tokens with more rules than a turn of the event loop has time for. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { ReadOptions } from '../../src/service/common/types.js';
import { Authorizers } from '../../src/service/rights/authorizers.js';
import { prepareGate } from '../../src/service/rights/gate.js';
import { keys } from '../../src/state/keys.js';
import { secretKeyOf } from '../../src/state/tokens.js';
import type { Command } from '../../src/state/types.js';
import { DEFAULTS } from '../support/defaults.js';
import { SoloClient } from './client.js';
import { CountingView } from './counting-view.js';
import { callerOf, Solo } from './solo.js';

const SECRET = '00000005-aaaa-4aaa-8aaa-000000000001';
const POLICIES = 20;
/** Turns that a compilation leaves to others, at least: one for most policies. */
const TURNS_MIN = POLICIES / 2;
const now: ReadOptions = { mode: 'stale', index: 0, waitMs: 0, timeoutMs: 1000 };

const idOf = (n: number): string => `00000001-aaaa-4aaa-8aaa-${String(n).padStart(12, '0')}`;
/** The longest rules that a policy may have. */
function rules(n: number): string {
  let text = '';
  for (let i = 0; text.length < 65_000; i++) text += `key "${n}-${i}" { policy = "deny" }\n`;
  return text;
}
const policySet = (n: number, Rules = rules(n), create = true) =>
  ({
    type: 'policy.set',
    v: 1,
    ns: 'default',
    id: idOf(n),
    create,
    hash: '',
    policy: { Name: `p${n}`, Description: '', Rules },
  }) as Command;

/** A cluster with a token that links many large policies. */
function built(): Solo {
  const solo = new Solo();
  for (let n = 0; n < POLICIES; n++) solo.must(policySet(n));
  const Policies = Array.from({ length: POLICIES }, (_, n) => ({ ID: idOf(n) }));
  solo.must({
    type: 'token.create',
    v: 1,
    ns: 'default',
    accessor: '00000006-aaaa-4aaa-8aaa-000000000001',
    secret: SECRET,
    createTime: new Date(solo.nowMs).toISOString(),
    token: { Description: '', Policies, Roles: [], Local: false },
  } as Command);
  return solo;
}

/** Counts the turns of the event loop until a promise is settled. */
async function turnsOf(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  work.then(over, over);
  while (!isOver) {
    await turn();
    turns += 1;
  }
  return turns;
}

describe('the rights of a token with many large policies', () => {
  it('are compiled in many turns of the event loop, whoever needs them', async () => {
    const reading = built();
    const read = reading.service.read(callerOf(SECRET), now, ({ authorizer }) => ({
      value: authorizer.allowed('key', 'read', '0-0'),
      index: 1,
      keys: [],
    }));
    expect(await turnsOf(read)).to.be.greaterThan(TURNS_MIN);
    expect((await read).value).to.equal(false);
    const writing = built();
    const permit = writing.service.permit(
      { caller: callerOf(SECRET), timeoutMs: 1000 },
      () => undefined,
    );
    expect(await turnsOf(permit)).to.be.greaterThan(TURNS_MIN);
    const leading = built();
    const decided = new Promise<void>((resolve) => {
      prepareGate(leading.authorizers)(secretKeyOf(SECRET), resolve);
    });
    expect(await turnsOf(decided)).to.be.greaterThan(TURNS_MIN);
    let isAtOnce = false;
    prepareGate(leading.authorizers)(secretKeyOf(SECRET), () => {
      isAtOnce = true;
    });
    expect(isAtOnce).to.equal(true);
  }).timeout(60_000);

  it('are compiled once for all who wait, and found at once from then on', async () => {
    const solo = built();
    const view = new CountingView(solo.store);
    const authorizers = new Authorizers({
      view,
      datacenter: 'dc1',
      defaultPolicy: 'deny',
      nowMs: () => solo.nowMs,
      rightsBytes: DEFAULTS.limits.rightsBytes,
    });
    const key = secretKeyOf(SECRET);
    await Promise.all(Array.from({ length: 10 }, () => authorizers.prepare(key)));
    expect(authorizers.prepare(key)).to.equal(undefined);
    expect(authorizers.of(key)!.allowed('key', 'read', '1-1')).to.equal(false);
    expect(view.reads.get(keys.policy('default', idOf(0)))).to.equal(1);
  }).timeout(60_000);

  it('are those of the state at the end, whatever changes meanwhile', async () => {
    const solo = built();
    const key = secretKeyOf(SECRET);
    const preparing = solo.authorizers.prepare(key);
    await turn();
    solo.must(policySet(0, 'key "0-0" { policy = "read" }', false));
    await preparing;
    const authorizer = solo.authorizers.of(key)!;
    expect(authorizer.allowed('key', 'read', '0-0')).to.equal(true);
    expect(authorizer.allowed('key', 'read', '0-1')).to.equal(false);
    // The whole state is replaced.
    solo.authorizers.reset();
    const again = solo.authorizers.prepare(key);
    await turn();
    solo.authorizers.reset();
    solo.must(policySet(1, 'key "1-1" { policy = "read" }', false));
    await again;
    expect(solo.authorizers.of(key)!.allowed('key', 'read', '1-1')).to.equal(true);
  }).timeout(60_000);

  it('need no compilation to know the namespace of the token', () => {
    const solo = built();
    expect(solo.authorizers.namespaceOf(secretKeyOf(SECRET))).to.equal('default');
    expect(solo.authorizers.stats.rights).to.equal(0);
  });
});

describe('explanations of a token with many large policies', () => {
  let client: SoloClient;
  before(async () => {
    client = await SoloClient.open([], built());
  });
  after(() => client.close());

  const EXPLAIN = 'POST /acl/authorize/explain';
  const SELF = 'GET /acl/token/self/effective';
  const Requests = [{ Resource: 'key', Access: 'read', Segment: '3-7' }];

  it('are answered side by side, and say where the rule stands', async () => {
    const all = Array.from({ length: 8 }, () => client.must(EXPLAIN, { Requests }, SECRET));
    for (const { Results } of await Promise.all(all)) {
      expect(Results[0]).to.include({ Allow: false, Reason: 'rule' });
      expect(Results[0].Winner.Sources[0]).to.include({ Line: 8, Column: 1 });
    }
  }).timeout(60_000);

  it('share one table of merged rights, which is bounded', async () => {
    const { Rights, Truncated } = await client.must(SELF, undefined, SECRET);
    expect(Truncated).to.equal(true);
    expect(JSON.stringify(Rights).length).to.be.lessThan(2 ** 21 + 1000);
    const { store } = client.solo;
    const reads: string[] = [];
    const get = store.get.bind(store);
    store.get = (key) => {
      if (key === keys.policy('default', idOf(0))) reads.push(key);
      return get(key);
    };
    client.solo.must(policySet(1, 'key "!changed" { policy = "read" }', false));
    const texts = await Promise.all(
      Array.from({ length: 8 }, async () => (await client.ask(SELF, undefined, SECRET)).text),
    );
    expect(new Set(texts).size).to.equal(1);
    expect(texts[0]).to.include('"!changed"');
    // once for enforcement, once for the table
    expect(reads).to.have.length(2);
  }).timeout(60_000);
});
