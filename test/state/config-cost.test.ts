/** How much work one change of a config entry may cause. */
import { expect } from 'chai';
import { type Body, ConfigState, proxies, resolver, router, splitter } from './config-state.js';

describe('state: the cost of one change', () => {
  const wide = (Name: string, count: number, more: object = {}): Body =>
    resolver(Name, {
      Failover: {
        '*': { Targets: Array.from({ length: count }, (_, at) => ({ Service: `t${at}` })) },
      },
      ...more,
    });

  it('is limited by the number of names in an entry', () => {
    const state = new ConfigState();
    expect(() => state.set(wide('web', 2_001))).to.throw('has 2001 items');
    const Targets = [{ Service: 'one' }, { Service: 'more' }];
    const Failover = { ...(wide('web', 1_999)['Failover'] as object), v1: { Targets } };
    const more = { Failover, Subsets: { v1: {} } };
    expect(() => state.set(wide('web', 1, more))).to.throw('names 2001 services');
    expect(state.set(wide('web', 2_000)).value).to.equal('true');
  });

  it('is limited by the chains it affects; removing some of them makes it possible', () => {
    const state = new ConfigState();
    state.must(proxies('http'));
    state.must(wide('web', 2_000));
    for (let at = 0; at < 30; at++) state.must(router(`r${at}`, { Service: 'web' }));
    const before = new Map(state.store.map);
    const { value, message } = state.set(wide('web', 2_000, { ConnectTimeout: '3s' }));
    expect(value).to.equal('invalid');
    expect(message).to.include('service-resolver "web" would be felt in discovery chains');
    expect(state.store.map).to.deep.equal(before);
    for (let at = 0; at < 20; at++) {
      expect(state.delete('service-router', `r${at}`).value).to.equal('{}');
    }
    expect(state.set(wide('web', 2_000, { ConnectTimeout: '3s' })).value).to.equal('true');
    for (let at = 0; at < 20; at++) state.must(router(`r${at}`, { Service: 'web' }));
    expect(state.delete('service-resolver', 'web').value).to.equal('{}');
  });

  it('is limited for a single chain', () => {
    const state = new ConfigState();
    state.must(proxies('http'));
    for (const name of ['a', 'b', 'c']) {
      const Targets = Array.from({ length: 1_900 }, (_, at) => ({ Service: `${name}${at}` }));
      state.must(resolver(name, { Failover: { '*': { Targets } } }));
    }
    const split = splitter(
      'web',
      { Service: 'a' },
      { Service: 'b' },
      { Service: 'c', Weight: 33.34 },
    );
    const { value, message } = state.set(split);
    expect([value, message]).to.deep.equal([
      'invalid',
      'discovery chain "web" has more than 5000 steps',
    ]);
  });

  describe('in bindings of routes to gateways', () => {
    const gateway = (Protocol: string, Hostname?: string): Body => ({
      Kind: 'api-gateway',
      Name: 'gw',
      Listeners: Array.from({ length: 2_000 }, (_, at) => ({
        Name: `l${at}`,
        Port: 1_000 + at,
        Protocol,
        ...(Hostname !== undefined && { Hostname }),
      })),
    });
    const route = (at: number, parent: object = {}): Body => ({
      Kind: 'tcp-route',
      Name: `${at}`.padEnd(1_000, 'r'),
      Parents: [{ Name: 'gw', ...parent }],
      Services: [{ Name: 'web' }],
    });
    const httpRoute = (at: number, services: number, more: object = {}): Body => ({
      Kind: 'http-route',
      Name: route(at)['Name'],
      Parents: [{ Name: 'gw' }],
      Rules: [{ Services: Array.from({ length: services }, (_, one) => ({ Name: `s${one}` })) }],
      ...more,
    });
    const TOO_FAR =
      'would be felt in bindings of routes to api-gateways of more than 8388608 steps';

    it('is limited by the references to routes that the gateway gets', () => {
      const state = new ConfigState();
      state.must(gateway('tcp'));
      for (let at = 0; at < 3; at++) state.must(route(at));
      const before = new Map(state.store.map);
      const { value, message } = state.set(route(3));
      expect(value).to.equal('invalid');
      expect(message).to.include(TOO_FAR);
      expect(state.store.map).to.deep.equal(before);
      state.must(route(3, { SectionName: 'l7' }));
      state.delete('api-gateway', 'gw');
      state.must(route(3));
      expect(state.set(gateway('tcp')).message).to.include(TOO_FAR);
      expect(state.delete('tcp-route', route(0)['Name'] as string).value).to.equal('{}');
      state.must(gateway('tcp'));
    });

    it('is limited by the services of routes', () => {
      const state = new ConfigState();
      state.must(proxies('http'));
      const Listeners = [{ Name: 'l', Port: 1, Protocol: 'http' }];
      state.must({ Kind: 'api-gateway', Name: 'gw', Listeners });
      const outcomes = [0, 1, 2, 3, 4].map((at) => state.set(httpRoute(at, 1_900)).value);
      expect(outcomes).to.deep.equal(['true', 'true', 'true', 'true', 'invalid']);
    });

    it('is limited by the hosts that are compared', () => {
      const state = new ConfigState();
      state.must(proxies('http'));
      state.must(gateway('http', '*.example.com'));
      const Hostnames = Array.from({ length: 2_000 }, (_, at) => `h${at}.example.org`);
      state.must(httpRoute(0, 1, { Hostnames }));
      const { message } = state.set(httpRoute(1, 1, { Hostnames }));
      expect(message).to.include(TOO_FAR);
    });

    it('is not limited below level 3, where older releases apply it too', () => {
      const state = new ConfigState(['default'], 2);
      state.must(gateway('tcp'));
      for (let at = 0; at < 5; at++) state.must(route(at));
    });
  });
});
