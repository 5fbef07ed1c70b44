/** What the server derives for gateways and routes, within the write that changes it. */
import { expect } from 'chai';
import { keys } from '../../src/state/keys.js';
import { type Answered, type Body, ConfigState } from './config-state.js';

const gateway = (...listeners: object[]): Body => ({
  Kind: 'api-gateway',
  Name: 'gw',
  Listeners: listeners.map((one, i) => ({
    Name: `l${i}`,
    Port: 8000 + i,
    Protocol: 'tcp',
    ...one,
  })),
});
const tcpRoute = (Name: string, service: string | undefined, parent: object = {}): Body => ({
  Kind: 'tcp-route',
  Name,
  Parents: [{ Name: 'gw', ...parent }],
  Services: service === undefined ? [] : [{ Name: service }],
});
const httpRoute = (Name: string, service: string, ...Hostnames: string[]): Body => ({
  Kind: 'http-route',
  Name,
  Parents: [{ Name: 'gw' }],
  Rules: [{ Services: [{ Name: service }] }],
  Hostnames,
});
const certificate: Body = { Kind: 'file-system-certificate', Name: 'c' };
const http: Body = { Kind: 'service-defaults', Name: 'web', Protocol: 'http' };

/** `Type/Status/Reason[@section]` of every condition. */
const conditions = (entry: Answered): string[] =>
  entry.Status.Conditions.map(
    // biome-ignore lint/suspicious/noExplicitAny: answered JSON
    ({ Type, Status, Reason, Resource }: any) =>
      `${Type}/${Status}/${Reason}${Resource.SectionName && `@${Resource.SectionName}`}`,
  );

describe('state: a write of api-gateways, routes and bindings', () => {
  it('creates and removes a bound-api-gateway with its gateway, at the same index', () => {
    const state = new ConfigState();
    state.must(gateway({}));
    const { CreateIndex: _c, ModifyIndex, ...bound } = state.read('bound-api-gateway', 'gw');
    expect(bound).to.deep.equal({
      Kind: 'bound-api-gateway',
      Name: 'gw',
      Listeners: [{ Name: 'l0', Routes: null, Certificates: null }],
      Services: {},
      Namespace: 'default',
    });
    expect(ModifyIndex).to.equal(state.read('api-gateway', 'gw').ModifyIndex);
    state.delete('api-gateway', 'gw');
    expect(state.text('bound-api-gateway', 'gw')).to.equal(undefined);
    expect(state.store.get(keys.deleted('config', 'default', 'bound-api-gateway'))).to.equal(
      String(state.index),
    );
  });

  it('reports the status of a gateway', () => {
    const state = new ConfigState();
    state.must(gateway({}));
    const entry = state.read('api-gateway', 'gw');
    expect(conditions(entry)).to.deep.equal([
      'Accepted/True/Accepted',
      'Conflicted/False/NoConflict@l0',
      'ResolvedRefs/True/ResolvedRefs@l0',
    ]);
    expect(entry.Status.Conditions[1]).to.deep.equal({
      Type: 'Conflicted',
      Status: 'False',
      Reason: 'NoConflict',
      Message: 'listener has no route conflicts',
      Resource: { Kind: 'api-gateway', Name: 'gw', SectionName: 'l0' },
      LastTransitionTime: '2026-01-01T00:00:00.000Z',
    });
  });

  it('ignores a Status in a body', () => {
    const state = new ConfigState();
    state.must({ ...gateway({}), Status: { Conditions: [{ Type: 'Mine' }] } });
    expect(conditions(state.read('api-gateway', 'gw'))).not.to.include('Mine');
    const { Status: _status, ...rest } = state.read('api-gateway', 'gw');
    expect(state.set(rest).changed).to.deep.equal([]);
  });

  it('binds a route to every listener of its protocol', () => {
    const state = new ConfigState();
    state.must(gateway({}, { Protocol: 'http' }, {}));
    state.must(tcpRoute('r', 's'));
    expect(conditions(state.read('tcp-route', 'r'))).to.deep.equal([
      'Accepted/True/Accepted',
      'Bound/True/Bound',
    ]);
    const { Listeners, Services, ModifyIndex } = state.read('bound-api-gateway', 'gw');
    const reference = { Kind: 'tcp-route', Name: 'r', SectionName: '' };
    expect(Listeners.map((one: Answered) => one.Routes)).to.deep.equal([
      [reference],
      null,
      [reference],
    ]);
    expect(Services).to.deep.equal({ s: [reference] });
    expect(ModifyIndex).to.equal(state.read('tcp-route', 'r').ModifyIndex);
  });

  it('leaves a gateway unchanged by a route that does not affect it', () => {
    const state = new ConfigState();
    state.must(gateway({}));
    const before = state.text('api-gateway', 'gw');
    state.must(tcpRoute('r', 's'));
    expect(state.text('api-gateway', 'gw')).to.equal(before);
  });

  it('unbinds a deleted route', () => {
    const state = new ConfigState();
    state.must(gateway({}));
    state.must(tcpRoute('r', 's'));
    state.delete('tcp-route', 'r');
    expect(state.read('bound-api-gateway', 'gw')).to.deep.include({ Services: {} });
  });

  it('reports two routes on one tcp listener', () => {
    const state = new ConfigState();
    state.must(gateway({}));
    state.must(tcpRoute('r', 's'));
    state.must(tcpRoute('q', 's'));
    expect(conditions(state.read('api-gateway', 'gw'))).to.include(
      'Conflicted/True/RouteConflict@l0',
    );
    state.delete('tcp-route', 'q');
    expect(conditions(state.read('api-gateway', 'gw'))).to.include(
      'Conflicted/False/NoConflict@l0',
    );
  });

  it('binds a waiting route when its gateway appears, and reports when it disappears', () => {
    const state = new ConfigState();
    state.must(tcpRoute('r', 's'));
    expect(conditions(state.read('tcp-route', 'r'))).to.include('Bound/False/GatewayNotFound');
    state.must(gateway({}));
    expect(conditions(state.read('tcp-route', 'r'))).to.include('Bound/True/Bound');
    state.delete('api-gateway', 'gw');
    expect(conditions(state.read('tcp-route', 'r'))).to.include('Bound/False/GatewayNotFound');
  });

  it('neither accepts nor binds a route without services', () => {
    const state = new ConfigState();
    state.must(gateway({}));
    state.must(tcpRoute('r', undefined));
    expect(conditions(state.read('tcp-route', 'r'))).to.deep.equal([
      'Accepted/False/NoUpstreamServicesTargeted',
      'Bound/False/FailedToBind',
    ]);
  });

  it("follows changes of a service's protocol", () => {
    const state = new ConfigState();
    state.must(gateway({ Protocol: 'http' }));
    state.must(httpRoute('r', 'web'));
    expect(conditions(state.read('http-route', 'r'))).to.include(
      'Accepted/False/InvalidDiscoveryChain',
    );
    state.must(http);
    expect(conditions(state.read('http-route', 'r'))).to.include('Bound/True/Bound');
    expect(state.read('bound-api-gateway', 'gw').Services).to.have.property('web');
    state.delete('service-defaults', 'web');
    expect(state.read('bound-api-gateway', 'gw').Services).to.deep.equal({});
  });

  it('follows changes of the default protocol, in every namespace', () => {
    const state = new ConfigState(['default', 'team']);
    state.must(gateway({ Protocol: 'http' }), { ns: 'team' });
    state.must(httpRoute('r', 'web'), { ns: 'team' });
    state.must({ Kind: 'proxy-defaults', Config: { protocol: 'http' } });
    expect(conditions(state.read('http-route', 'r', 'team'))).to.include('Bound/True/Bound');
  });

  it('matches host names', () => {
    const state = new ConfigState();
    state.must(http);
    state.must(gateway({ Protocol: 'http', Hostname: '*.example.com' }));
    const bound = (...hosts: string[]): boolean => {
      state.must(httpRoute('r', 'web', ...hosts));
      return conditions(state.read('http-route', 'r')).includes('Bound/True/Bound');
    };
    expect(bound('a.example.com')).to.equal(true);
    expect(bound('other.org', 'A.Example.com')).to.equal(true);
    expect(bound('example.com')).to.equal(false);
    expect(bound('other.org')).to.equal(false);
    expect(bound()).to.equal(true);
  });

  it('binds only to the named listener', () => {
    const state = new ConfigState();
    state.must(gateway({}, {}));
    state.must(tcpRoute('r', 's', { SectionName: 'l1' }));
    const { Listeners } = state.read('bound-api-gateway', 'gw');
    expect(Listeners.map((one: Answered) => one.Routes !== null)).to.deep.equal([false, true]);
    state.must(tcpRoute('r', 's', { SectionName: 'none' }));
    const [, binding] = state.read('tcp-route', 'r').Status.Conditions;
    expect(binding).to.include({ Status: 'False', Reason: 'FailedToBind' });
    expect(binding.Message).to.contain('it has no listener "none"');
  });

  it("follows changes of a gateway's certificates", () => {
    const state = new ConfigState();
    const reference = { Kind: 'file-system-certificate', Name: 'c' };
    state.must(gateway({ TLS: { Certificates: [reference] } }));
    state.must(tcpRoute('r', 's'));
    expect(conditions(state.read('api-gateway', 'gw'))).to.include.members([
      'Accepted/False/InvalidCertificates',
      'ResolvedRefs/False/InvalidCertificateRef@l0',
    ]);
    expect(conditions(state.read('tcp-route', 'r'))).to.include('Bound/False/FailedToBind');
    state.must(certificate);
    expect(conditions(state.read('api-gateway', 'gw'))).to.include('Accepted/True/Accepted');
    expect(conditions(state.read('tcp-route', 'r'))).to.include('Bound/True/Bound');
    expect(state.read('bound-api-gateway', 'gw').Listeners[0].Certificates).to.have.length(1);
    const before = state.text('api-gateway', 'gw');
    state.must({ ...certificate, Certificate: '/other.pem' });
    expect(state.text('api-gateway', 'gw'), 'only its existence counts').to.equal(before);
    state.delete('file-system-certificate', 'c');
    expect(conditions(state.read('tcp-route', 'r'))).to.include('Bound/False/FailedToBind');
  });

  it('keeps the transition time of an unchanged condition', () => {
    const state = new ConfigState();
    state.must(tcpRoute('r', 's'));
    state.at = '2026-02-02T00:00:00.000Z';
    state.must(gateway({}));
    const times = state
      .read('tcp-route', 'r')
      .Status.Conditions.map((one: Answered) => one.LastTransitionTime);
    expect(times).to.deep.equal(['2026-01-01T00:00:00.000Z', '2026-02-02T00:00:00.000Z']);
  });

  it('accepts any service name as data', () => {
    const state = new ConfigState();
    state.must(gateway({}));
    state.must(tcpRoute('r', '__proto__'));
    expect(state.text('bound-api-gateway', 'gw')).to.contain('"Services":{"__proto__":[');
  });
});
