/** Config entries by chance, of all kinds, over a few names, so that they meet. */
import type { Random } from '../../cluster/checker/random.js';
import { decodeInSteps } from '../../src/kinds/decode.js';
import { providersNamed } from '../../src/kinds/references.js';
import type { ConfigEntry } from '../../src/kinds/types.js';
import type { Command } from '../../src/state/types.js';

type Body = { readonly Kind: string; readonly [field: string]: unknown };

const NAMES = ['web', 'api', 'db', 'Web'];
const GATEWAYS = ['gw1', 'gw2'];
const TIMES = ['2030-01-01T00:00:00Z', '2030-01-02T00:00:00Z'];
/** The kinds of which there is one for all namespaces. */
const GLOBAL = ['proxy-defaults', 'mesh', 'jwt-provider'];

/** Sets or deletes an entry. `n`: another number for each command. */
export function entryCommand(random: Random, n: number): Command {
  const ns = random.pick(['default', 'default', 'default', 'team']);
  for (;;) {
    const body = bodyOf(random, n);
    const home = GLOBAL.includes(body.Kind) ? 'default' : ns;
    const steps = decodeInSteps(body, { namespace: home });
    let step = steps.next();
    while (!step.done) step = steps.next();
    if (!step.value.ok) continue;
    const { entry } = step.value;
    const { Kind: kind, Name: name } = entry;
    const cas = random.chance(0.1) ? random.int(n + 1) : null;
    const isAbout = kind === 'jwt-provider' || providersNamed(entry).size > 0;
    const provider = isAbout ? { provider: true } : {};
    const base = { v: 1, at: random.pick(TIMES), datacenter: 'dc1', ns: home, kind, name, cas };
    const command = random.chance(0.25)
      ? { type: 'config.delete', ...base, ...(kind === 'jwt-provider' && provider) }
      : { type: 'config.set', ...base, ...provider, entry: JSON.stringify(entry as ConfigEntry) };
    return command as Command;
  }
}

const bodyOf = (random: Random, n: number): Body =>
  random.pick(random.pick([services, services, chains, gateways, routes])(random, n));

function services(random: Random, n: number): Body[] {
  const [Name, other] = [random.pick(NAMES), random.pick(NAMES)];
  const Protocol = random.pick(['http', 'http', 'tcp', 'grpc', '']);
  const jwt = { Providers: [{ Name: random.pick(['p1', 'p2']) }] };
  const mesh = { Kind: 'mesh', AllowEnablingPermissiveMutualTLS: random.chance(0.5) };
  const defaults = { Kind: 'service-defaults', Name, Protocol };
  const intentions = { Kind: 'service-intentions', Name };
  const permission = { Action: 'allow', HTTP: { PathExact: '/a' } };
  const key = { Local: { Filename: `/${n}` } };
  return [
    { ...defaults, Meta: { n: String(n) } },
    defaults,
    { ...defaults, ExternalSNI: 'x.example.com' },
    { ...defaults, MutualTLSMode: 'permissive' },
    { ...intentions, Sources: [{ Name: other, Action: 'allow' }] },
    { ...intentions, Sources: [{ Name: other, Permissions: [permission] }] },
    { ...intentions, Sources: [{ Name: other, Action: 'allow' }], JWT: jwt },
    { Kind: 'jwt-provider', Name: random.pick(['p1', 'p2']), JSONWebKeySet: key },
    { Kind: 'proxy-defaults', Name: 'global', Config: { protocol: Protocol || 'http' } },
    mesh,
    {
      Kind: 'exported-services',
      Name: 'default',
      Services: [{ Name: random.pick(['*', Name]), Consumers: [{ Peer: 'p' }] }],
    },
  ] as Body[];
}

function chains(random: Random, n: number): Body[] {
  const [Name, other, third] = [random.pick(NAMES), random.pick(NAMES), random.pick(NAMES)];
  const resolver = { Kind: 'service-resolver', Name };
  const splitter = { Kind: 'service-splitter', Name };
  const subsets = { v1: { Filter: 'Service.Meta.v == 1' }, v2: {} };
  const match = (HTTP: object) => ({ Match: { HTTP } });
  return [
    { ...resolver, ConnectTimeout: `${1 + (n % 9)}s` },
    { ...resolver, Redirect: { Service: other } },
    { ...resolver, Redirect: { Service: other, ServiceSubset: 'v1' } },
    { ...resolver, Redirect: { Service: other, Datacenter: 'dc2' } },
    { ...resolver, DefaultSubset: 'v1', Subsets: subsets },
    { ...resolver, Failover: { '*': { Service: other, Datacenters: ['dc1', 'dc2'] } } },
    { ...resolver, Failover: { '*': { Targets: [{ Service: other }, { Peer: 'p' }] } } },
    {
      ...splitter,
      Splits: [
        { Weight: 40, Service: other },
        { Weight: 60, Service: Name },
      ],
    },
    {
      ...splitter,
      Splits: [
        { Weight: 40, ServiceSubset: 'v1' },
        { Weight: 60, Service: other, ServiceSubset: 'v2' },
      ],
    },
    {
      Kind: 'service-router',
      Name,
      Routes: [
        { ...match({ PathPrefix: `/${n}` }), Destination: { Service: other } },
        {
          ...match({ PathExact: '/x' }),
          Destination: { Service: third, ServiceSubset: 'v2' },
        },
      ],
    },
  ] as Body[];
}

function gateways(random: Random): Body[] {
  const [Name, other] = [random.pick(NAMES), random.pick(NAMES)];
  const gateway = random.pick(GATEWAYS);
  const Protocol = random.pick(['http', 'tcp', 'grpc']);
  const Hostname = random.pick(['', '*', '*.example.com', 'a.example.com']);
  const TLS = { Certificates: [{ Kind: 'file-system-certificate', Name: 'c1' }] };
  const first = { Name: 'l1', Port: 1, Protocol: 'http' };
  const second = { Name: 'l2', Port: 2, Protocol: 'tcp' };
  const certificate = { Kind: 'file-system-certificate', Certificate: '/c', PrivateKey: '/k' };
  return [
    {
      Kind: 'ingress-gateway',
      Name: gateway,
      Listeners: [
        { Port: 80, Protocol, Services: [{ Name }] },
        { Port: 81, Protocol: 'http', Services: [{ Name: other }] },
      ],
    },
    { Kind: 'terminating-gateway', Name: gateway, Services: [{ Name }, { Name: '*' }] },
    { Kind: 'api-gateway', Name: gateway, Listeners: [{ ...first, Hostname }, second] },
    { Kind: 'api-gateway', Name: gateway, Listeners: [{ ...first, TLS }, second] },
    { ...certificate, Name: random.pick(['c1', 'c2']) },
  ] as Body[];
}

function routes(random: Random): Body[] {
  const [Name, other] = [random.pick(NAMES), random.pick(NAMES)];
  const parent = (...sections: string[]) => ({
    Kind: 'api-gateway',
    Name: random.pick(GATEWAYS),
    SectionName: random.pick(['', 'l1', 'l2', ...sections]),
  });
  const Services = random.chance(0.1) ? [] : [{ Name }, { Name: other }];
  return [
    {
      Kind: 'http-route',
      Name: random.pick(['r1', 'r2']),
      Parents: [parent('nope'), { Kind: 'api-gateway', Name: 'GW3' }],
      Hostnames: random.pick([[], ['a.example.com'], ['b.org']]),
      Rules: [{ Services }],
    },
    {
      Kind: 'tcp-route',
      Name: random.pick(['r1', 'r2', 'r3']),
      Parents: [parent()],
      Services: [{ Name }],
    },
  ] as Body[];
}
