/** Rules between jwt-providers and the entries that name them, in every namespace. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Condition } from '../../src/kinds/conditions.js';
import { providersNamed } from '../../src/kinds/references.js';
import type { ConfigEntry } from '../../src/kinds/types.js';
import { keys } from '../../src/state/keys.js';
import { type Answered, type Body, ConfigState } from './config-state.js';

const provider = (Name: string, more: object = {}): Body => ({
  Kind: 'jwt-provider',
  Name,
  JSONWebKeySet: { Local: { Filename: '/k' } },
  ...more,
});
const jwt = (...names: string[]) => ({ Providers: names.map((Name) => ({ Name })) });
const intentions = (Name: string, ...providers: string[]): Body => ({
  Kind: 'service-intentions',
  Name,
  Sources: [{ Name: 'x', Action: 'allow' }],
  ...(providers.length > 0 ? { JWT: jwt(...providers) } : {}),
});
const http: Body = { Kind: 'service-defaults', Name: 'web', Protocol: 'http' };
const permitted = (Name: string, ...providers: string[]): Body => ({
  Kind: 'service-intentions',
  Name,
  Sources: [
    {
      Name: 'x',
      Permissions: [{ Action: 'allow', HTTP: { PathPrefix: '/' }, JWT: jwt(...providers) }],
    },
  ],
});
const gateway = (policies: object, more: object = {}): Body => ({
  Kind: 'api-gateway',
  Name: 'gw',
  Listeners: [
    { Name: 'l0', Port: 80, Protocol: 'http', ...policies },
    { Name: 'l1', Port: 81, Protocol: 'http', ...more },
  ],
});
const route = (JWT: object | null): Body => ({
  Kind: 'http-route',
  Name: 'r',
  Parents: [{ Name: 'gw' }],
  Rules: [{ Filters: { JWT }, Services: [{ Name: 'web', Filters: { JWT } }] }],
});
const conditions = (entry: Answered): string[] =>
  entry.Status.Conditions.map(
    ({ Type, Status, Reason, Resource }: Condition) =>
      `${Type}/${Status}/${Reason}${Resource.SectionName && `@${Resource.SectionName}`}`,
  );

describe('state: jwt-providers and intentions', () => {
  it('every provider that an intention names must exist', () => {
    const state = new ConfigState();
    state.must(http);
    state.must(provider('there'));
    for (const body of [intentions('web', 'none', 'there'), permitted('web', 'there', 'none')]) {
      const before = new Map(state.store.map);
      const { value, message } = state.set(body);
      expect(value).to.equal('unknown_reference');
      expect(message).to.equal('Referenced JWT Provider does not exist. Provider Name: none');
      expect(state.store.map, 'nothing changed').to.deep.equal(before);
    }
    expect(state.set(intentions('web', 'none', 'other', 'none')).message).to.match(
      /^2 errors occurred: Referenced JWT .*: none; Referenced JWT .*: other$/,
    );
    state.must(intentions('*', 'there'));
    state.must(permitted('web', 'there', 'there'));
  });

  it('a provider is looked for before the protocol of the service', () => {
    const state = new ConfigState();
    expect(state.set(permitted('web', 'none')).value).to.equal('unknown_reference');
  });

  it('a cas that does not match answers false before either rule', () => {
    const state = new ConfigState();
    expect(state.set(intentions('web', 'none'), { cas: 77 }).value).to.equal('false');
    state.must(provider('p'));
    state.must(intentions('web', 'p'));
    expect(state.delete('jwt-provider', 'p', { cas: 1 }).value).to.equal('false');
    const { ModifyIndex } = state.read('jwt-provider', 'p');
    expect(state.delete('jwt-provider', 'p', { cas: ModifyIndex }).value).to.equal('conflict');
  });

  it('a provider in use can be changed but not deleted, until nothing names it', () => {
    const state = new ConfigState();
    state.must(http);
    state.must(provider('p'));
    const releases: readonly [Body, () => void][] = [
      [intentions('web', 'p'), () => state.must(intentions('web'))],
      [permitted('web', 'p'), () => state.delete('service-intentions', 'web')],
      [intentions('*', 'p'), () => state.delete('service-intentions', '*')],
    ];
    for (const [body, release] of releases) {
      state.must(body);
      const refused = state.delete('jwt-provider', 'p');
      expect(refused.value).to.equal('conflict');
      expect(refused.message).to.equal(
        'cannot delete jwt provider config entry referenced by an intention. Provider name: p',
      );
      state.must(provider('p', { Issuer: `of ${body.Name}` }));
      release();
      expect(state.delete('jwt-provider', 'p').value).to.equal('{}');
      state.must(provider('p'));
    }
  });

  it('letter case does not tell names apart', () => {
    const state = new ConfigState();
    state.must(provider('P1'));
    state.must(intentions('web', 'p1'));
    state.must(provider('p1', { Issuer: 'other spelling' }));
    expect(state.delete('jwt-provider', 'P1').value).to.equal('conflict');
    state.must(intentions('web', 'P1'));
    state.must(intentions('web'));
    expect(state.delete('jwt-provider', 'p1').value).to.equal('{}');
  });

  it('any namespace may name a provider, and a deletion looks at all of them', () => {
    const state = new ConfigState(['blue', 'default', 'team']);
    state.must(provider('p'));
    state.must(intentions('web', 'p'), { ns: 'team' });
    expect(state.delete('jwt-provider', 'p').value).to.equal('conflict');
    expect(state.set(intentions('web', 'none'), { ns: 'blue' }).value).to.equal(
      'unknown_reference',
    );
    state.delete('service-intentions', 'web', { ns: 'team' });
    expect(state.delete('jwt-provider', 'p').value).to.equal('{}');
  });

  it('a reference without its entry, as a dying namespace has it, does not count', () => {
    const state = new ConfigState(['default', 'team']);
    state.must(provider('p'));
    state.must(intentions('web', 'p'), { ns: 'team' });
    state.store.commit([[keys.config('team', 'service-intentions', 'web'), undefined]]);
    expect(state.delete('jwt-provider', 'p').value).to.equal('{}');
  });

  it('a name that no key can hold is no reference', () => {
    const state = new ConfigState();
    for (const name of ['a\u0000b', 'x'.repeat(5000), '\ud800']) {
      expect(state.set(intentions('web', name)).value).to.equal('unknown_reference');
    }
  });

  it('no sequence of writes and deletes leaves an intention without its provider', () => {
    const name = fc.constantFrom('a', 'A', 'b');
    const ns = fc.constantFrom('default', 'team');
    const step = fc.oneof(
      name.map((one) => (state: ConfigState) => void state.set(provider(one))),
      name.map((one) => (state: ConfigState) => void state.delete('jwt-provider', one)),
      fc.tuple(name, fc.array(name, { maxLength: 2 }), ns).map(
        ([of, named, where]) =>
          (state: ConfigState) =>
            void state.set(intentions(of, ...named), { ns: where }),
      ),
      fc.tuple(name, ns).map(
        ([of, where]) =>
          (state: ConfigState) =>
            void state.delete('service-intentions', of, { ns: where }),
      ),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const state = new ConfigState(['default', 'team']);
        for (const play of steps) {
          play(state);
          for (const key of state.store.keys('config\u0000')) {
            const entry = JSON.parse(state.store.get(key)!) as ConfigEntry;
            for (const one of providersNamed(entry)) {
              expect(state.text('jwt-provider', one), `${entry.Name} names ${one}`).to.be.a(
                'string',
              );
            }
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('state: jwt-providers of gateways and routes', () => {
  const places: readonly [title: string, policies: object][] = [
    ['Default', { Default: { JWT: jwt('p') } }],
    ['Override', { Override: { JWT: jwt('p') }, Default: {} }],
  ];
  for (const [title, policies] of places) {
    it(`a gateway follows the provider that its ${title} names`, () => {
      const state = new ConfigState();
      state.must(http);
      state.must(gateway(policies));
      state.must(route(null));
      const status = () => conditions(state.read('api-gateway', 'gw'));
      const isLost = [
        'Accepted/False/InvalidJWTProviders',
        'Conflicted/False/NoConflict@l0',
        'Conflicted/False/NoConflict@l1',
        'ResolvedRefs/False/InvalidJWTProviderRef@l0',
        'ResolvedRefs/True/ResolvedRefs@l1',
      ];
      expect(status()).to.deep.equal(isLost);
      const [first, , , lost] = state.read('api-gateway', 'gw').Status.Conditions;
      expect(first.Message).to.equal('gateway references invalid JWT Providers');
      expect(lost.Message).to.equal('JWT provider "p" not found');
      expect(conditions(state.read('http-route', 'r'))).to.include('Bound/False/FailedToBind');
      state.must(provider('P'));
      expect(status()).to.include('Accepted/True/Accepted');
      expect(status()).to.include('ResolvedRefs/True/ResolvedRefs@l0');
      expect(conditions(state.read('http-route', 'r'))).to.include('Bound/True/Bound');
      const before = state.text('api-gateway', 'gw');
      state.must(provider('p', { Issuer: 'other' }));
      expect(state.text('api-gateway', 'gw'), 'only its existence counts').to.equal(before);
      expect(state.delete('jwt-provider', 'p').value, 'gateways do not keep it').to.equal('{}');
      expect(status()).to.deep.equal(isLost);
      expect(state.read('bound-api-gateway', 'gw').Services).to.deep.equal({});
    });
  }

  it('a route follows the providers that its filters name', () => {
    const state = new ConfigState();
    state.must(http);
    state.must(gateway({}));
    state.must(route(jwt('p')));
    const status = () => conditions(state.read('http-route', 'r'));
    expect(status()).to.deep.equal([
      'Accepted/False/InvalidJWTProviders',
      'Bound/False/FailedToBind',
      'ResolvedRefs/False/InvalidJWTProviderRef',
    ]);
    expect(conditions(state.read('api-gateway', 'gw'))).to.include('Accepted/True/Accepted');
    state.must(provider('p'));
    expect(status()).to.deep.equal(['Accepted/True/Accepted', 'Bound/True/Bound']);
    expect(state.read('bound-api-gateway', 'gw').Services).to.have.property('web');
    state.delete('jwt-provider', 'p');
    expect(status()).to.include('Accepted/False/InvalidJWTProviders');
    expect(state.read('bound-api-gateway', 'gw').Services).to.deep.equal({});
  });

  it('those of every namespace follow it', () => {
    const state = new ConfigState(['default', 'team']);
    state.must(gateway({ Default: { JWT: jwt('p') } }), { ns: 'team' });
    const read = () => state.read('api-gateway', 'gw', 'team');
    expect(conditions(read())).to.include('Accepted/False/InvalidJWTProviders');
    state.must(provider('p'));
    expect(conditions(read())).to.include('Accepted/True/Accepted');
    expect(read().ModifyIndex).to.equal(state.index);
    state.delete('jwt-provider', 'p');
    expect(conditions(read())).to.include('Accepted/False/InvalidJWTProviders');
  });

  it('a missing provider and a missing certificate are both told', () => {
    const state = new ConfigState();
    const Certificates = [{ Name: 'c' }];
    state.must(gateway({ Default: { JWT: jwt('p') } }, { TLS: { Certificates } }));
    expect(conditions(state.read('api-gateway', 'gw'))).to.include.members([
      'Accepted/False/InvalidJWTProviders',
      'ResolvedRefs/False/InvalidJWTProviderRef@l0',
      'ResolvedRefs/False/InvalidCertificateRef@l1',
    ]);
    state.must(provider('p'));
    expect(conditions(state.read('api-gateway', 'gw'))).to.include(
      'Accepted/False/InvalidCertificates',
    );
  });
});
