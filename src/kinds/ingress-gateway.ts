/** `ingress-gateway`: services that are reachable from outside the mesh. */

import {
  always,
  boolean,
  type Infer,
  ifSent,
  list,
  type Normal,
  neededList,
  neededText,
  nonEmpty,
  object,
  type Rule,
  text,
  textLike,
  uint32,
  whole,
} from '../languages/fields.js';
import {
  all,
  among,
  any,
  every,
  holds,
  inside,
  needs,
  not,
  rule,
  ruled,
  set,
  when,
} from '../languages/rules.js';
import {
  headerChanges,
  healthCheckProblems,
  metaField,
  metaProblems,
  type Path,
  passiveHealthCheck,
} from './common.js';
import { defineKind } from './definition.js';
import { HOST_NAME, isDomainName } from './host-names.js';
import { OF_GATEWAY } from './permissions.js';
import { type Problem, problem } from './problems.js';
import { target } from './targets.js';
import { tlsFields, tlsProblem, tlsRules } from './tls.js';

const PROTOCOLS = ['tcp', 'http', 'http2', 'grpc'];

const sds = object({
  ClusterName: nonEmpty(
    'The Envoy cluster that serves certificates over SDS.',
    text(),
    'cluster_name',
  ),
  CertResource: nonEmpty('The name of the certificate in that cluster.', text(), 'cert_resource'),
});
const clusterOfResource = needs('CertResource', 'ClusterName');
const resourceOfCluster = needs('ClusterName', 'CertResource');
/** TLS settings of a gateway or a listener. `between` are the rules of their source. */
const tlsWith = (...between: Rule[]) =>
  ruled(
    object({
      Enabled: always('Whether listeners accept TLS.', boolean),
      SDS: ifSent(
        'The source of the certificates, instead of the built-in CA.',
        ruled(sds, ...between),
      ),
      ...tlsFields,
    }),
    ...tlsRules,
  );
// A listener may leave the cluster, and a service both, to what is around it.
const gatewayTls = tlsWith();
const listenerTls = tlsWith(resourceOfCluster);
const clusterOfGateway = rule(
  'TLS.SDS.CertResource needs TLS.SDS.ClusterName once there are listeners.',
  when(set('Listeners'), inside('TLS', inside('SDS', clusterOfResource.condition))),
);

const hasChanges = any(set('Add'), set('Set'), set('Remove'));
const noRequestHeaders = not(inside('RequestHeaders', hasChanges));
const noResponseHeaders = not(inside('ResponseHeaders', hasChanges));
const oneName = not(among('Name', '*'));
const noHosts = not(set('Hosts'));
const plainTcp = rule(
  'Services of the protocol tcp have one name, no Hosts and no changes of headers.',
  when(
    among('Protocol', 'tcp'),
    every('Services', all(oneName, noHosts, noRequestHeaders, noResponseHeaders)),
  ),
);
const wildcardWithoutHosts = rule('The wildcard service has no Hosts.', any(oneName, noHosts));
const hostsOfCertificate = rule(
  'TLS.SDS.CertResource needs Hosts.',
  when(inside('TLS', inside('SDS', set('CertResource'))), set('Hosts')),
);
const service = object({
  Name: always(
    'The name of the service, or `*` for all services that use the protocol of the listener.',
    neededText,
  ),
  Hosts: always(
    'The host names of requests for the service. By default, they are derived from its name.',
    list(textLike(HOST_NAME)),
  ),
  TLS: ifSent(
    'TLS settings of this service.',
    object({ SDS: ifSent('The source of the certificate for the hosts.', sds) }),
  ),
  RequestHeaders: ifSent('Changes to the headers of requests.', headerChanges, 'request_headers'),
  ResponseHeaders: ifSent(
    'Changes to the headers of responses.',
    headerChanges,
    'response_headers',
  ),
  MaxConnections: nonEmpty(
    'The maximum number of open connections to the service.',
    uint32,
    'max_connections',
  ),
  MaxPendingRequests: nonEmpty(
    'The maximum number of requests that wait for a connection.',
    uint32,
    'max_pending_requests',
  ),
  MaxConcurrentRequests: nonEmpty(
    'The maximum number of concurrent requests.',
    uint32,
    'max_concurrent_requests',
  ),
  PassiveHealthCheck: ifSent(
    'When a failing instance is temporarily ejected.',
    passiveHealthCheck,
    'passive_health_check',
  ),
  Meta: metaField,
});
const listener = object({
  Port: always('The port on which the gateway listens.', whole()),
  Protocol: always(
    'The protocol of the listener.',
    text({ change: (value) => value.toLowerCase() || 'tcp', values: ['', ...PROTOCOLS] }),
  ),
  TLS: ifSent('TLS settings of this listener.', listenerTls),
  Services: always(
    'The services behind the listener.',
    neededList(ruled(service, wildcardWithoutHosts, hostsOfCertificate), { unique: true }),
  ),
});
const defaults = object({
  MaxConnections: always(
    'The maximum number of open connections to a service. 0 means no limit.',
    uint32,
  ),
  MaxPendingRequests: always(
    'The maximum number of requests that wait for a connection. 0 means no limit.',
    uint32,
  ),
  MaxConcurrentRequests: always(
    'The maximum number of concurrent requests. 0 means no limit.',
    uint32,
  ),
  PassiveHealthCheck: ifSent(
    'When a failing instance is temporarily ejected.',
    passiveHealthCheck,
    'passive_health_check',
  ),
});
type Service = Normal<typeof service>;
type Listener = Normal<typeof listener>;
type GatewayTls = Normal<typeof gatewayTls>;

export const ingressGateway = defineKind(
  'ingress-gateway',
  {
    TLS: always('TLS settings of all listeners.', gatewayTls),
    Listeners: always(
      'The listeners of the gateway, with their ports and services.',
      list(ruled(listener, plainTcp), { unique: true }),
    ),
    Defaults: ifSent('Limits for all services of the gateway.', defaults),
    Meta: metaField,
  },
  {
    description: 'Services that can be reached from outside the mesh.',
    permissions: OF_GATEWAY,
    rules: [clusterOfGateway],
    *names(entry): Iterable<string> {
      for (const { Services: services } of entry.Listeners ?? []) {
        for (const { Name: name } of services ?? []) {
          if (name !== '*') yield target.service(name);
        }
      }
    },
    *validate(entry) {
      if (entry.Name === '') {
        yield problem('Name is required: object missing primary index', 'Name');
      }
      yield* metaProblems(entry.Meta);
      const fault = tlsProblem(entry.TLS, '', 'TLS');
      if (fault !== undefined) yield fault;
      yield* healthCheckProblems(
        entry.Defaults?.PassiveHealthCheck,
        'Defaults',
        'PassiveHealthCheck',
      );
      const ports = new Set<number>();
      for (const [i, one] of (entry.Listeners ?? []).entries()) {
        if (ports.has(one.Port)) {
          yield problem(`port ${one.Port} declared on two listeners`, 'Listeners', i, 'Port');
        }
        ports.add(one.Port);
        yield* listenerProblems(one, entry.TLS, 'Listeners', i);
      }
    },
  },
);
function* listenerProblems(one: Listener, gateway: GatewayTls, ...path: Path): Iterable<Problem> {
  const on = `(listener on port ${one.Port})`;
  const say = (message: string, ...more: Path): Problem =>
    problem(`${message} ${on}`, ...path, ...more);
  if (!PROTOCOLS.includes(one.Protocol)) {
    yield problem(
      `protocol must be 'tcp', 'http', 'http2', or 'grpc'. '${one.Protocol}' is an unsupported protocol`,
      ...path,
      'Protocol',
    );
  }
  const fault = tlsProblem(one.TLS, '', ...path, 'TLS');
  if (fault !== undefined) yield fault;
  const services = one.Services ?? [];
  if (services.length === 0) {
    yield problem(`No service declared for listener with port ${one.Port}`, ...path, 'Services');
  }
  if (one.Protocol === 'tcp' && services.length > 1) {
    yield say(
      "Multiple services per listener are only supported for L7 protocols, 'http', 'grpc' and 'http2'",
      'Services',
    );
  }
  const names = new Set<string>();
  const hosts = new Set<string>();
  for (const [j, value] of services.entries()) {
    yield* serviceProblems(value, one, ...path, 'Services', j);
    if (names.has(value.Name)) {
      yield say(`Service ${value.Name} cannot be added multiple times`, 'Services', j, 'Name');
    }
    names.add(value.Name);
    yield* sdsProblems(value, one, gateway, j, ...path);
    for (const [k, host] of (value.Hosts ?? []).entries()) {
      const where: Path = ['Services', j, 'Hosts', k];
      if (hosts.has(host)) yield say('Hosts must be unique within a specific listener', ...where);
      hosts.add(host);
      yield* hostProblems(host, gateway.Enabled, ...path, ...where);
    }
  }
}

function* serviceProblems(value: Service, one: Listener, ...path: Path): Iterable<Problem> {
  const on = `(listener on port ${one.Port})`;
  const say = (message: string, field: string): Problem =>
    problem(`${message} ${on}`, ...path, field);
  if (one.Protocol === 'tcp') {
    const changed = [
      ['request', 'RequestHeaders', noRequestHeaders],
      ['response', 'ResponseHeaders', noResponseHeaders],
    ] as const;
    for (const [word, field, unchanged] of changed) {
      if (holds(unchanged, value)) continue;
      yield problem(
        `${word} headers only valid for http, http2 and grpc protocols (service ${JSON.stringify(value.Name)} on listener on port ${one.Port})`,
        ...path,
        field,
      );
    }
    if (!holds(oneName, value)) {
      yield say("Wildcard service name is only valid for protocol = 'http'", 'Name');
    }
    if (!holds(noHosts, value)) {
      yield say('Associating hosts to a service is not supported for the tcp protocol', 'Hosts');
    }
  }
  if (value.Name === '') yield say('Service name cannot be blank', 'Name');
  if (!wildcardWithoutHosts.holds(value)) {
    yield say('Associating hosts to a wildcard service is not supported', 'Hosts');
  }
  yield* healthCheckProblems(value.PassiveHealthCheck, ...path, 'PassiveHealthCheck');
}

/**
 * Checks the sources of certificates (SDS). The gateway, the listener and the service may each name
 * one; the most specific takes precedence.
 */
function* sdsProblems(
  value: Service,
  one: Listener,
  gateway: GatewayTls,
  j: number,
  ...path: Path
): Iterable<Problem> {
  const outer = gateway.SDS ?? {};
  const inner = one.TLS?.SDS ?? {};
  const own: Infer<typeof sds.fields> = value.TLS?.SDS ?? {};
  const on = `(listener on port ${one.Port})`;
  const place: Path = [...path, 'TLS', 'SDS'];
  const ownPlace: Path = [...path, 'Services', j, 'TLS', 'SDS'];
  const clusterNeeded = 'TLS.SDS.ClusterName is required if CertResource is set';
  const resourceNeeded = 'TLS.SDS.CertResource is required if ClusterName is set';
  if (!clusterOfResource.holds(outer)) {
    yield problem(clusterNeeded, 'TLS', 'SDS');
  }
  if (
    outer.ClusterName !== undefined &&
    outer.CertResource === undefined &&
    inner.CertResource === undefined
  ) {
    yield problem(`${resourceNeeded} for gateway ${on}`, 'TLS', 'SDS');
  }
  if (!resourceOfCluster.holds(inner)) {
    yield problem(`${resourceNeeded} for listener ${on}`, ...place);
  }
  const listenerCluster = inner.ClusterName ?? outer.ClusterName;
  if (inner.CertResource !== undefined && listenerCluster === undefined) {
    yield problem(`${clusterNeeded} ${on}`, ...place);
  }
  if (own.CertResource === undefined) return;
  const who = `(service ${JSON.stringify(value.Name)} on listener on port ${one.Port})`;
  if (!hostsOfCertificate.holds(value)) {
    yield problem(
      `A service specifying TLS.SDS.CertResource must have at least one item in Hosts ${who}`,
      ...ownPlace,
    );
  }
  if ((own.ClusterName ?? listenerCluster) === undefined) {
    yield problem(`${clusterNeeded} ${who}`, ...ownPlace);
  }
}

function* hostProblems(host: string, tls: boolean, ...path: Path): Iterable<Problem> {
  if (host === '*') {
    if (tls) {
      yield problem(
        "Host '*' is not allowed when TLS is enabled, all hosts must be valid DNS records to add as a DNSSAN",
        ...path,
      );
    }
    return;
  }
  const quoted = JSON.stringify(host);
  if (!isDomainName(host)) yield problem(`Host ${quoted} must be a valid DNS hostname`, ...path);
  if (host.replace(/^\*\./, '').includes('*')) {
    yield problem(
      `Host ${quoted} is not valid, a wildcard specifier is only allowed as the leftmost label`,
      ...path,
    );
  }
}
