/** Any sequence of writes and deletes leaves a consistent state. */
import { expect } from 'chai';
import fc from 'fast-check';
import { type Chain, type ChainEntries, compileChain } from '../../src/kinds/chain.js';
import { chainGraph } from '../../src/kinds/chain-graph.js';
import { targetsOf } from '../../src/kinds/references.js';
import type { ConfigEntry, Kind } from '../../src/kinds/types.js';
import { Entries } from '../../src/state/config-entries.js';
import { keys } from '../../src/state/keys.js';
import { type Body, ConfigState } from './config-state.js';

const NAMES = ['a', 'B', 'c', 'constructor'];
const name = fc.constantFrom(...NAMES);
const protocol = fc.constantFrom('', 'tcp', 'http', 'grpc');
const subset = fc.constantFrom(undefined, 'v1', 'v2');
const without = <T extends object>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const to = fc.record({ Service: name, ServiceSubset: subset });
const bodies: fc.Arbitrary<Body> = fc.oneof(
  fc.record({ Name: name, Protocol: protocol }).map((one) => ({
    ...{ Kind: 'service-defaults' as const },
    ...one,
  })),
  protocol.map((one) => ({ Kind: 'proxy-defaults' as const, Config: { protocol: one } })),
  fc.record({ Name: name, to: fc.array(to, { maxLength: 2 }) }).map((one) => ({
    ...{ Kind: 'service-router' as const, Name: one.Name },
    Routes: one.to.map((Destination) => ({ Destination })),
  })),
  fc.record({ Name: name, to }).map((one) => ({
    ...{ Kind: 'service-splitter' as const, Name: one.Name },
    Splits: [{ Weight: 100, ...one.to }],
  })),
  fc
    .record({ Name: name, redirect: fc.option(name), failover: fc.option(to), known: fc.boolean() })
    .map((one) => ({
      ...{ Kind: 'service-resolver' as const, Name: one.Name },
      ...(one.known ? { Subsets: { v1: {}, v2: {} } } : {}),
      ...(one.redirect !== null ? { Redirect: { Service: one.redirect } } : {}),
      ...(one.redirect === null && one.failover !== null
        ? { Failover: { '*': one.failover } }
        : {}),
    })),
  fc.record({ Name: name, Service: name, Protocol: fc.constantFrom('tcp', 'http') }).map((one) => ({
    ...{ Kind: 'ingress-gateway' as const, Name: one.Name },
    Listeners: [{ Port: 1, Protocol: one.Protocol, Services: [{ Name: one.Service }] }],
  })),
  fc.record({ Name: name, Protocol: fc.constantFrom('tcp', 'http') }).map((one) => ({
    ...{ Kind: 'api-gateway' as const, Name: one.Name },
    Listeners: [{ Name: 'l', Port: 1, Protocol: one.Protocol }],
  })),
  fc.record({ Name: name, gateway: name, service: name }).map((one) => ({
    ...{ Kind: 'tcp-route' as const, Name: one.Name },
    ...{ Parents: [{ Name: one.gateway }], Services: [{ Name: one.service }] },
  })),
);
const CHANGED: readonly Kind[] = [
  ...(['service-defaults', 'service-router', 'service-splitter', 'service-resolver'] as const),
  ...(['ingress-gateway', 'api-gateway', 'tcp-route'] as const),
];
const deletes = fc.record({ kind: fc.constantFrom(...CHANGED), name });
const steps = fc.array(fc.oneof({ weight: 3, arbitrary: bodies }, deletes), { maxLength: 25 });

function play(state: ConfigState, step: Body | { kind: Kind; name: string }): void {
  if (!('Kind' in step)) {
    state.delete(step.kind as Kind, step.name as string);
    return;
  }
  try {
    state.set(without(step) as Body);
  } catch (error) {
    // The body itself was refused, before there was a command.
    if (!(error instanceof Error) || error.constructor !== Error) throw error;
  }
}

const storedEntries = (state: ConfigState): (ConfigEntry & { ModifyIndex: number })[] =>
  [...state.store.keys('config\u0000')].map((key) => JSON.parse(state.store.get(key)!));

describe('state: config entries, any sequence of writes', () => {
  it('leaves chains that compile, correct references, and indexes that cover their entries', () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const state = new ConfigState();
        for (const step of sequence) play(state, step);
        const entries = storedEntries(state);
        const lookup = new Entries(state.store, 'default');
        const references: string[] = [];
        for (const entry of entries) {
          const listed = state.store.get(keys.index('config', 'default', entry.Kind));
          expect(Number(listed)).to.be.at.least(entry.ModifyIndex);
          for (const target of targetsOf(entry)) {
            references.push(keys.configRef('default', target, entry.Kind, entry.Name));
          }
        }
        for (const service of NAMES) {
          const compiled = compileChain(lookup, service);
          expect(compiled.ok, compiled.ok ? '' : compiled.fault).to.equal(true);
          if (compiled.ok) mustShow(lookup, service, compiled.chain);
        }
        expect([...state.store.keys('config-ref\u0000')]).to.deep.equal(references.sort());
      }),
      { numRuns: 300 },
    );
  });

  it('leaves a bound-api-gateway for every api-gateway, and up-to-date statuses', () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const state = new ConfigState();
        for (const step of sequence) play(state, step);
        const entries = storedEntries(state);
        const named = (kind: Kind) => entries.filter((one) => one.Kind === kind);
        const names = (kind: Kind) => named(kind).map((one) => one.Name);
        expect(names('bound-api-gateway')).to.deep.equal(names('api-gateway'));
        for (const kind of ['api-gateway', 'tcp-route'] as const) {
          for (const entry of named(kind)) {
            const before = state.text(kind, entry.Name);
            // A change and its reversal: everything that depends on the entry is computed again.
            state.must({ ...(entry as Body), Meta: { touched: 'yes' } });
            state.must(entry as Body);
            const stripped = (text = '') => text.replace(/"(Modify|Create)Index":\d+/g, '');
            expect(stripped(state.text(kind, entry.Name))).to.equal(stripped(before));
          }
        }
      }),
      { numRuns: 100 },
    );
  });
});

/** The chain as it is answered ends where the compiled one does, and is whole. */
function mustShow(entries: ChainEntries, service: string, chain: Chain): void {
  const shown = chainGraph(entries, service, { namespace: 'default', datacenter: 'dc1' });
  if (!shown.ok) throw new Error(shown.fault);
  const { Nodes, Protocol, StartNode, Targets } = shown.graph;
  expect(Protocol).to.equal(chain.protocol);
  expect(StartNode.split(':')[0]).to.equal(chain.startsAt);
  const ends = new Set<string>();
  for (const [key, node] of Object.entries(Nodes)) {
    expect(key).to.equal(`${node.Type}:${node.Name}`);
    if (node.Type === 'resolver') {
      ends.add(Targets[node.Resolver.Target]!.Service.toLowerCase());
      for (const target of node.Resolver.Failover?.Targets ?? [])
        expect(Targets).to.have.property(target);
      continue;
    }
    const next = node.Type === 'router' ? node.Routes : node.Splits;
    for (const { NextNode } of next) {
      expect(Nodes).to.have.property(NextNode);
      if (node.Type === 'splitter') expect(Nodes[NextNode]!.Type).to.equal('resolver');
    }
    if (node.Type !== 'splitter') continue;
    const sum = node.Splits.reduce((total, { Weight }) => total + Weight, 0);
    expect(sum).to.be.closeTo(100, 0.01);
  }
  expect([...ends].sort()).to.deep.equal([...chain.ends].sort());
}
