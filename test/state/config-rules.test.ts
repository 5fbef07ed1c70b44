/** Rules between entries, as cases: what exists, what is tried, and why it is refused. */
import { expect } from 'chai';
import type { Kind } from '../../src/kinds/types.js';
import {
  type Body,
  ConfigState,
  defaults,
  exported,
  ingress,
  intentions,
  proxies,
  resolver,
  router,
  splitter,
} from './config-state.js';

const gone = (kind: Kind, name: string) => ({ gone: kind, name });
type Gone = ReturnType<typeof gone>;
type Step = Body | Gone;
const isGone = (step: Step): step is Gone => 'gone' in step;

interface Story {
  readonly title: string;
  readonly given?: readonly Step[];
  readonly tried: Step;
  /** Part of the error text; if absent, the change is accepted. */
  readonly refused?: string;
  /** The code of the refusal; `invalid` by default. */
  readonly code?: string;
}

const NO_ROUTING =
  'uses a protocol "tcp" that does not permit advanced routing or splitting behavior';

const STORIES: readonly Story[] = [
  // protocols
  {
    title: 'a router needs http',
    tried: router('a'),
    refused: `discovery chain "a" ${NO_ROUTING}`,
  },
  { title: 'a splitter needs http', tried: splitter('a', {}), refused: NO_ROUTING },
  { title: 'grpc is http-like', given: [defaults('a', 'grpc')], tried: splitter('a', {}) },
  { title: 'a resolver may have any protocol', tried: resolver('a', { Subsets: { v1: {} } }) },
  {
    title: "a router's protocol cannot be changed to a non-http one",
    given: [defaults('a', 'http'), router('a')],
    tried: defaults('a', 'tcp'),
    refused: 'service-router "a" needs it otherwise: discovery chain "a"',
    code: 'conflict',
  },
  {
    title: 'service-defaults cannot be deleted while a router needs them',
    given: [defaults('a', 'http'), router('a')],
    tried: gone('service-defaults', 'a'),
    refused: 'cannot delete service-defaults "a", service-router "a" still needs it',
    code: 'conflict',
  },
  {
    title: 'a chain can be deleted from the top down',
    given: [defaults('a', 'http'), router('a'), gone('service-router', 'a')],
    tried: gone('service-defaults', 'a'),
  },
  {
    title: 'proxy-defaults set the protocol of services without an entry',
    given: [proxies('http')],
    tried: router('a'),
  },
  {
    title: 'an entry without a protocol is tcp, whatever the proxy-defaults say',
    given: [proxies('http'), defaults('a', '')],
    tried: router('a'),
    refused: NO_ROUTING,
  },
  {
    title: 'proxy-defaults cannot be deleted while a router depends on them',
    given: [proxies('http'), router('a')],
    tried: gone('proxy-defaults', 'global'),
    refused: 'service-router "a" still needs it',
    code: 'conflict',
  },
  {
    title: 'proxy-defaults may change to another http-like protocol',
    given: [proxies('http'), router('a')],
    tried: proxies('grpc'),
  },
  {
    title: 'a chain has only one protocol',
    given: [defaults('a', 'http'), defaults('b', 'grpc')],
    tried: router('a', { Service: 'b' }),
    refused:
      'discovery chain "a" uses inconsistent protocols; service "b" has "grpc" which is not "http"',
  },
  {
    title: 'a service deep in a chain keeps its protocol',
    given: [
      ...[defaults('a', 'http'), defaults('b', 'http'), defaults('c', 'http')],
      ...[splitter('b', { Service: 'c' }), router('a', { Service: 'b' })],
      gone('service-splitter', 'b'),
      ...[resolver('b', { Redirect: { Service: 'c' } })],
    ],
    tried: defaults('c', 'tcp'),
    refused: 'uses inconsistent protocols; service "c" has "tcp"',
    code: 'conflict',
  },
  {
    title: 'a splitter takes the protocol of the services it sends to',
    given: [defaults('a', 'http')],
    tried: splitter('c', { Service: 'a' }),
  },
  {
    title: "a splitter's own entry does not count unless it sends to itself",
    given: [defaults('a', 'http'), defaults('c', 'tcp')],
    tried: splitter('c', { Service: 'a' }),
  },
  {
    title: 'a splitter that also sends to itself needs http itself',
    given: [defaults('a', 'http')],
    tried: splitter('c', { Service: 'a' }, {}),
    refused: 'discovery chain "c" uses inconsistent protocols; service "c" has "tcp"',
  },
  {
    title: 'a router in front of such a splitter needs http itself',
    given: [defaults('a', 'http'), splitter('c', { Service: 'a' })],
    tried: router('c'),
    refused: 'discovery chain "c" uses inconsistent protocols',
  },
  {
    title: 'permissions follow the chain of a splitter, whichever is written first',
    given: [defaults('a', 'http'), splitter('c', { Service: 'a' })],
    tried: intentions('c'),
  },
  {
    title: 'an external service may not be redirected to itself',
    given: [defaults('c', 'http', { ExternalSNI: 'x.example' })],
    tried: resolver('c', { Redirect: { Service: 'c' } }),
    refused: 'service "c" has an external SNI set; cannot define redirects for external services',
  },
  {
    title: 'an external service may not be redirected to another datacenter',
    given: [resolver('c', { Redirect: { Datacenter: 'dc2' } })],
    tried: defaults('c', 'http', { ExternalSNI: 'x.example' }),
    refused: 'service "c" has an external SNI set; cannot define redirects for external services',
    code: 'conflict',
  },
  {
    title: 'an external service may be redirected to another service',
    given: [defaults('c', 'tcp', { ExternalSNI: 'x.example' })],
    tried: resolver('c', { Redirect: { Service: 'b' } }),
  },
  {
    title: 'the protocol of peers is not checked',
    given: [defaults('a', 'http')],
    tried: resolver('a', { Redirect: { Service: 'b', Peer: 'east' } }),
  },
  // subsets
  {
    title: 'a splitter may name only existing subsets',
    given: [defaults('a', 'http')],
    tried: splitter('a', { ServiceSubset: 'v1' }),
    refused: 'service "a" does not have a subset named "v1"',
  },
  {
    title: 'names that objects inherit are not subsets',
    given: [defaults('a', 'http'), resolver('a', { Subsets: { v1: {} } })],
    tried: splitter('a', { ServiceSubset: 'constructor' }),
    refused: 'does not have a subset named "constructor"',
  },
  {
    title: 'a subset in use cannot be deleted with its resolver',
    given: [
      ...[defaults('a', 'http'), defaults('b', 'http'), resolver('b', { Subsets: { v1: {} } })],
      router('a', { Service: 'b', ServiceSubset: 'v1' }),
    ],
    tried: gone('service-resolver', 'b'),
    refused: 'cannot delete service-resolver "b", service-router "a" still needs it',
    code: 'conflict',
  },
  {
    title: 'redirects may name only existing subsets',
    tried: resolver('a', { Redirect: { Service: 'b', ServiceSubset: 'v1' } }),
    refused: 'service "b" does not have a subset named "v1"',
  },
  {
    title: 'failovers may name only existing subsets',
    tried: resolver('a', {
      Failover: { '*': { Targets: [{ Service: 'b', ServiceSubset: 'v1' }] } },
    }),
    refused: 'service "b" does not have a subset named "v1"',
  },
  {
    title: 'names are compared ignoring letter case',
    given: [resolver('B', { Subsets: { v1: {} } })],
    tried: resolver('a', { Redirect: { Service: 'b', ServiceSubset: 'v1' } }),
  },
  // cycles
  {
    title: 'redirects may not form a cycle',
    given: [
      resolver('a', { Redirect: { Service: 'b' } }),
      resolver('b', { Redirect: { Service: 'c' } }),
    ],
    tried: resolver('c', { Redirect: { Service: 'a' } }),
    refused: 'detected circular resolver redirect: [',
  },
  {
    title: 'a redirect to the service itself is not a cycle',
    tried: resolver('a', { Redirect: { Service: 'a' } }),
  },
  {
    title: 'splitters may not form a cycle',
    given: [defaults('a', 'http'), defaults('b', 'http'), splitter('a', { Service: 'b' })],
    tried: splitter('b', { Service: 'a' }),
    refused: 'detected circular reference: [',
  },
  // external SNI
  {
    title: 'a service with an external SNI may not have subsets',
    given: [defaults('a', '', { ExternalSNI: 'x.example' })],
    tried: resolver('a', { Subsets: { v1: {} } }),
    refused: 'service "a" has an external SNI set; cannot define subsets for external services',
  },
  {
    title: 'a service with failover may not get an external SNI',
    given: [resolver('a', { Failover: { '*': { Service: 'b' } } })],
    tried: defaults('a', '', { ExternalSNI: 'x.example' }),
    refused: 'cannot define failover for external services',
    code: 'conflict',
  },
  {
    title: 'a redirect bypasses the external SNI of its own service',
    given: [defaults('a', '', { ExternalSNI: 'x.example' })],
    tried: resolver('a', { Redirect: { Service: 'c' } }),
  },
  // gateways
  {
    title: 'a listener has the protocol of its services',
    tried: ingress('gw', 'http', 'a'),
    refused:
      'service "a" has protocol "tcp", which does not match defined listener protocol "http"',
  },
  {
    title: 'a service behind an http listener keeps its protocol',
    given: [defaults('a', 'http'), ingress('gw', 'http', 'a')],
    tried: gone('service-defaults', 'a'),
    refused: 'ingress-gateway "gw" still needs it',
    code: 'conflict',
  },
  {
    title: 'a service behind a tcp listener may change to http while nothing routes it',
    given: [ingress('gw', 'tcp', 'a')],
    tried: defaults('a', 'http'),
  },
  {
    title: 'such a service may not be routed',
    given: [ingress('gw', 'tcp', 'a'), defaults('a', 'http')],
    tried: splitter('a', {}),
    refused: 'does not match defined listener protocol "tcp"',
    code: 'conflict',
  },
  {
    title: 'a terminating-gateway may not have the name of an ingress-gateway',
    given: [{ Kind: 'ingress-gateway', Name: 'gw' }],
    tried: { Kind: 'terminating-gateway', Name: 'GW' },
    refused: 'a "ingress-gateway" config entry with that name already exists',
    code: 'conflict',
  },
  // intentions
  {
    title: 'permissions need http',
    tried: intentions('a'),
    refused: 'incompatible with L7 intentions',
  },
  {
    title: 'a service with permissions stays http',
    given: [defaults('a', 'http'), intentions('a')],
    tried: defaults('a', 'tcp'),
    refused: 'service "a" has protocol "tcp", which is incompatible with L7 intentions permissions',
    code: 'conflict',
  },
  {
    title: 'permissions may also depend on proxy-defaults',
    given: [proxies('http'), intentions('a')],
    tried: proxies(),
    refused: 'service-intentions "a" needs it otherwise',
    code: 'conflict',
  },
  // permissive mTLS
  {
    title: 'permissive mutual TLS must be allowed by the mesh',
    tried: defaults('a', '', { MutualTLSMode: 'permissive' }),
    refused: 'cannot set MutualTLSMode=permissive because AllowEnablingPermissiveMutualTLS=false',
  },
  {
    title: 'permissive mutual TLS is accepted once the mesh allows it',
    given: [{ Kind: 'mesh', AllowEnablingPermissiveMutualTLS: true }],
    tried: proxies(undefined, { MutualTLSMode: 'permissive' }),
  },
  {
    title: 'a permissive entry may stay permissive',
    given: [
      { Kind: 'mesh', AllowEnablingPermissiveMutualTLS: true },
      defaults('a', '', { MutualTLSMode: 'permissive' }),
      gone('mesh', 'mesh'),
    ],
    tried: defaults('a', '', { MutualTLSMode: 'permissive', Meta: { a: 'b' } }),
  },
  // exports
  {
    title: 'an exported service may not redirect to another datacenter',
    given: [exported('a')],
    tried: resolver('a', { Redirect: { Datacenter: 'dc2' } }),
    refused: 'peer exported service "a" contains cross-datacenter resolver redirect',
    code: 'conflict',
  },
  {
    title: 'the local datacenter does not count as another',
    given: [exported('a')],
    tried: resolver('a', { Failover: { '*': { Datacenters: ['dc1'] } } }),
  },
  {
    title: 'an exported service may not fail over to another datacenter',
    given: [defaults('a', 'http'), exported('*')],
    tried: resolver('a', { Failover: { '*': { Targets: [{ Datacenter: 'dc2' }] } } }),
    refused: 'contains cross-datacenter failover',
    code: 'conflict',
  },
  {
    title: 'a chain that leaves the datacenter may not be exported',
    given: [resolver('a', { Redirect: { Datacenter: 'dc2' } })],
    tried: exported('a'),
    refused: 'contains cross-datacenter resolver redirect',
  },
  {
    title: 'an exported tcp chain may not gain targets',
    given: [exported('a')],
    tried: resolver('a', { Redirect: { Service: 'b' } }),
    refused: 'uses protocol="tcp" and cannot introduce new discovery chain targets like "b"',
    code: 'conflict',
  },
  {
    title: 'a tcp chain may not gain targets either if all services are exported',
    given: [exported('*')],
    tried: resolver('a', { Redirect: { Service: 'b' } }),
    refused: 'uses protocol="tcp" and cannot introduce new discovery chain targets like "b"',
    code: 'conflict',
  },
  {
    title: 'an exported tcp service may fail over to another',
    given: [exported('c')],
    tried: resolver('c', { Failover: { '*': { Service: 'b' } } }),
  },
  {
    title: 'an exported tcp service may fail over to targets, also of a peer',
    given: [exported('*')],
    tried: resolver('c', {
      Failover: { '*': { Targets: [{ Service: 'b' }, { Service: 'c', Peer: 'west' }] } },
    }),
  },
  {
    title: 'an exported tcp service may have a default subset',
    given: [exported('c')],
    tried: resolver('c', { Subsets: { v1: {} }, DefaultSubset: 'v1' }),
  },
  {
    title: 'an exported tcp service may redirect to a subset of its own',
    given: [exported('c')],
    tried: resolver('c', {
      Subsets: { v1: {} },
      Redirect: { Service: 'c', ServiceSubset: 'v1' },
    }),
  },
  {
    title: 'an exported http chain may gain targets',
    given: [exported('a'), defaults('a', 'http'), defaults('b', 'http')],
    tried: splitter('a', { Service: 'b' }),
  },
];

function run(state: ConfigState, step: Step) {
  return isGone(step) ? state.delete(step.gone, step.name) : state.set(step);
}

describe('state: the check between config entries', () => {
  for (const { title, given = [], tried, refused, code = 'invalid' } of STORIES) {
    it(title, () => {
      const state = new ConfigState();
      for (const step of given) {
        const { value, message } = run(state, step);
        expect(['true', '{}'], `${JSON.stringify(step)}: ${message}`).to.include(value);
      }
      const before = new Map(state.store.map);
      const { value, message } = run(state, tried);
      if (refused === undefined) {
        expect(['true', '{}'], message).to.include(value);
        return;
      }
      expect(message).to.contain(refused);
      expect(value).to.equal(code);
      expect(state.store.map, 'nothing changed').to.deep.equal(before);
    });
  }

  it('checks the services of every namespace when the proxy-defaults change', () => {
    const state = new ConfigState(['default', 'team']);
    state.must(proxies('http'));
    state.must(router('a'), { ns: 'team' });
    expect(state.delete('proxy-defaults', 'global').value).to.equal('conflict');
  });

  it('refuses excessively long chains without overflowing', () => {
    const state = new ConfigState();
    state.must(proxies('http'));
    let refusedAt = 0;
    for (let i = 0; i < 200 && refusedAt === 0; i += 1) {
      const { value, message } = state.set(splitter(`s${i}`, { Service: `s${i - 1}` }));
      if (value !== 'true') {
        expect(message).to.contain('is longer than 64 hops');
        refusedAt = i;
      }
    }
    expect(refusedAt).to.be.within(60, 70);
  });
});
