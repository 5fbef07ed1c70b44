import { expect } from 'chai';
import type { Chain } from '../../src/api/endpoints/config.js';
import { graphOf } from '../../src/ui/chain/graph.js';

const target = (Service: string, Namespace = 'default') => ({
  ID: Service,
  Service,
  Namespace,
  Datacenter: 'dc1',
  Subset: {},
  MeshGateway: {},
});
const CHAIN: Chain = {
  ServiceName: 'web',
  Namespace: 'default',
  Datacenter: 'dc1',
  Protocol: 'http',
  StartNode: 'router:web',
  Nodes: {
    'router:web': {
      Type: 'router',
      Name: 'web',
      Routes: [
        {
          Definition: { Match: { HTTP: { PathPrefix: '/admin' } } },
          NextNode: 'resolver:admin.default.default.dc1',
        },
        { Definition: {}, NextNode: 'splitter:web' },
      ],
    },
    'splitter:web': {
      Type: 'splitter',
      Name: 'web',
      Splits: [
        { Weight: 90, NextNode: 'resolver:v1.web.default.default.dc1' },
        { Weight: 5, NextNode: 'resolver:web.default.default.dc2' },
        { Weight: 5, NextNode: 'resolver:web.team.default.dc1' },
      ],
    },
    'resolver:admin.default.default.dc1': {
      Type: 'resolver',
      Name: 'admin.default.default.dc1',
      Resolver: { Default: true, ConnectTimeout: '5s', Target: 'admin.default.default.dc1' },
    },
    'resolver:v1.web.default.default.dc1': {
      Type: 'resolver',
      Name: 'v1.web.default.default.dc1',
      Resolver: {
        Default: false,
        ConnectTimeout: '5s',
        Target: 'v1.web.default.default.dc1',
        Failover: { Targets: ['admin.default.default.dc1'] },
      },
    },
    'resolver:web.default.default.dc2': {
      Type: 'resolver',
      Name: 'web.default.default.dc2',
      Resolver: { Default: false, ConnectTimeout: '5s', Target: 'web.default.default.dc2' },
    },
    'resolver:web.team.default.dc1': {
      Type: 'resolver',
      Name: 'web.team.default.dc1',
      Resolver: { Default: true, ConnectTimeout: '5s', Target: 'web.team.default.dc1' },
    },
  },
  Targets: {
    'admin.default.default.dc1': target('admin'),
    'v1.web.default.default.dc1': target('web'),
    'web.default.default.dc2': target('web'),
    'web.team.default.dc1': target('web', 'team'),
  },
};

describe('ui: the picture of a chain', () => {
  const { boxes, edges } = graphOf(CHAIN);
  const boxOf = (id: string) => boxes.find((box) => box.id === id)!;

  it('names matches, weights and failovers on the ways', () => {
    const labels = edges.map(({ to, label }) => [to, label]);
    expect(labels).to.deep.include.members([
      ['resolver:admin.default.default.dc1', 'PathPrefix /admin'],
      ['splitter:web', 'PathPrefix /'],
      ['resolver:v1.web.default.default.dc1', '90 %'],
      ['admin.default.default.dc1', 'failover 1'],
    ]);
  });

  it('gives each step a place of its own, after those that lead to it', () => {
    const places = boxes.map(({ column, row }) => `${column} ${row}`);
    expect(new Set(places).size).to.equal(boxes.length);
    for (const { from, to } of edges)
      expect(boxOf(from).column, `${from} ${to}`).to.be.below(boxOf(to).column);
  });

  it('puts a step below those that the way to it passes by', () => {
    expect(boxOf('resolver:admin.default.default.dc1').row).to.be.above(boxOf('splitter:web').row);
  });

  it('leaves out what goes without saying, and knows the service of a step', () => {
    expect(boxOf('resolver:v1.web.default.default.dc1').name).to.equal('v1.web');
    expect(boxOf('web.default.default.dc2').name).to.equal('web.default.default.dc2');
    expect(boxOf('web.default.default.dc2').service).to.equal('web');
  });

  it('knows the namespace of a step that is not in that of the chain', () => {
    for (const id of ['resolver:web.team.default.dc1', 'web.team.default.dc1'])
      expect(boxOf(id).namespace).to.equal('team');
    for (const id of ['router:web', 'splitter:web', 'web.default.default.dc2'])
      expect(boxOf(id).namespace).to.equal(undefined);
  });
});
