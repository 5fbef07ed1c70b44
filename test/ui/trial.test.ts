/** Where a request goes in a discovery chain. */
import { expect } from 'chai';
import type { Chain } from '../../src/api/endpoints/config.js';
import { nodesOf, pairsIn, type TrialRequest, trial } from '../../src/ui/chain/trial.js';

/** A chain whose routes lead to resolvers `r0`, `r1`, … */
const chainOf = (...matches: readonly object[]): Chain =>
  ({
    StartNode: 'router:web',
    Nodes: {
      'router:web': {
        Type: 'router',
        Name: 'web',
        Routes: matches.map((HTTP, nth) => ({
          Definition: { Match: { HTTP } },
          NextNode: `resolver:r${nth}`,
        })),
      },
    },
    Targets: {},
  }) as unknown as Chain;

const request = (given: Partial<TrialRequest> = {}): TrialRequest => ({
  path: '/admin/users',
  method: 'GET',
  headers: new Map([['x-user', 'ann']]),
  query: new Map([['debug', '1']]),
  ...given,
});
/** The route that takes the request; undefined for none. */
const routeOf = (match: object, given: Partial<TrialRequest> = {}): number | undefined =>
  trial(chainOf(match), request(given)).nth;

describe('ui: a request that is tried on a chain', () => {
  it('is taken by the first route that matches it', () => {
    const chain = chainOf({ PathPrefix: '/api' }, { PathPrefix: '/admin' }, {});
    const way = trial(chain, request());
    expect(way).to.deep.include({ is: 'route', nth: 1, unsure: [], share: 100 });
    expect(nodesOf(way)).to.deep.equal(['router:web', 'resolver:r1']);
    expect(trial(chain, request({ path: '/' })).nth).to.equal(2);
    expect(trial(chainOf({ PathPrefix: '/api' }), request()).is).to.equal('no_route');
  });

  for (const [match, isTaken] of [
    [{ PathExact: '/admin/users' }, true],
    [{ PathExact: '/admin' }, false],
    [{ PathPrefix: '/ADMIN' }, false],
    [{ PathPrefix: '/ADMIN', CaseInsensitive: true }, true],
    [{ Methods: ['PUT'] }, false],
    [{ Methods: ['PUT', 'GET'] }, true],
    [{ Header: [{ Name: 'X-User', Exact: 'ann' }] }, true],
    [{ Header: [{ Name: 'X-User', Exact: 'bob' }] }, false],
    [{ Header: [{ Name: 'X-User', Exact: 'bob', Invert: true }] }, true],
    [
      {
        Header: [
          { Name: 'x-user', Prefix: 'a' },
          { Name: 'x-user', Suffix: 'n' },
        ],
      },
      true,
    ],
    [{ Header: [{ Name: 'x-other', Present: true }] }, false],
    [{ Header: [{ Name: 'x-other', Present: true, Invert: true }] }, true],
    [{ Header: [{ Name: 'x-other', Exact: 'bob', Invert: true }] }, false],
    [{ Header: [{ Name: 'x-other', Regex: 'b.*', Invert: true }] }, false],
    [{ QueryParam: [{ Name: 'debug', Exact: '1' }] }, true],
    [{ QueryParam: [{ Name: 'debug', Present: true }], PathPrefix: '/api' }, false],
    [{ QueryParam: [{ Name: 'Debug', Present: true }] }, false],
  ] as const)
    it(`is ${isTaken ? '' : 'not '}taken by ${JSON.stringify(match)}`, () => {
      expect(routeOf(match)).to.equal(isTaken ? 0 : undefined);
    });

  it('goes by regular expressions only as far as something else decides', () => {
    const chain = chainOf(
      { PathRegex: '/a.*' },
      { PathRegex: '/a.*', Methods: ['PUT'] },
      { Header: [{ Name: 'x-none', Regex: '.' }] },
      {},
    );
    expect(trial(chain, request())).to.deep.include({ nth: 3, unsure: [0] });
  });

  it('is divided by splitters, and knows what comes after a target', () => {
    const chain = {
      StartNode: 'splitter:web',
      Nodes: {
        'splitter:web': {
          Type: 'splitter',
          Name: 'web',
          Splits: [
            { Weight: 90, NextNode: 'splitter:inner' },
            { Weight: 10, NextNode: 'resolver:b' },
          ],
        },
        'splitter:inner': {
          Type: 'splitter',
          Name: 'inner',
          Splits: [
            { Weight: 50, NextNode: 'resolver:a' },
            { Weight: 50, NextNode: 'splitter:web' },
          ],
        },
        'resolver:b': {
          Type: 'resolver',
          Name: 'b',
          Resolver: { Target: 'b', Failover: { Targets: ['c'] } },
        },
      },
      Targets: {},
    } as unknown as Chain;
    const way = trial(chain, request());
    expect(way.next[1]).to.deep.include({ node: 'resolver:b', share: 10, failover: ['c'] });
    expect(way.next[0]!.next[0]).to.deep.include({ node: 'resolver:a', share: 45 });
  });

  it('is read from lines', () => {
    const headers = pairsIn('X-User: ann\n\nx-empty\n x-a : b:c ', ':', (name) =>
      name.toLowerCase(),
    );
    expect([...headers]).to.deep.equal([
      ['x-user', 'ann'],
      ['x-empty', ''],
      ['x-a', 'b:c'],
    ]);
  });
});
