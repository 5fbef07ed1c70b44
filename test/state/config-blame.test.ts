/** Which entry is at fault when a change breaks a discovery chain, by the level of the cluster. */
import { expect } from 'chai';
import {
  type Body,
  ConfigState,
  defaults,
  proxies,
  resolver,
  router,
  splitter,
} from './config-state.js';

interface Story {
  readonly title: string;
  readonly given: readonly Body[];
  readonly tried: Body;
  /** What is refused at level 3: the pointer into the written entry, and the whole text. */
  readonly pointer: string;
  readonly text: string;
  /** What precedes the text at level 3 if the chain has another head. */
  readonly lead?: string;
  /** The entry that is blamed below level 3. */
  readonly before: string;
}

const STORIES: readonly Story[] = [
  {
    title: 'a split to a missing subset, behind a router of the service',
    given: [proxies('http'), router('a')],
    tried: splitter('a', { Service: 'b' }, { ServiceSubset: 'v9' }),
    pointer: '/Splits/1',
    text: 'service "a" does not have a subset named "v9"',
    before: 'service-router "a"',
  },
  {
    title: 'a redirect to a missing subset, behind a splitter of the service',
    given: [proxies('http'), splitter('a', {})],
    tried: resolver('a', { Redirect: { Service: 'b', ServiceSubset: 'v9' } }),
    pointer: '/Redirect',
    text: 'service "b" does not have a subset named "v9"',
    before: 'service-splitter "a"',
  },
  {
    title: 'a failover to a missing subset, behind a splitter of the service',
    given: [proxies('http'), splitter('a', {})],
    tried: resolver('a', { Failover: { '*': { Service: 'b', ServiceSubset: 'v9' } } }),
    pointer: '/Failover',
    text: 'service "b" does not have a subset named "v9"',
    before: 'service-splitter "a"',
  },
  {
    title: 'a circle of redirects, behind a router of the service',
    given: [proxies('http'), router('b'), resolver('a', { Redirect: { Service: 'b' } })],
    tried: resolver('b', { Redirect: { Service: 'a' } }),
    pointer: '/Redirect',
    text: 'detected circular resolver redirect: [b -> a -> b]',
    before: 'service-router "b"',
  },
  {
    title: 'a circle of splitters, behind a router of the service',
    given: [proxies('http'), router('b'), splitter('a', { Service: 'b' })],
    tried: splitter('b', {}, { Service: 'a' }),
    pointer: '/Splits/1',
    text: 'detected circular reference: [b -> a -> b]',
    before: 'service-router "b"',
  },
  {
    title: 'services of two protocols, behind a router of the service',
    given: [proxies('http'), defaults('c', 'tcp'), router('a')],
    tried: splitter('a', { Service: 'b' }, { Service: 'c' }),
    pointer: '/Splits/1',
    text:
      'discovery chain "a" uses inconsistent protocols; ' +
      'service "c" has "tcp" which is not "http"',
    before: 'service-router "a"',
  },
  {
    title: 'subsets of a service with an external SNI, behind a router of the service',
    given: [proxies('http'), defaults('a', 'http', { ExternalSNI: 'a.example' }), router('a')],
    tried: resolver('a', { Subsets: { v1: {} } }),
    pointer: '/Subsets',
    text: 'service "a" has an external SNI set; cannot define subsets for external services',
    before: 'service-router "a"',
  },
  {
    title: 'a chain of another service alone',
    given: [proxies('http'), defaults('x', 'grpc'), splitter('a', {}, { Service: 'b' })],
    tried: splitter('b', { Service: 'x' }),
    pointer: '/Splits/0',
    text:
      'discovery chain "a" uses inconsistent protocols; ' +
      'service "x" has "grpc" which is not "http"',
    lead:
      'cannot write service-splitter "b" like this, ' +
      'service-splitter "a" leads to it and breaks: ',
    before: 'service-splitter "a"',
  },
];

describe('state: the entry at fault for a broken chain', () => {
  for (const { title, given, tried, pointer, text, lead = '', before } of STORIES) {
    const written = `cannot write ${tried.Kind} "${tried['Name']}" like this`;
    const outcomeAt = (level: number) => {
      const state = new ConfigState(['default'], level);
      for (const body of given) state.must(body);
      return state.set(tried);
    };

    it(`${title}: the written entry`, () => {
      const message = `${lead}${text}`;
      expect(outcomeAt(3)).to.deep.equal({ value: 'invalid', message, pointer, changed: [] });
    });

    it(`${title}: below level 3 the head of the chain, in the words of older releases`, () => {
      const message = `${written}, ${before} needs it otherwise: ${text}`;
      for (const level of [1, 2]) {
        expect(outcomeAt(level)).to.deep.equal({ value: 'conflict', message, changed: [] });
      }
    });
  }

  it('stays the other entry if that one names what the written entry no longer has', () => {
    const state = new ConfigState();
    state.must(proxies('http'));
    state.must(resolver('a', { Subsets: { v1: {} } }));
    state.must(splitter('b', { Service: 'a', ServiceSubset: 'v1' }));
    for (const { value, message } of [
      state.set(resolver('a', { ConnectTimeout: '1s' })),
      state.delete('service-resolver', 'a'),
    ]) {
      expect(value).to.equal('conflict');
      expect(message).to.contain('service-splitter "b"');
    }
  });

  it('is told without the head of the chain to those who may not read that', () => {
    const { lead, text, tried, given } = STORIES.at(-1)!;
    const state = new ConfigState();
    for (const body of given) state.must(body);
    const { value, message } = state.set(tried);
    expect(value).to.equal('invalid');
    expect(message).to.equal(`${lead}${text}`);
    expect(state.about).to.deep.equal({
      kind: 'conflict',
      entry: { kind: 'service-splitter', name: 'a' },
      unnamed:
        'cannot write service-splitter "b" like this, ' +
        'an entry that the token may not read leads to it and breaks',
    });
  });
});
