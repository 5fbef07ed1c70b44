import { expect } from 'chai';
import type { Converted } from '../../src/migrate/source/types.js';
import { converted, stateOf } from './reading.js';
import { type Json, recordedSource } from './stand-in.js';

const of = (entries: Json[], mend = false): Converted =>
  converted(stateOf({ Entries: entries }), { mend });
const bodies = ({ parts }: Converted): readonly unknown[] =>
  parts.flatMap(({ items }) => items.map((item) => item.Object));
const brief = ({ findings }: Converted): readonly unknown[] =>
  findings.map(({ Ref, Code, Pointer, LeftOut }) => [Ref, Code, Pointer, LeftOut]);

describe('the conversion of config entries', () => {
  const defaults = (more: Json = {}): Json => ({ Kind: 'service-defaults', Name: 'web', ...more });
  const intentions = (source: Json): Json => ({
    Kind: 'service-intentions',
    Name: 'web',
    Sources: [{ Name: 'api', Action: 'allow', Type: 'consul', ...source }],
  });

  it('takes each recorded kind as it is, without what the server adds', () => {
    const { Entries } = recordedSource('community');
    const result = of(Entries);
    expect(result.findings).to.deep.equal([]);
    const kinds = new Set(Entries.map(({ Kind }) => Kind));
    expect(kinds.size).to.equal(15);
    expect(bodies(result)).to.have.length(Entries.length);
    const { CreateIndex: _create, ModifyIndex: _modify, ...rest } = Entries[0]!;
    expect(bodies(result)).to.deep.include(rest);
    expect(JSON.stringify(result.parts)).to.not.match(/"(?:Status|Hash|ModifyIndex)":/);
  });

  it('writes providers before the intentions that need them', () => {
    const kinds = bodies(of(recordedSource('community').Entries)).map(
      (one) => (one as Json)['Kind'],
    );
    expect(kinds[0]).to.equal('jwt-provider');
  });

  it('partition: leaves out sameness groups and members of other partitions', () => {
    const group = { Kind: 'sameness-group', Name: 'sg', Members: [] };
    expect(brief(of([group]))).to.deep.equal([
      ['config/default/sameness-group/sg', 'partition', '/Kind', true],
    ]);
    expect(brief(of([intentions({ Partition: 'other' })]))).to.deep.equal([
      ['config/default/service-intentions/web', 'partition', '/Sources/0/Partition', true],
    ]);
    expect(of([intentions({ Partition: 'default' })]).findings).to.deep.equal([]);
  });

  it('writes entries without members that name their own namespace', () => {
    const team = (source: string): Json => ({
      ...intentions({ Namespace: source }),
      Namespace: 'a',
    });
    expect(bodies(of([team('a')]))).to.deep.equal([intentions({})]);
    const pointer = '/Sources/0/Namespace';
    expect(brief(of([team('default')]))).to.deep.equal([
      ['config/a/service-intentions/web', 'member', pointer, true],
    ]);
    expect(brief(of([team('*')]))).to.deep.equal([
      ['config/a/service-intentions/web', 'wildcard', pointer, true],
    ]);
  });

  it('kind: leaves out kinds that this server does not have', () => {
    const limit = { Kind: 'control-plane-request-limit', Name: 'l' };
    expect(brief(of([limit]))).to.deep.equal([
      ['config/default/control-plane-request-limit/l', 'kind', '/Kind', true],
    ]);
  });

  it('wildcard: leaves out an asterisk where this server takes none', () => {
    expect(brief(of([defaults({ Name: '*' })]))).to.deep.equal([
      ['config/default/service-defaults/*', 'wildcard', '/Name', true],
    ]);
    expect(brief(of([intentions({ Peer: '*' })]))).to.deep.equal([
      ['config/default/service-intentions/web', 'wildcard', '/Sources/0/Peer', true],
    ]);
    expect(of([intentions({ Name: '*' })]).findings).to.deep.equal([]);
  });

  it('member: leaves out an entry with a member that this server refuses', () => {
    expect(brief(of([defaults({ Later: 'x' })], true))).to.deep.equal([
      ['config/default/service-defaults/web', 'member', '/Later', true],
    ]);
  });

  it('member: writes the entry without it if it is empty and that is asked for', () => {
    const entry = defaults({ Later: false, Expose: { Newer: {} } });
    expect(of([entry]).parts).to.deep.equal([]);
    const result = of([entry], true);
    expect(bodies(result)).to.deep.equal(
      [defaults({ Namespace: undefined, Expose: {} })].map(({ Namespace: _ns, ...rest }) => rest),
    );
    expect(brief(result)).to.have.deep.members([
      ['config/default/service-defaults/web', 'member', '/Later', false],
      ['config/default/service-defaults/web', 'member', '/Expose/Newer', false],
    ]);
  });

  it('invalid: leaves out what a write refuses, with a line for each fault', () => {
    const result = of([defaults({ Protocol: 'smtp', MaxInboundConnections: 'x' })]);
    expect(result.parts).to.deep.equal([]);
    expect(result.findings[0]).to.deep.include({ Code: 'invalid', LeftOut: true });
  });

  it('invalid: leaves out intentions whose provider is left out', () => {
    const provider = { Kind: 'jwt-provider', Name: 'okta' };
    const entry = { ...intentions({}), JWT: { Providers: [{ Name: 'okta' }] } };
    const result = of([entry, provider]);
    expect(result.parts).to.deep.equal([]);
    expect(result.findings.at(-1)?.Message).to.equal('needs config/default/jwt-provider/okta');
  });

  it('intentions_source: writes intentions without the members of their old form', () => {
    const result = of([
      intentions({
        LegacyID: 'x',
        LegacyMeta: { a: 'b' },
        LegacyCreateTime: '2020-01-01T00:00:00Z',
      }),
    ]);
    expect(brief(result)).to.deep.equal([
      ['config/default/service-intentions/web', 'intentions_source', '/Sources', false],
    ]);
    expect(bodies(result)).to.deep.equal([intentions({})]);
  });

  it('hidden_secret: leaves out a certificate whose key is not shown', () => {
    const certificate = recordedSource('community').Entries.find(
      ({ Kind }) => Kind === 'inline-certificate',
    )!;
    const result = of([{ ...certificate, PrivateKey: '<hidden>' }]);
    expect(result.parts).to.deep.equal([]);
    expect(result.findings[0]).to.deep.include({ Code: 'hidden_secret', Pointer: '/PrivateKey' });
  });

  it('changes nothing of what was read', () => {
    const state = stateOf({ Entries: [intentions({ LegacyID: 'x' }), defaults({ Later: '' })] });
    const before = structuredClone(state);
    converted(state, { mend: true });
    expect(state).to.deep.equal(before);
  });
});
