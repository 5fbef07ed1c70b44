import { expect } from 'chai';
import { policyHash } from '../../src/acl/hash.js';
import { readSource } from '../../src/migrate/source/read.js';
import type { SourceConnection, SourceError, SourceState } from '../../src/migrate/source/types.js';
import { connectionTo, read, TestClock } from './reading.js';
import { type Faults, recordedSource, StandIn } from './stand-in.js';

const OPTIONS = { clock: new TestClock(), rate: 1000, namespaces: 'all' } as const;

describe('the reading of a source', () => {
  let source: StandIn | undefined;
  afterEach(() => source?.close());
  const start = async (faults: Faults = {}, name: 'community' | 'enterprise' = 'community') => {
    source = await StandIn.start(recordedSource(name), faults);
    return source;
  };
  const failure = async (reading: Promise<SourceState>): Promise<string> =>
    reading.then(
      () => 'nothing failed',
      (error: SourceError) => error.message,
    );

  it('has every object, with the members that lists leave out', async () => {
    const { recorded } = await start();
    const state = await read(source!);
    expect(state.policies).to.have.length(recorded.Policies.length);
    expect(state.policies.every(({ Rules }) => typeof Rules === 'string')).to.equal(true);
    expect(state.authMethods.every(({ Config }) => typeof Config === 'object')).to.equal(true);
    expect(state.roles).to.have.length(recorded.Roles.length);
    expect(state.bindingRules).to.have.length(recorded.BindingRules.length);
    expect(state.tokens).to.have.length(recorded.Tokens.length);
    expect(state.entries).to.have.length(recorded.Entries.length);
    expect(state.findings).to.deep.equal([]);
  });

  it('says who the source is', async () => {
    await start();
    const { info } = await read(source!);
    expect(info).to.include({
      Version: '1.22.7',
      Datacenter: 'dc1',
      DefaultPolicy: 'deny',
      isOurs: false,
      hasNamespaces: false,
    });
    expect(info.Indexes['acl/policies']).to.equal(1000);
  });

  it('takes datacenter and default policy from elsewhere where agent:read is missing', async () => {
    await start({ refused: { 'agent/self': 403 } });
    const { info, findings } = await read(source!);
    expect(info).to.include({ Datacenter: 'dc1', DefaultPolicy: 'deny' });
    expect(findings[0]).to.deep.include({ Ref: 'source', Code: 'not_readable' });
    expect(findings[0]?.Message).to.contain('the version of the source cannot be read');
  });

  it('fails where nothing tells its datacenter', async () => {
    await start({ refused: { 'agent/self': 403, 'catalog/datacenters': 404 } });
    expect(await failure(read(source!))).to.equal(
      'the datacenter of the source cannot be read: agent:read is missing',
    );
  });

  it('has the namespaces of an enterprise source, without those that are deleted', async () => {
    await start({}, 'enterprise');
    const state = await read(source!);
    expect(state.namespaces.map(({ Name }) => Name)).to.deep.equal(['default', 'team-a']);
    const places = new Set(state.policies.map(({ Namespace }) => Namespace));
    expect([...places]).to.deep.equal(['default', 'team-a']);
    expect(state.findings.map(({ Ref, Code }) => [Ref, Code])).to.deep.equal([
      ['partition/other', 'partition'],
    ]);
  });

  it('has only the namespaces that are named', async () => {
    await start({}, 'enterprise');
    const state = await read(source!, { namespaces: ['team-a'] });
    expect(state.policies.every(({ Namespace }) => Namespace === 'team-a')).to.equal(true);
    expect(await failure(read(source!, { namespaces: ['gone'] }))).to.equal(
      'the source shows no namespace "gone"',
    );
    const alone = await read(source!, { namespaces: 'none' });
    expect(alone.policies.every(({ Namespace }) => Namespace === 'default')).to.equal(true);
  });

  it('has only the types and kinds that are asked for', async () => {
    await start();
    const state = await read(source!, { only: ['role', 'config'], kinds: ['mesh'] });
    expect(state.policies).to.deep.equal([]);
    expect(state.roles).to.have.length(5);
    expect(state.entries.map(({ Kind }) => Kind)).to.deep.equal(['mesh']);
    expect(source!.requests.filter((path) => path.startsWith('acl/pol'))).to.deep.equal([]);
  });

  it('reads again what moved meanwhile', async () => {
    await start();
    const inner = connectionTo(source!.url, source!.token);
    let isChanged = false;
    const connection: SourceConnection = {
      get(path, query) {
        // The change comes while the source is read, after its policies.
        if (path === '/v1/acl/tokens' && !isChanged) {
          isChanged = true;
          source!.change(({ Policies }, index) => {
            Object.assign(Policies[2]!, { Rules: 'acl = "write"', ModifyIndex: index });
          });
        }
        return inner.get(path, query);
      },
    };
    const state = await readSource(connection, OPTIONS);
    expect(state.policies[2]?.['Rules']).to.equal('acl = "write"');
    const details = source!.requests.filter((path) => path.startsWith('acl/policy/'));
    expect(details).to.have.length(source!.recorded.Policies.length + 1);
  });

  it('gives up where the source changes all the time', async () => {
    await start({ moves: Number.POSITIVE_INFINITY });
    expect(await failure(read(source!))).to.equal(
      'the source changes faster than it can be read: use --watch',
    );
  });

  it('reads no object again that an earlier reading has', async () => {
    await start();
    const before = await read(source!);
    source!.requests.length = 0;
    const after = await read(source!, { before });
    expect(after.policies).to.deep.equal(before.policies);
    expect(source!.requests.filter((path) => path.startsWith('acl/policy/'))).to.deep.equal([]);
  });

  it('takes the links of a token from the list, and the rest from before', async () => {
    const recorded = recordedSource('community');
    const AccessorID = '6c1b0a5e-8d5c-4f7e-9a34-52f1f5f6b001';
    const links = { Policies: [{ ID: 'p', Name: 'p' }], Roles: [{ ID: 'r', Name: 'r' }] };
    // The list shows neither the secret of this token nor its rules.
    const token = { AccessorID, Rules: 'key "a" {}', ModifyIndex: 7, ...links };
    source = await StandIn.start({ ...recorded, Tokens: [...recorded.Tokens, token] });
    const one = ({ tokens }: SourceState) =>
      tokens.find((each) => each['AccessorID'] === AccessorID);
    const before = await read(source);
    expect(one(before)).to.deep.include(token);
    source.change(({ Tokens }) => {
      Object.assign(Tokens.at(-1)!, { Policies: undefined, Roles: [{ ID: 'r' }] });
    });
    source.requests.length = 0;
    const after = one(await read(source, { before }));
    expect(after).to.deep.include({ Rules: token.Rules, Roles: [{ ID: 'r' }] });
    expect(after).to.not.have.key('Policies');
    expect(source.requests).to.not.include(`acl/token/${AccessorID}`);
  });

  it('reads no policy whose text is known by its Hash', async () => {
    const recorded = recordedSource('community');
    const policies = recorded.Policies.map((one) => ({ ...one, Hash: policyHash(one as never) }));
    const [first, second] = recorded.Policies as { ID: string; Rules: string }[];
    source = await StandIn.start({ ...recorded, Policies: policies }, {});
    const texts = new Map([
      [first!.ID, first!.Rules],
      [second!.ID, `${second!.Rules} `],
    ]);
    const state = await read(source, { texts });
    expect(state.policies.map(({ Rules }) => Rules)).to.deep.equal(
      recorded.Policies.map(({ Rules }) => Rules),
    );
    const asked = source.requests.filter((path) => path.startsWith('acl/policy/'));
    expect(asked).to.have.length(policies.length - 1);
    expect(asked.some((path) => path.includes(first!.ID))).to.equal(false);
  });

  it('sends no more requests a second than it may', async () => {
    await start();
    const clock = new TestClock();
    await read(source!, { clock, rate: 50 });
    expect(clock.sleptMs).to.be.at.least(((source!.requests.length - 1) * 1000) / 50 - 1);
  });

  it('waits while the source is busy', async () => {
    await start({ busy: 3 });
    const clock = new TestClock();
    const state = await read(source!, { clock });
    expect(state.policies).to.have.length(source!.recorded.Policies.length);
    expect(clock.sleptMs).to.be.at.least(250 + 500 + 1000);
  });

  it('names the right that is missing for a list', async () => {
    await start({ refused: { 'acl/tokens': 403 }, filtered: ['config/mesh'] });
    const { tokens, entries, findings } = await read(source!);
    expect(tokens).to.deep.equal([]);
    expect(entries.some(({ Kind }) => Kind === 'mesh')).to.equal(true);
    expect(findings.map(({ Ref, Code, Message }) => [Ref, Code, Message])).to.deep.equal([
      ['acl/tokens', 'not_readable', 'acl/tokens is not shown whole: acl:read is missing'],
      [
        'config/mesh',
        'not_readable',
        'config/mesh is not shown whole: service:read and mesh:read is missing',
      ],
    ]);
  });

  it('fails where the source does not know the token', async () => {
    const { url } = await start();
    const reading = read({ url, token: '11111111-2222-4333-8444-555555555555' });
    expect(await failure(reading)).to.equal('the source does not know the token');
  });

  it('fails at a secondary datacenter, unless its local tokens are asked for', async () => {
    await start();
    source!.change(({ Replication }) => {
      Object.assign(Replication, { Enabled: true, SourceDatacenter: 'dc0' });
    });
    expect(await failure(read(source!))).to.equal(
      'read the primary datacenter "dc0": tokens of "dc1" are copies',
    );
    const { tokens } = await read(source!, { fromSecondary: true });
    expect(tokens).to.have.length(3);
    expect(tokens.every(({ Local }) => Local === true)).to.equal(true);
  });

  it('fails after each request at which the connection is cut, without a secret', async () => {
    const { faults, requests } = await start();
    await read(source!);
    const secrets = source!.recorded.Tokens.map(({ SecretID }) => String(SecretID));
    const all = requests.length;
    for (let cutAfter = 0; cutAfter < all; cutAfter += 1) {
      requests.length = 0;
      faults.cutAfter = cutAfter;
      const message = await failure(read(source!));
      expect(message).to.not.equal('nothing failed');
      expect(secrets.filter((one) => message.includes(one))).to.deep.equal([]);
    }
  });

  it('fails at an answer that is no JSON without quoting it', async () => {
    await start();
    const connection = {
      get: async () => ({ status: 200, text: '<html>s3cret', header: () => undefined }),
    };
    const message = await failure(readSource(connection, OPTIONS));
    expect(message).to.contain('is not JSON');
    expect(message).to.not.contain('s3cret');
  });
});
