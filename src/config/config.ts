/**
 * Reads and checks the configuration of a node: a JSON file, and environment variables and flags
 * for the same settings.
 */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { ErrorObject } from 'ajv';
import { sinkFaults } from '../audit/settings.js';
import { isAddress, isLoopback } from '../base/address.js';
import { validateSettings } from '../base/validators.js';
import { TEXT_MAX } from '../base/wire-limits.js';
import { VARIABLES } from '../cli/client/variables.js';
import { changesBetween, nearestOf } from '../languages/suggest.js';
import type { InitialMember } from '../node/identity.js';
import { inTicks } from '../node/options.js';
import { leaseMsMax } from '../raft/options.js';
import { MEMBER, type Setting } from './setting.js';
import { type ConfigOfSettings, SETTINGS } from './settings.js';

/** A checked configuration. Times in milliseconds, sizes in bytes; see settings.ts for each. */
export type Config = ConfigOfSettings;

/** The faults of a configuration. The message has a line for each, which begins with its key. */
export class ConfigError extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

const words = (key: string): string => key.replace(/([A-Z])/g, '.$1').replaceAll('.', '_');
/** Returns the environment variable of a setting: `http.port` → `CONCLAVE_HTTP_PORT`. */
export const envName = (key: string): string => `CONCLAVE_${words(key).toUpperCase()}`;
/** Returns the flag of a setting: `http.port` → `--http-port`. */
export const flagName = (key: string): string =>
  `--${words(key).replaceAll('_', '-').toLowerCase()}`;

type Tree = Record<string, unknown>;

/** The sources of values. Later ones win: file, environment, flags (by key). */
export interface Sources {
  readonly file?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly flags?: Readonly<Record<string, string>>;
}

/** Reads and checks a configuration. Throws ConfigError with every fault found. */
export function loadConfig(sources: Sources): Config {
  const tree = sources.file === undefined ? {} : readFile(sources.file);
  const faults: string[] = [];
  for (const setting of SETTINGS) {
    const variable = sources.env?.[envName(setting.key)];
    const flag = sources.flags?.[setting.key];
    const text = flag ?? (variable === '' ? undefined : variable);
    if (text === undefined) continue;
    if (flag !== undefined && setting.secret === true) {
      faults.push(secretAsFlag(setting));
      continue;
    }
    const value = fromText(setting, text);
    if (value === undefined)
      faults.push(
        `${setting.key}: ${flag === undefined ? envName(setting.key) : flagName(setting.key)} cannot be read as ${setting.type}`,
      );
    else put(tree, setting.key, value);
  }
  faults.push(...mistyped(sources.env ?? {}), ...schemaFaults(tree));
  if (faults.length > 0) throw new ConfigError(faults);
  const config = withDefaults(tree);
  const crossed = [...crossFaults(config), ...sinkFaults(config.audit.sinks)];
  if (crossed.length > 0) throw new ConfigError(crossed);
  return config;
}

const secretAsFlag = ({ key }: Setting): string =>
  `${key}: is a secret, and every user of this machine can read the flags of a process; set ${envName(key)}, ` +
  `or ${key} in the configuration file, or name a file that holds it (${key}File)`;

/** Largest edit distance at which an unknown variable counts as a mistyped setting. */
const MISTYPED_MAX = 3;
/** Variables of the client, which a shell may have set where a node is started. */
const OTHER_VARIABLES: ReadonlySet<string> = new Set(Object.values(VARIABLES).flat());

/**
 * Returns a fault for each variable that nearly names a setting. Ignores others, because container
 * platforms set variables named after a service.
 */
function mistyped(env: NonNullable<Sources['env']>): string[] {
  const known = SETTINGS.map(({ key }) => envName(key));
  return Object.keys(env)
    .filter((name) => name.startsWith('CONCLAVE_') && !OTHER_VARIABLES.has(name))
    .filter((name) => !known.includes(name))
    .flatMap((name) => {
      const near = nearestOf(name, known);
      if (near === undefined || changesBetween(name, near) > MISTYPED_MAX) return [];
      return `${name}: there is no such variable; did you mean ${near}?`;
    });
}

function readFile(path: string): Tree {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError([`${path}: ${(error as Error).message}`]);
  }
  try {
    const tree: unknown = JSON.parse(text);
    if (typeof tree === 'object' && tree !== null && !Array.isArray(tree)) return tree as Tree;
    throw new Error('expected a JSON object');
  } catch (error) {
    throw new ConfigError([`${path}: ${(error as Error).message}`]);
  }
}

function put(tree: Tree, key: string, value: unknown): void {
  const path = key.split('.');
  const last = path.pop()!;
  let at = tree;
  for (const part of path) {
    if (typeof at[part] !== 'object' || at[part] === null) at[part] = {};
    at = at[part] as Tree;
  }
  at[last] = value;
}

function get(tree: Tree, key: string): unknown {
  let at: unknown = tree;
  for (const part of key.split('.')) at = (at as Tree | undefined)?.[part];
  return at;
}

/** Parses the text of a value. Returns undefined if it does not have the type of the setting. */
function fromText(setting: Setting, text: string): unknown {
  switch (setting.type) {
    case 'text':
      return text;
    case 'integer':
      return /^\d+$/.test(text) ? Number(text) : undefined;
    case 'boolean':
      return { true: true, '1': true, false: false, '0': false }[text];
    case 'list':
    case 'members':
      return text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '');
    case 'map':
    case 'sinks':
      try {
        return JSON.parse(text);
      } catch {
        return undefined;
      }
  }
}

/** Parses a member, `name=host:port`. Throws Error for anything else. */
export function memberOf(text: string): InitialMember {
  const [, name, address] = MEMBER.exec(text) ?? [];
  if (name === undefined || address === undefined)
    throw new Error(`"${text}" is not a member: expected name=host:port`);
  return { name, address };
}

/** How the words of a schema are said to people. */
const IN_WORDS: Readonly<Record<string, string>> = {
  '<=': 'at most',
  '>=': 'at least',
  array: 'a list',
  boolean: 'true or false',
  integer: 'an integer',
  object: 'an object',
  string: 'a string',
};

function schemaFaults(tree: Tree): string[] {
  if (validateSettings(tree)) return [];
  return (validateSettings.errors ?? []).map((error) => {
    const key = error.instancePath.slice(1).replaceAll('/', '.');
    if (error.keyword === 'additionalProperties') return unknownKey(key, error);
    const setting = SETTINGS.find((s) => key === s.key || key.startsWith(`${s.key}.`));
    const allowed =
      error.keyword === 'enum' ? `: ${error.params['allowedValues'].join(' or ')}` : '';
    const isMember = error.keyword === 'pattern' && setting?.type === 'members';
    const words = error.message?.replace(/(?<=^must be )\S+/, (word) => IN_WORDS[word] ?? word);
    const message = isMember ? 'must be name=host:port' : `${words}${allowed}`;
    return `${key || 'the configuration'}: ${message}${setting ? ` (${setting.why})` : ''}`;
  });
}

function unknownKey(parent: string, error: ErrorObject): string {
  const name = (error.params as { additionalProperty: string }).additionalProperty;
  const key = parent === '' ? name : `${parent}.${name}`;
  const known = SETTINGS.flatMap(({ key: k }) => [
    k,
    ...(k.includes('.') ? [k.split('.')[0]!] : []),
  ]);
  const near = nearestOf(key, known);
  return `${key}: there is no such setting${near === undefined ? '' : `; did you mean ${near}?`}`;
}

function withDefaults(tree: Tree): Config {
  const full: Tree = {};
  for (const { key, default: value } of SETTINGS) {
    const given = get(tree, key) ?? value;
    if (given !== undefined) put(full, key, given);
  }
  full['nodeName'] ??= hostname();
  const cluster = full['cluster'] as { initial: unknown };
  cluster.initial = (cluster.initial as readonly string[]).map(memberOf);
  // The schema has checked the type, except for TLS files that belong together; `crossFaults` does.
  const config = full as unknown as Config;
  return {
    ...config,
    raft: {
      ...config.raft,
      advertise: config.raft.advertise ?? addressOf(config.raft),
    },
  };
}

/** Returns host and port as one address, with brackets around an IPv6 address. */
export const addressOf = ({ host, port }: { host: string; port: number }): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** A bootstrap secret: printable characters that are valid in a header. */
export const BOOTSTRAP_SECRET = /^[!-+\--~]{16,256}$/;
/** A SecretID that may be configured. */
export const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

const HOST = /^(\*\.)?([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d+)?$|^[0-9a-f:.]+$/i;

/** Returns the faults of settings that contradict each other. */
function crossFaults(config: Config): string[] {
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
