/** Which values of settings, and which settings together, a node does not start with. */
import { isAddress, isLoopback } from '../base/address.js';
import { TEXT_MAX } from '../base/wire-limits.js';
import type { InitialMember } from '../node/identity.js';
import { inTicks } from '../node/options.js';
import { leaseMsMax } from '../raft/options.js';
import type { ConfigOfSettings as Config } from './settings.js';

/** A bootstrap secret: printable characters that are valid in a header. */
export const BOOTSTRAP_SECRET = /^[!-+\--~]{16,256}$/;
/** A SecretID that may be configured. */
export const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

const HOST = /^(\*\.)?([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d+)?$|^[0-9a-f:.]+$/i;

/** Returns the faults of settings that contradict each other. */
export function crossFaults(config: Config): string[] {
  const rules = [
    ...timeRules(config),
    ...limitRules(config),
    ...transportRules(config),
    ...clusterRules(config),
    ...secretRules(config),
  ];
  return rules.filter(([broken]) => broken).map(([, fault]) => fault);
}

function timeRules({ raft }: Config): readonly Rule[] {
  const times = inTicks(raft);
  const leaseMax = Math.floor(leaseMsMax(times));
  return [
    [
      raft.tickMs > raft.heartbeatMs,
      `raft.heartbeatMs: must be at least raft.tickMs (${raft.tickMs})`,
    ],
    [
      times.heartbeatTicks * 2 > times.electionTicks,
      `raft.electionMs: must be at least twice raft.heartbeatMs (${raft.heartbeatMs}) in whole ticks, or one lost heartbeat starts an election`,
    ],
    [
      raft.leaseMs > leaseMax,
      `raft.leaseMs: must be at most ${leaseMax}, nine tenths of raft.electionMs (${raft.electionMs}) in whole ticks less two, or a deposed leader could answer with old data`,
    ],
  ];
}

const limitRules = ({ raft, limits }: Config): readonly Rule[] => [
  [
    raft.electionMs * 4 > limits.requestMs,
    `limits.requestMs: must be at least four times raft.electionMs (${raft.electionMs}), or requests fail while a leader is elected`,
  ],
  [
    limits.requestMs * 4 > limits.secretsGoneMs,
    `limits.secretsGoneMs: must be at least four times limits.requestMs (${limits.requestMs}), or outcomes are forgotten while a client still waits for them`,
  ],
  [
    limits.anonymousBodyBytes > limits.pendingBodyBytes,
    'limits.pendingBodyBytes: must be at least limits.anonymousBodyBytes ' +
      `(${limits.anonymousBodyBytes}), or the largest body could not arrive`,
  ],
  [limits.headersMs > limits.receiveMs, 'limits.receiveMs: must be at least limits.headersMs'],
  [limits.heldPerClient > limits.held, 'limits.heldPerClient: must not be above limits.held'],
  [
    limits.held > limits.connections,
    'limits.held: must not be above limits.connections, because each blocking query occupies one',
  ],
];

function transportRules({ http, raft, cluster }: Config): readonly Rule[] {
  const isProtected = raft.tls !== undefined || raft.sharedKeyFile !== undefined;
  const hasPeers = cluster.initial.length > 1 || cluster.join.length > 0;
  return [
    [!tlsWhole(http.tls), 'http.tls: cert and key are needed together'],
    [
      raft.tls !== undefined && !(raft.tls.cert && raft.tls.key && raft.tls.ca && raft.tls.name),
      'raft.tls: cert, key, ca and name are needed together',
    ],
    [
      http.port === raft.port && http.port !== 0 && http.host === raft.host,
      `raft.port: is the same as http.port (${http.port})`,
    ],
    [
      !isLoopback(raft.host) && !isProtected,
      `raft.host: other machines can reach ${raft.host}, so members need protection: set raft.sharedKeyFile, or raft.tls.cert, raft.tls.key, raft.tls.ca and raft.tls.name`,
    ],
    [
      isLoopback(raft.host) && hasPeers && !isProtected && !raft.insecure,
      'raft.sharedKeyFile: members need a shared key (openssl rand -base64 32) or TLS (raft.tls). Set raft.insecure only if every user of the machine may read every secret',
    ],
    [
      raft.insecure && isProtected,
      'raft.insecure: must be false where raft.tls or raft.sharedKeyFile is set',
    ],
    [
      /^(?:0\.0\.0\.0|\[::\]):/.test(raft.advertise),
      `raft.advertise: other members cannot reach this node at ${raft.advertise}; set the host:port at which they can`,
    ],
    [
      raft.tls !== undefined && raft.sharedKeyFile !== undefined,
      'raft.sharedKeyFile: members use either raft.tls or a shared key, not both',
    ],
    ...addressRules('raft.advertise', raft.advertise),
  ];
}

const clusterRules = ({ nodeName, http, raft, cluster, login }: Config): readonly Rule[] => [
  ...cluster.join.flatMap((address) => addressRules('cluster.join', address)),
  ...http.blockedPaths.map(blockedPathRule),
  ...Object.entries(http.responseHeaders).map(responseHeaderRule),
  ...login.allowedHosts.map(issuerHostRule),
  [
    cluster.join.length > 0 && cluster.join.every((address) => address === raft.advertise),
    'cluster.join: names this node alone; give the addresses of members',
  ],
  [
    cluster.initial.length > 0 && cluster.join.length > 0,
    'cluster.join: a node either starts a new cluster (cluster.initial) or joins one, not both',
  ],
  [
    cluster.initial.length > 0 && !cluster.initial.some((member) => member.name === nodeName),
    `cluster.initial: does not name this node (${nodeName})`,
  ],
  ...memberRules('cluster.initial', cluster.initial),
];

const secretRules = ({ acl }: Config): readonly Rule[] => [
  [
    acl.initialManagement !== undefined && acl.initialManagementFile !== undefined,
    'acl.initialManagementFile: acl.initialManagement is set too; give one of them',
  ],
  [
    acl.bootstrapSecret !== undefined && acl.bootstrapSecretFile !== undefined,
    'acl.bootstrapSecretFile: acl.bootstrapSecret is set too; give one of them',
  ],
  [
    acl.initialManagement !== undefined && !UUID.test(acl.initialManagement),
    'acl.initialManagement: must be a UUID in lower case',
  ],
];

/** A condition that must not hold, and what is wrong if it does. */
type Rule = readonly [broken: boolean, fault: string];

const blockedPathRule = (path: string): Rule => [
  !/^\/\S*$/.test(path),
  `http.blockedPaths: "${path}" is not a path: expected one such as /v1/snapshot`,
];

/** Name and value as HTTP has them (RFC 9110, section 5): with others Node sends no response. */
const HEADER = /^[\w!#$%&'*+.^`|~-]+:[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that say how a body is sent. */
const FRAMING = /^(?:content-encoding|content-length|transfer-encoding):/i;

const responseHeaderRule = ([name, value]: readonly [string, string]): Rule => [
  !HEADER.test(`${name}:${value}`) || FRAMING.test(`${name}:`),
  `http.responseHeaders: "${name}" is not a header that all responses can have: expected a name ` +
    'such as X-Frame-Options, and a value without line breaks',
];

const issuerHostRule = (host: string): Rule => [
  !HOST.test(host),
  `login.allowedHosts: "${host}" is not a host: expected idp.example.com, *.example.com or idp.example.com:8443`,
];

/** Returns the rules of the members of a new cluster, which a setting or an option gives. */
function memberRules(key: string, members: readonly InitialMember[]): readonly Rule[] {
  const isTwice = (texts: readonly string[]): boolean => new Set(texts).size < texts.length;
  return [
    [isTwice(members.map(({ name }) => name)), `${key}: names a member twice`],
    [isTwice(members.map(({ address }) => address)), `${key}: gives two members the same address`],
    ...members.flatMap(({ address }) => addressRules(key, address)),
  ];
}

/** Returns what is wrong with the members of a new cluster. */
export const memberFaults = (key: string, members: readonly InitialMember[]): string[] =>
  memberRules(key, members).flatMap(([broken, fault]) => (broken ? [fault] : []));

/** Returns the rules of an address that can be dialled. */
const addressRules = (key: string, address: string): readonly Rule[] => [
  [
    !isAddress(address),
    `${key}: "${address}" is not an address: expected host:port or [ipv6]:port`,
  ],
  [address.length > TEXT_MAX, `${key}: "${address}" is longer than ${TEXT_MAX} characters`],
];

function tlsWhole(tls: Partial<NonNullable<Config['http']['tls']>> | undefined): boolean {
  return tls === undefined || (tls.cert !== undefined && tls.key !== undefined);
}
