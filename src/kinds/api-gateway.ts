/** `api-gateway`: listeners to which routes bind. */

import {
  always,
  free,
  ifSent,
  later,
  list,
  type Normal,
  neededList,
  neededText,
  never,
  object,
  port,
  text,
  textLike,
} from '../languages/fields.js';
import { among, not, rule, ruled, set, when } from '../languages/rules.js';
import { metaField, metaProblems, type Path, textOr } from './common.js';
import { defineKind } from './definition.js';
import { LEFTMOST_WILDCARD } from './host-names.js';
import { gatewayJwt, gatewayJwtProblems, providersOf } from './jwt.js';
import { OF_GATEWAY } from './permissions.js';
import { type Problem, problem } from './problems.js';
import { target } from './targets.js';
import { gatewayTlsRules, tlsProblem, tlsVersion } from './tls.js';
import { CERTIFICATE_KINDS } from './types.js';

const listenerName = textLike(
  '^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$',
  { limits: { needed: true } },
);
const hostname = textLike(LEFTMOST_WILDCARD);
const noHostOfTcp = rule(
  'Listeners of the protocol tcp have no Hostname.',
  when(among('Protocol', 'tcp'), not(set('Hostname'))),
);
const LISTENER_PROTOCOLS = ['tcp', 'http'];

/** A reference from a listener to a certificate entry. */
export const certificateReference = object({
  Kind: always('The kind of the certificate.', textOr('inline-certificate', CERTIFICATE_KINDS)),
  Name: always('The name of the certificate.', neededText),
  SectionName: always('Part of the certificate. It has no effect.', text()),
});

/** What a listener demands of a request, by default or whatever its routes demand. */
const policy = object({ JWT: ifSent('The JSON Web Token that a request must carry.', gatewayJwt) });
const listener = object({
  Name: always('The name of the listener.', listenerName),
  Hostname: always('The host names that the listener serves, such as *.example.com.', hostname),
  Port: always('The port on which the gateway listens.', port),
  Protocol: always(
    'The protocol of the listener.',
    text({
      change: (value) => value.toLowerCase(),
      values: LISTENER_PROTOCOLS,
      limits: { needed: true },
    }),
  ),
  TLS: always(
    'TLS settings of the listener.',
    ruled(
      object({
        Certificates: always(
          'The certificates that the listener presents.',
          list(certificateReference),
        ),
        MaxVersion: always('The maximum TLS version.', tlsVersion),
        MinVersion: always('The minimum TLS version.', tlsVersion),
        CipherSuites: always('The cipher suites for TLS 1.2 and earlier.', list(text())),
      }),
      ...gatewayTlsRules,
    ),
  ),
  Override: ifSent('Requirements that requests must meet, whatever their routes require.', policy),
  Default: ifSent('Requirements that requests must meet if their routes have none.', policy),
});
type Listener = Normal<typeof listener>;

export const apiGateway = defineKind(
  'api-gateway',
  {
    TLS: never(
      'TLS settings of the gateway, a feature of later releases that is not supported.',
      later,
    ),
    Listeners: always(
      'The listeners of the gateway.',
      neededList(ruled(listener, noHostOfTcp), { unique: true }),
    ),
    Status: never(
      'The status that the server reports for the gateway. It is accepted but not stored.',
      free(),
    ),
    Meta: metaField,
  },
  {
    description: 'A gateway with listeners to which routes bind.',
    permissions: OF_GATEWAY,
    hasStatus: true,
    *names(entry): Iterable<string> {
      for (const { TLS: tls } of entry.Listeners ?? []) {
        for (const { Kind: kind, Name: name } of tls.Certificates ?? []) {
          yield target.certificate(kind, name);
        }
      }
    },
    *providers(entry) {
      for (const one of entry.Listeners ?? []) yield* providersOfListener(one);
    },
    *validate(entry) {
      if (entry.Name === '') yield problem('Name is empty: serviceName is required', 'Name');
      yield* metaProblems(entry.Meta);
      const listeners = entry.Listeners ?? [];
      if (listeners.length === 0) {
        yield problem('api gateway must have at least one listener', 'Listeners');
      }
      yield* nameProblems(listeners);
      yield* mergeProblems(listeners);
      for (const [i, one] of listeners.entries()) yield* listenerProblems(one, 'Listeners', i);
    },
  },
);
export type ApiGateway = Normal<typeof apiGateway.type>;

/** Yields the jwt-providers that a listener names. */
export function* providersOfListener({ Override, Default }: Listener): Iterable<string> {
  yield* providersOf(Override?.JWT);
  yield* providersOf(Default?.JWT);
}

function* nameProblems(listeners: readonly Listener[]): Iterable<Problem> {
  const seen = new Set<string>();
  for (const [i, { Name: name }] of listeners.entries()) {
    const quoted = JSON.stringify(name);
    if (!listenerName.fits(name)) {
      yield problem(
        `listener name ${quoted} is invalid, must be at least 1 character and contain only letters, numbers, or dashes, in lower case`,
        'Listeners',
        i,
        'Name',
      );
    }
    if (seen.has(name)) {
      yield problem(`found multiple listeners with the name ${quoted}`, 'Listeners', i, 'Name');
    }
    seen.add(name);
  }
}

/** Listeners that share a port must agree on everything that a client of the port can see. */
function* mergeProblems(listeners: readonly Listener[]): Iterable<Problem> {
  const byPort = new Map<number, Listener>();
  for (const [i, one] of listeners.entries()) {
    const other = byPort.get(one.Port);
    if (other === undefined) {
      byPort.set(one.Port, one);
    } else if (other.Hostname !== one.Hostname || other.Protocol !== one.Protocol) {
      yield problem(
        `listeners ${JSON.stringify(other.Name)} and ${JSON.stringify(one.Name)} cannot be merged: they share port ${one.Port} but not Hostname and Protocol`,
        'Listeners',
        i,
      );
    }
  }
}

function* listenerProblems(one: Listener, ...path: Path): Iterable<Problem> {
  const { Protocol: protocol, Hostname: host, Port: port, TLS: tls } = one;
  if (!LISTENER_PROTOCOLS.includes(protocol)) {
    yield problem(
      `unsupported listener protocol ${JSON.stringify(protocol)}, must be one of 'tcp', or 'http'`,
      ...path,
      'Protocol',
    );
  }
  if (!noHostOfTcp.holds(one)) {
    yield problem('hostname specification is not supported when using TCP', ...path, 'Hostname');
  }
  if (port < 1 || port > 65_535) {
    yield problem(`listener port ${port} not in the range 1-65535`, ...path, 'Port');
  }
  if (!hostname.fits(host)) {
    yield problem(
      `host ${JSON.stringify(host)} is not valid, a wildcard specifier is only allowed as the left-most label`,
      ...path,
      'Hostname',
    );
  }
  yield* gatewayJwtProblems(one.Override?.JWT, ...path, 'Override', 'JWT');
  yield* gatewayJwtProblems(one.Default?.JWT, ...path, 'Default', 'JWT');
  for (const [i, reference] of (tls.Certificates ?? []).entries()) {
    yield* referenceProblems(reference, ...path, 'TLS', 'Certificates', i);
  }
  const fault = tlsProblem(tls, '', ...path, 'TLS');
  if (fault !== undefined) yield fault;
}

function* referenceProblems(
  reference: Normal<typeof certificateReference>,
  ...path: Path
): Iterable<Problem> {
  if (!(CERTIFICATE_KINDS as readonly string[]).includes(reference.Kind)) {
    yield problem(
      `unsupported certificate kind: ${JSON.stringify(reference.Kind)}, must be 'file-system-certificate' or 'inline-certificate'`,
      ...path,
      'Kind',
    );
  }
  if (reference.Name === '') {
    yield problem('certificate reference must have a name', ...path, 'Name');
  }
}
