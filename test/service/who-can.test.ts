import { expect } from 'chai';
import fc from 'fast-check';
import type { ReadOptions } from '../../src/service/common/types.js';
import { whoCan } from '../../src/service/explain/who-can.js';
import { LongWork } from '../../src/service/reads/long-work.js';
import { stored } from '../../src/state/lists.js';
import { secretKeyOf, type Token } from '../../src/state/tokens.js';
import { ALL_QUESTIONS } from '../acl/random-grants.js';
import { SoloClient } from './client.js';
import { aState, built } from './random-rights.js';
import { partsOf } from './serve.js';
import { MANAGER } from './solo.js';

const WHO = 'POST /acl/who-can';
const ANONYMOUS = '00000000-0000-0000-0000-000000000002';
const now: ReadOptions = { mode: 'stale', index: 0, waitMs: 0, timeoutMs: 1000 };
const asked = { caller: MANAGER, ns: 'default', options: now, isGone: () => false };
const question = { Resource: 'service', Access: 'write', Segment: 'web' };

interface Group {
  readonly Sample: readonly { readonly AccessorID: string }[];
  readonly Result: { readonly Allow: boolean };
}
const accessorsIn = (groups: readonly Group[]): readonly string[] =>
  groups.flatMap(({ Sample }) => Sample.map(({ AccessorID }) => AccessorID));

describe('POST /v1/acl/who-can', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
  });
  afterEach(() => client.close());

  const policy = (Name: string, Rules: string) => client.must('PUT /acl/policy', { Name, Rules });
  const token = (body: object, ns = 'default') => client.must(`PUT /acl/token?ns=${ns}`, body);

  it('shows who is allowed, by kinds of tokens that grant alike', async () => {
    const write = await policy('write', 'service_prefix "w" { policy = "write" }');
    await policy('read', 'service_prefix "" { policy = "read" }');
    const made = [];
    for (let n = 0; n < 12; n++) {
      made.push(await token({ Description: `t${n}`, Policies: [{ Name: 'write' }] }));
    }
    await token({ Policies: [{ Name: 'read' }] });
    const identity = await token({ ServiceIdentities: [{ ServiceName: 'web' }] });
    const { Groups, ...head } = await client.must(WHO, question);
    const management = 1;
    expect(head).to.deep.equal({
      Index: client.solo.machine.appliedIndex(),
      Scanned: 14 + management + 1,
      Allowed: 13 + management,
      Truncated: false,
      Filtered: false,
      MoreGroups: 0,
    });
    const [first] = Groups;
    const { Sample, Result, ...group } = first;
    expect(group).to.deep.equal({
      Tokens: 12,
      Subjects: 0,
      AuthMethod: '',
      Namespace: 'default',
      Policies: [{ ID: write.ID, Name: 'write' }],
      Roles: [],
      ServiceIdentities: [],
      NodeIdentities: [],
      TemplatedPolicies: [],
    });
    expect(Sample).to.have.length(10);
    const accessors = made.map(({ AccessorID }) => AccessorID);
    for (const { AccessorID } of Sample) expect(accessors).to.include(AccessorID);
    expect(Result).to.include({ Allow: true, Reason: 'rule', Level: 'write' });
    expect(Result.Winner.Sources[0].Path[1]).to.include({ Name: 'write' });
    const others = accessorsIn(Groups.slice(1));
    expect(others).to.include(identity.AccessorID);
  });

  it('tells the anonymous token from one with equal grants', async () => {
    await policy('op', 'operator = "write"');
    await client.must(`PUT /acl/token/${ANONYMOUS}`, { Policies: [{ Name: 'op' }] });
    const made = await token({ Policies: [{ Name: 'op' }] });
    const { Groups } = await client.must(WHO, { Resource: 'operator', Access: 'write' });
    const accessors = accessorsIn(Groups);
    expect(accessors).to.include(made.AccessorID);
    expect(accessors).not.to.include(ANONYMOUS);
  });

  it('looks only where the caller may read ACL objects', async () => {
    await client.must('PUT /namespace', { Name: 'team' });
    const foreign = await token({ ServiceIdentities: [{ ServiceName: 'web' }] }, 'team');
    const inTeam = { ...question, Namespace: 'team' };
    expect((await client.must(WHO, inTeam)).Allowed).to.equal(2);
    const reader = await client.secretWith(
      'acl = "read" namespace "team" { key "a" { policy = "read" } }',
    );
    const { Groups, Filtered, Allowed } = await client.must(WHO, inTeam, reader);
    expect([Filtered, Allowed]).to.deep.equal([true, 1]);
    expect(JSON.stringify(Groups)).not.to.include(foreign.AccessorID);
    const stranger = await client.secretWith('acl = "read"');
    expect((await client.must(WHO, inTeam, stranger)).Filtered, 'a hidden one').to.equal(false);
    const nobody = await client.secretWith('key "a" { policy = "read" }');
    expect((await client.ask(WHO, question, nobody)).status).to.equal(403);
  });

  it('leaves out tokens that have expired', async () => {
    await token({ ServiceIdentities: [{ ServiceName: 'web' }], ExpirationTTL: '1m' });
    expect((await client.must(WHO, question)).Allowed).to.equal(2);
    client.solo.nowMs += 61_000;
    expect((await client.must(WHO, question)).Allowed).to.equal(1);
  });

  it('refuses what is no question', async () => {
    const cases: [object, string][] = [
      [{ Resource: 'cat', Access: 'read' }, 'Invalid ACL resource requested'],
      [{ Resource: 'acl', Access: 'eat' }, 'Invalid access level'],
      [{ Resource: 'acl', Access: 'read', Namespace: '!' }, 'Invalid field "Namespace"'],
    ];
    for (const [body, words] of cases) {
      const reply = await client.ask(WHO, body);
      expect([reply.status, reply.body.code]).to.deep.equal([400, 'invalid']);
      expect(reply.body.detail).to.include(words);
    }
  });

  it('stops after some tokens or some time, and says so', async () => {
    for (let n = 0; n < 5; n++) await token({});
    const parts = partsOf(client.solo);
    const search = async (limits: { tokens: number; ms: number }) =>
      JSON.parse((await whoCan(parts, asked, question, { limits })).value);
    expect(await search({ tokens: 3, ms: 10_000 })).to.include({ Scanned: 3, Truncated: true });
    expect(await search({ tokens: 100, ms: 0 })).to.include({ Scanned: 0, Truncated: true });
    const { value } = await whoCan(parts, { ...asked, isGone: () => true }, question);
    expect(JSON.parse(value)).to.include({ Scanned: 0 });
  });

  it('runs at most two such works at one time; a third is a 429', async () => {
    const longWork = new LongWork();
    function* forever(): Generator<void, void> {
      while (!isOver) yield;
    }
    let isOver = false;
    const running = ['a', 'b'].map((token) =>
      longWork.run({ token, namespace: 'default' }, 'explain', forever),
    );
    const third = await SoloClient.open([], client.solo, {}, { longWork });
    const refused = await third.ask(WHO, question);
    expect([refused.status, refused.body.code]).to.deep.equal([429, 'too_many']);
    isOver = true;
    await Promise.all(running);
    expect((await third.ask(WHO, question)).status).to.equal(200);
    await third.close();
  });

  it('finds exactly the tokens that enforcement allows', async () => {
    await fc.assert(
      fc.asyncProperty(aState, fc.constantFrom(...ALL_QUESTIONS), async (state, one) => {
        const solo = built(state);
        const parts = { ...partsOf(solo), defaultPolicy: state.defaultPolicy };
        const { resource, access, segment, namespace } = one;
        const body = { Resource: resource, Access: access, Segment: segment, Namespace: namespace };
        const { Groups, Allowed } = JSON.parse((await whoCan(parts, asked, body)).value);
        for (const { Result } of Groups as Group[]) expect(Result.Allow).to.equal(true);
        const found = accessorsIn(Groups);
        const tokens = [...solo.store.keys('token\0')].map(
          (key) => stored<Token>(solo.store, key)!,
        );
        const allowed = tokens.filter(({ AccessorID, SecretID }) => {
          const tokenKey = AccessorID === ANONYMOUS ? null : secretKeyOf(SecretID);
          return solo.authorizers.of(tokenKey)!.allowed(resource, access, segment, namespace);
        });
        expect(found).to.have.members(allowed.map(({ AccessorID }) => AccessorID));
        expect(Allowed).to.equal(allowed.length);
      }),
      { numRuns: 40 },
    );
  }).timeout(60_000);
});
