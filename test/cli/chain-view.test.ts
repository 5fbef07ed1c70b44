import { expect } from 'chai';
import type { Chain } from '../../src/api/endpoints/config.js';
import { chainView } from '../../src/cli/print/chain-view.js';

const target = (Service: string, more: object = {}) => ({
  ID: Service,
  Service,
  Namespace: 'default',
  Datacenter: 'dc1',
  Subset: {},
  MeshGateway: {},
  ...more,
});
const base = { Namespace: 'default', Datacenter: 'dc1', Protocol: 'http' };

describe('config chain', () => {
  it('draws routers, splitters, resolvers and what they lead to', () => {
    const chain: Chain = {
      ...base,
      ServiceName: 'web',
      StartNode: 'router:web',
      Nodes: {
        'router:web': {
          Type: 'router',
          Name: 'web',
          Routes: [
            {
              Definition: { Match: { HTTP: { PathPrefix: '/admin', Methods: ['GET', 'PUT'] } } },
              NextNode: 'resolver:admin',
            },
            {
              Definition: { Match: { HTTP: { PathExact: '/x', Header: [{ Name: 'debug' }] } } },
              NextNode: 'splitter:web',
            },
            { Definition: {}, NextNode: 'splitter:web' },
          ],
        },
        'splitter:web': {
          Type: 'splitter',
          Name: 'web',
          Splits: [
            { Weight: 90.5, NextNode: 'resolver:v1' },
            { Weight: 9.5, NextNode: 'resolver:far' },
          ],
        },
        'resolver:admin': {
          Type: 'resolver',
          Name: 'admin',
          Resolver: { Default: true, ConnectTimeout: '5s', Target: 'admin' },
        },
        'resolver:v1': {
          Type: 'resolver',
          Name: 'v1',
          Resolver: {
            Default: false,
            ConnectTimeout: '5s',
            Target: 'v1',
            Failover: { Targets: ['far', 'peer'] },
          },
        },
        'resolver:far': {
          Type: 'resolver',
          Name: 'far',
          Resolver: { Default: false, ConnectTimeout: '5s', Target: 'far' },
        },
      },
      Targets: {
        admin: target('admin'),
        v1: target('web', {
          ServiceSubset: 'v1',
          Subset: { Filter: 'Service.Meta.v == 1', OnlyPassing: true },
        }),
        far: target('web', { Datacenter: 'dc2' }),
        peer: target('web', { Peer: 'east' }),
      },
    };
    expect(chainView(chain)).to.equal(
      [
        'web (http)',
        '└─ router web',
        '   ├─ GET, PUT; path /admin…',
        '   │  └─ resolver admin: admin, by default',
        '   ├─ path /x; header debug',
        '   │  └─ splitter web',
        '   │     ├─ 90.5 %',
        '   │     │  └─ resolver v1: web, subset v1 (Service.Meta.v == 1), only passing',
        '   │     │     ├─ if none is healthy: web, in dc2',
        '   │     │     └─ if none is healthy: web, of peer east',
        '   │     └─ 9.5 %',
        '   │        └─ resolver far: web, in dc2',
        '   └─ any request',
        '      └─ splitter web (drawn above)',
        '',
      ].join('\n'),
    );
  });

  it('shows names of the server as text', () => {
    const name = 'a\u001b[2J';
    const chain: Chain = {
      ...base,
      Namespace: 'team',
      ServiceName: name,
      StartNode: 'resolver:a',
      Nodes: {
        'resolver:a': {
          Type: 'resolver',
          Name: name,
          Resolver: { Default: true, ConnectTimeout: '5s', Target: 'a' },
        },
      },
      Targets: {},
    };
    expect(chainView(chain)).to.equal(
      'a\\u001b[2J in team (http)\n└─ resolver a\\u001b[2J: a, by default\n',
    );
  });
});
