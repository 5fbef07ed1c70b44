/**
 * The settings of a node: key in the configuration file, type, bounds, default and reason.
 * Environment variables (`CONCLAVE_HTTP_PORT`) and flags (`--http-port`) follow from the key
 * (`http.port`).
 */

import { DEFAULT_TIMING } from '../node/options.js';
import { LIMITS } from './limit-settings.js';
import type { ConfigOf, Setting } from './setting.js';
import { MS, PORT, TEXT } from './setting-types.js';

const NAME = '^[a-zA-Z0-9][a-zA-Z0-9._-]{0,127}$';

const LIST = [
  {
    key: 'datacenter',
    ...TEXT,
    default: 'dc1',
    pattern: '^[a-z0-9_-]{1,64}$',
    why: 'name of the cluster in ?dc= and in identities',
  },
  {
    key: 'nodeName',
    ...TEXT,
    derived: true,
    pattern: NAME,
    why: 'name of this node, unique in the cluster; the host name by default',
  },
  {
    key: 'dataDir',
    ...TEXT,
    default: 'data',
    why: 'folder of the log, the state and this node’s identity',
  },
  { key: 'pidFile', ...TEXT, why: 'file that contains the process id while the node runs' },

  { key: 'http.host', ...TEXT, default: '127.0.0.1', why: 'address the API listens on' },
  {
    key: 'http.port',
    ...PORT,
    default: 8500,
    why: 'port the API listens on; 0 selects a free port',
  },
  {
    key: 'http.tls.cert',
    ...TEXT,
    needed: true,
    why: 'PEM file of the API’s certificate; enables HTTPS',
  },
  { key: 'http.tls.key', ...TEXT, needed: true, why: 'PEM file of its private key' },
  {
    key: 'http.tls.ca',
    ...TEXT,
    why: 'PEM file of the authority that must have signed client certificates',
  },
  {
    key: 'http.headerPrefix',
    ...TEXT,
    default: 'X-Service',
    pattern: '^[A-Za-z][A-Za-z0-9-]{0,40}$',
    why: 'prefix of the API’s own headers; X-Consul works as well',
  },
  {
    key: 'http.tokenInQuery',
    type: 'boolean',
    default: false,
    why: 'accept ?token=; off by default, because URLs end up in logs',
  },
  {
    key: 'http.fieldNames',
    ...TEXT,
    default: 'exact',
    choices: ['exact', 'anyCase'],
    why:
      'how names of fields in bodies match; anyCase takes them in any letter case, for clients ' +
      'that write them so (docs/api.md#clients), and refuses two spellings of one field',
  },
  {
    key: 'http.allowedHosts',
    type: 'list',
    why:
      'host names and addresses this node answers to, without a port; * for any. By ' +
      'default, those of loopback if it listens there (a web page could make another name ' +
      'resolve to it), otherwise any: name them where http.host is 0.0.0.0, as the files in ' +
      'cluster/deploy do. Probes (/v1/health/) are answered for every host',
  },
  {
    key: 'http.responseHeaders',
    type: 'map',
    default: {},
    why:
      'headers set on every response; Cache-Control: no-store (on responses with an index, ' +
      'Expires: 0; on tokens and archives, both) and X-Content-Type-Options: nosniff are sent ' +
      'unless they are set here',
  },
  {
    key: 'http.blockedPaths',
    type: 'list',
    default: [],
    why: 'paths for which this node responds with 403',
  },

  { key: 'ui.enabled', type: 'boolean', default: true, why: 'serve the web UI under /ui/' },
  {
    key: 'ui.idleMs',
    type: 'integer',
    min: 0,
    max: 86_400_000,
    default: 1_800_000,
    why:
      'time without a key press or click after which the web UI logs out and forgets what was ' +
      'typed; 0 for never, as on a wall display',
  },

  {
    key: 'audit.sinks',
    type: 'sinks',
    default: {},
    why:
      'where the audit log is written, by name: {"main": {"path": "/var/log/audit.json"}}; ' +
      'docs/audit.md lists the members. Without any, the newest records are in memory alone',
  },

  {
    key: 'raft.host',
    ...TEXT,
    default: '127.0.0.1',
    why: 'address this node listens on for traffic between members',
  },
  {
    key: 'raft.port',
    ...PORT,
    default: 8300,
    why: 'port this node listens on for traffic between members',
  },
  {
    key: 'raft.advertise',
    ...TEXT,
    derived: true,
    pattern: '^.+:\\d+$',
    why: 'host:port at which other members reach this node; raft.host:raft.port by default',
  },
  {
    key: 'raft.tls.cert',
    ...TEXT,
    needed: true,
    why: 'PEM file of this member’s certificate, for mutual TLS between members',
  },
  { key: 'raft.tls.key', ...TEXT, needed: true, why: 'PEM file of its private key' },
  {
    key: 'raft.tls.ca',
    ...TEXT,
    needed: true,
    why: 'PEM file of the authority that has signed the certificates of all members',
  },
  {
    key: 'raft.tls.name',
    ...TEXT,
    needed: true,
    why: 'DNS name that the certificate of every member carries, so that no other certificate of the authority lets its owner connect; the subject of each is its own',
  },
  {
    key: 'raft.tls.crl',
    ...TEXT,
    why: 'PEM file of the authority’s list of revoked certificates, reloaded on SIGHUP; once it is past its next update, nobody can connect',
  },
  {
    key: 'raft.insecure',
    type: 'boolean',
    default: false,
    why: 'members communicate without TLS or a shared key, on loopback only: every user of this machine can then join and read every secret',
  },
  {
    key: 'raft.sharedKeyFile',
    ...TEXT,
    why: 'file with a secret (openssl rand -base64 32) that all members share if TLS is not used: it protects their traffic and lets a server ask to join, but does not make it a member; during a rotation, the old and the new secret on two lines',
  },
  {
    key: 'raft.tickMs',
    ...MS,
    default: DEFAULT_TIMING.tickMs,
    why: 'length of one tick of the Raft clock',
  },
  {
    key: 'raft.heartbeatMs',
    ...MS,
    default: DEFAULT_TIMING.heartbeatMs,
    why: 'time between heartbeats; several fit into an election timeout',
  },
  {
    key: 'raft.electionMs',
    ...MS,
    default: DEFAULT_TIMING.electionMs,
    why: 'shortest time without a leader before an election; the longest is twice this, so that a failover takes less than a second',
  },
  {
    key: 'raft.leaseMs',
    ...MS,
    min: 0,
    default: DEFAULT_TIMING.leaseMs,
    why:
      'how long a leader answers default reads without contacting the others; followers ' +
      'refuse votes for electionMs in whole ticks less two, of which a tenth is reserved ' +
      'for clock drift. With 0, every default read contacts a majority',
  },

  {
    key: 'cluster.initial',
    type: 'members',
    default: [],
    why:
      'members of a new cluster, as name=host:port; used only while the data folder is ' +
      'empty. Without this and cluster.join, the node forms its own cluster',
  },
  {
    key: 'cluster.join',
    type: 'list',
    default: [],
    why: 'host:port of members whose cluster this node asks to join; used only while the data folder is empty',
  },
  {
    key: 'cluster.joinTokenFile',
    ...TEXT,
    why:
      'file with the join token (conclave join-token) that this node presents to the ' +
      'members; without it, an operator must admit the node',
  },

  {
    key: 'acl.defaultPolicy',
    ...TEXT,
    default: 'deny',
    choices: ['allow', 'deny'],
    why: 'the decision if no rule applies',
  },
  {
    key: 'acl.lint',
    ...TEXT,
    default: 'warn',
    choices: ['off', 'warn', 'strict'],
    why:
      'lint warnings when policies and binding rules are written: ignored (off), reported ' +
      'in a header (warn), or a reason to refuse the write (strict)',
  },
  {
    key: 'acl.initialManagement',
    ...TEXT,
    secret: true,
    why: 'SecretID (a UUID) of a token with all rights, created with the cluster; not accepted as a flag, which others on the machine can read',
  },
  {
    key: 'acl.initialManagementFile',
    ...TEXT,
    why: 'file that contains acl.initialManagement; needed only when a cluster is created, so that the file can be removed afterwards',
  },
  {
    key: 'acl.bootstrapSecret',
    ...TEXT,
    pattern: '^[!-+\\--~]{16,256}$',
    secret: true,
    why:
      'secret that a bootstrap must present as its token, at least 16 printable characters ' +
      'without commas; without it, the first client that asks gets the first token',
  },
  {
    key: 'acl.bootstrapSecretFile',
    ...TEXT,
    why:
      'file that contains acl.bootstrapSecret; read at each start, so it must stay as long as ' +
      'this setting names it',
  },

  {
    key: 'login.allowedHosts',
    type: 'list',
    default: [],
    why: 'hosts that auth methods may name for keys, discovery and token reviews, such as idp.example.com, *.example.com or idp.example.com:8443; any by default, because only the operator knows them',
  },
  {
    key: 'login.privateAddresses',
    type: 'boolean',
    default: false,
    why:
      'let auth methods of all namespaces reach loopback, link-local and private ' +
      'addresses; off by default, because the manager of a namespace does not operate the ' +
      'network. Methods of the namespace default always may',
  },
  {
    key: 'login.plainHttp',
    type: 'boolean',
    default: false,
    why:
      'also fetch the keys of issuers over http; off by default, because keys can be ' +
      'replaced in transit. Always allowed on loopback for methods of the namespace default',
  },

  {
    key: 'authzen.enabled',
    type: 'boolean',
    default: true,
    why: 'decide for other programs under /access/v1/, by the Authorization API 1.0 (AuthZEN)',
  },
  {
    key: 'authzen.url',
    ...TEXT,
    pattern: '^https://[^/?#\\s@]+(/[^/?#\\s]+)*$',
    why:
      'https address under which clients find these decisions, without a trailing slash; ' +
      'by default that of the request, if the API has TLS',
  },
  {
    key: 'authzen.anonymousCallers',
    type: 'boolean',
    default: false,
    why: 'let requests without a token ask what a secret or a JWT that they send may do',
  },

  ...LIMITS,

  {
    key: 'log.level',
    ...TEXT,
    default: 'info',
    choices: ['debug', 'info', 'warn', 'error', 'silent'],
    why:
      'minimum severity of logged lines; debug adds requests and the reasons for Raft’s ' +
      'decisions',
  },
  {
    key: 'log.format',
    ...TEXT,
    default: 'auto',
    choices: ['auto', 'text', 'json'],
    why: 'format of logged lines; auto is text on a terminal and json elsewhere',
  },
] as const satisfies readonly Setting[];

/** Every setting, in the order of `--help` and of docs/settings.md. */
export const SETTINGS: readonly Setting[] = LIST;

/** A configuration as these settings make it. */
export type ConfigOfSettings = ConfigOf<(typeof LIST)[number]>;
