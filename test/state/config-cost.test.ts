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
});
