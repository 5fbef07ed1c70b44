/**
 * The settings of a node: key in the configuration file, type, bounds, default and reason.
 * Environment variables (`CONCLAVE_HTTP_PORT`) and flags (`--http-port`) follow from the key
 * (`http.port`).
 */
import { DEFAULT_LIMITS, DEFAULT_TIMING } from './node/options.js';
import type { ConfigOf, Setting } from './setting.js';
import { COMMAND_BYTES_MAX } from './wire-limits.js';

const PORT = { type: 'integer', min: 0, max: 65_535 } as const;
const MS = { type: 'integer', min: 1, max: 3_600_000 } as const;
const COUNT = { type: 'integer', min: 1, max: 1_000_000 } as const;
const RATE = { type: 'integer', min: 0, max: 10_000_000 } as const;
const TEXT = { type: 'text' } as const;
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
  { key: 'http.port', ...PORT, default: 8500, why: 'port the API listens on; 0 for a free one' },
  {
    key: 'http.tls.cert',
    ...TEXT,
    needed: true,
    why: 'PEM file of the API’s certificate; serves HTTPS',
  },
  { key: 'http.tls.key', ...TEXT, needed: true, why: 'PEM file of its private key' },
  {
    key: 'http.tls.ca',
    ...TEXT,
    why: 'PEM file of the authority that must have signed clients’ certificates',
  },
  {
    key: 'http.headerPrefix',
    ...TEXT,
    default: 'X-Service',
    pattern: '^[A-Za-z][A-Za-z0-9-]{0,40}$',
    why: 'prefix of the API’s own headers; X-Consul works beside it',
  },
  {
    key: 'http.tokenInQuery',
    type: 'boolean',
    default: false,
    why: 'accept ?token=; off, because URLs end up in logs',
  },
  {
    key: 'http.allowedHosts',
    type: 'list',
    why: 'host names and addresses this node answers to, without port, * for any; by default those of loopback if it listens there (a web page could make another name resolve to it), otherwise any',
  },
  {
    key: 'http.responseHeaders',
    type: 'map',
    default: {},
    why: 'headers set on every answer; Cache-Control: no-store (on answers with an index Expires: 0) and X-Content-Type-Options: nosniff are sent unless they are set here',
  },
  {
    key: 'http.blockedPaths',
    type: 'list',
    default: [],
    why: 'paths answered with 403 on this node',
  },

  { key: 'ui.enabled', type: 'boolean', default: true, why: 'serve the web UI under /ui/' },

  {
    key: 'raft.host',
    ...TEXT,
    default: '127.0.0.1',
    why: 'address the members’ traffic listens on',
  },
  { key: 'raft.port', ...PORT, default: 8300, why: 'port the members’ traffic listens on' },
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
    why: 'DNS name that the certificate of every member carries, so that no other certificate of the authority grants membership',
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
    why: 'file with a secret (openssl rand -base64 32) that all members share if TLS is not used; during a rotation, the old and the new secret on two lines',
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
    why: 'how long a leader answers default reads without contacting the others; followers refuse votes for electionMs in whole ticks less two, of which a tenth is reserved for clock drift. 0: every default read contacts a majority',
  },

  {
    key: 'cluster.initial',
    type: 'members',
    default: [],
    why: 'members of a new cluster, as name=host:port; used only while the data folder is empty. Without this and cluster.join the node forms a cluster of its own',
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
    why: 'file with the join token (conclave join-token) that this node presents to the members; without it an operator must admit the node',
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
    why: 'warnings about written policies and binding rules: told in a header, or refused',
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
    why: 'secret that a bootstrap must present as its token, at least 16 printable characters without comma; without it, the first client that asks gets the first token',
  },
  { key: 'acl.bootstrapSecretFile', ...TEXT, why: 'file that contains acl.bootstrapSecret' },

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
    why: 'let auth methods of all namespaces reach loopback, link-local and private addresses; off, because the manager of a namespace does not operate the network. Those of the namespace default always may',
  },
  {
    key: 'login.plainHttp',
    type: 'boolean',
    default: false,
    why: 'fetch the keys of issuers over http too; off, because keys can be replaced in transit. Always allowed on loopback for methods of the namespace default',
  },

  {
    key: 'limits.bodyBytes',
    type: 'integer',
    min: 1024,
    // Quotes are escaped in the command, and again in its remembered result. Each must fit into a
    // message.
    max: COMMAND_BYTES_MAX / 4,
    default: 1_048_576,
    why: 'largest request body: an entry is replicated whole, and one that large already delays heartbeats',
  },
  {
    key: 'limits.anonymousBodyBytes',
    type: 'integer',
    min: 1024,
    max: 16_777_216,
    default: 65_536,
    why: 'largest body of a request without a valid token, of a login and of a bootstrap: an unauthenticated body deserves no more work, and no bearer token is longer',
  },
  {
    key: 'limits.headerBytes',
    type: 'integer',
    min: 4096,
    max: 1_048_576,
    default: 65_536,
    why: 'bytes of the request line and headers together',
  },
  {
    key: 'limits.connections',
    ...COUNT,
    default: 32_768,
    why: 'open HTTP connections, about 10 kB each; needs a higher limit of open files',
  },
  {
    key: 'limits.connectionsPerAddress',
    ...COUNT,
    default: 24_576,
    why: 'of these, from one address (for IPv6 one /64): enough for a proxy, which is one address, and for others beside it',
  },
  {
    key: 'limits.probeConnections',
    type: 'integer',
    min: 0,
    max: 1024,
    default: 16,
    why: 'connections beyond limits.connections, each for one request to /v1/health/: a full node is not a dead one',
  },
  {
    key: 'limits.held',
    ...COUNT,
    default: 30_000,
    why: 'blocking queries waiting at one time, about 5 kB each',
  },
  {
    key: 'limits.heldPerClient',
    ...COUNT,
    default: 16_384,
    why: 'of these, from one address: enough for a gateway, not for a runaway client',
  },
  {
    key: 'limits.heldPerToken',
    ...COUNT,
    default: 16_384,
    why: 'of these, with one token: agents of many hosts may share one',
  },
  {
    key: 'limits.heldAnonymous',
    ...COUNT,
    default: 1_024,
    why: 'of these, without a token from one address: anonymous clients rarely need any',
  },
  {
    key: 'limits.streamsPerToken',
    ...COUNT,
    default: 32,
    why: 'long lists and snapshots being read at one time with one token (without one: from one address): each keeps a view of the state',
  },
  {
    key: 'limits.streamBytesPerSecond',
    type: 'integer',
    min: 1,
    max: 1_073_741_824,
    default: 32_768,
    why: 'bytes per second at which such an answer must be read on average, after limits.stalledMs: slower than any network that could carry the API',
  },
  {
    key: 'limits.requestsPerAddress',
    ...RATE,
    default: 50_000,
    why: 'requests per second from one address (for IPv6 one /64), in bursts of five seconds’ worth; 0 for no limit. More than a node answers on common hardware, because a proxy is one address: set it lower if clients have addresses of their own',
  },
  { key: 'limits.requestsPerToken', ...RATE, default: 50_000, why: 'the same with one token' },
  {
    key: 'limits.writesPerAddress',
    ...RATE,
    default: 10_000,
    why: 'writes per second from one address: more than a cluster commits',
  },
  { key: 'limits.writesPerToken', ...RATE, default: 10_000, why: 'the same with one token' },
  {
    key: 'limits.loginsPerAddress',
    ...RATE,
    default: 50,
    why: 'logins per second from one address, each of which is a write: enough for a host that starts hundreds of services',
  },
  {
    key: 'limits.loginsPerMethod',
    ...RATE,
    default: 500,
    why: 'logins per second with one auth method on this node',
  },
  {
    key: 'limits.loginsPerIdentity',
    ...RATE,
    default: 2,
    why: 'logins per second of one subject of an auth method, so that one bearer token cannot fill the disks with tokens',
  },
  {
    key: 'limits.refusalsPerAddress',
    ...RATE,
    default: 10,
    why: 'refusals per second (401, 403, 413, 429; unknown paths and methods) that one address gets without delay, in bursts of five seconds’ worth; further ones are delayed, and their bodies stay unread, so that the client waits and not the cluster. 0 for no limit',
  },
  {
    key: 'limits.refusalDelayMs',
    ...MS,
    default: 500,
    why: 'delay of refusals beyond limits.refusalsPerAddress',
  },
  {
    key: 'limits.requestMs',
    ...MS,
    default: 7_000,
    why: 'how long a write or a consistent read waits for a leader and a majority',
  },
  {
    key: 'limits.headersMs',
    ...MS,
    default: 10_000,
    why: 'how long a client may take to send its headers',
  },
  {
    key: 'limits.receiveMs',
    ...MS,
    default: 60_000,
    why: 'how long a client may take to send a whole request',
  },
  {
    key: 'limits.stalledMs',
    ...MS,
    default: 60_000,
    why: 'how long a client may read nothing of a long answer, whose view of the state is kept meanwhile',
  },
  {
    key: 'limits.keepAliveMs',
    ...MS,
    default: 75_000,
    why: 'how long an idle connection stays open: longer than load balancers keep theirs',
  },
  {
    key: 'limits.stopMs',
    ...MS,
    default: 5_000,
    why: 'how long an orderly stop waits for requests in flight',
  },
  {
    key: 'limits.lingerMs',
    ...MS,
    default: 1_000,
    why: 'how long, of these, an idle connection stays open: longer than clients pause between requests',
  },
  {
    key: 'limits.snapshotBytes',
    type: 'integer',
    min: 1_048_576,
    max: 4_294_967_296,
    default: 536_870_912,
    why: 'bytes of a snapshot after decompression when it is restored: it is in memory while the state is replaced',
  },
  {
    key: 'limits.pendingWrites',
    ...COUNT,
    default: DEFAULT_LIMITS.pendingWrites,
    why: 'uncommitted writes in the log of this node as leader; more are refused with 429',
  },
  {
    key: 'limits.waitingWrites',
    ...COUNT,
    default: DEFAULT_LIMITS.waitingWrites,
    why: 'writes that wait on this node for a leader or for their outcome; more are refused with 429',
  },
  {
    key: 'limits.issuerRequests',
    ...COUNT,
    default: 32,
    why: 'concurrent requests to issuers and Kubernetes clusters, half of them for one namespace; logins that need one more are refused with 429. A server that does not answer occupies each for 5 s',
  },
  {
    key: 'limits.rightsBytes',
    type: 'integer',
    min: 1_048_576,
    max: 17_179_869_184,
    default: 67_108_864,
    why: 'approximate bytes of memory for compiled rights and parsed policies; the oldest are dropped first and compiled again when needed',
  },
  {
    key: 'limits.logBytes',
    type: 'integer',
    min: 1_048_576,
    max: 68_719_476_736,
    default: DEFAULT_LIMITS.logBytes,
    why: 'bytes of applied log after which it is compacted: a node that was down briefly still finds the entries it missed',
  },
  {
    key: 'limits.diskReserveBytes',
    type: 'integer',
    min: 0,
    max: 1_099_511_627_776,
    default: DEFAULT_LIMITS.diskReserveBytes,
    why: 'free bytes on the disk below which writes are refused: the databases need space for compaction',
  },
  {
    key: 'limits.secretsGoneMs',
    type: 'integer',
    min: 1000,
    max: 604_800_000,
    default: 600_000,
    why: 'how long a deleted secret may stay in the files of the members; the log is then compacted, so a member that was down for half as long gets the whole state when it returns',
  },

  {
    key: 'log.level',
    ...TEXT,
    default: 'info',
    choices: ['debug', 'info', 'warn', 'error', 'silent'],
    why: 'minimum severity of logged lines; debug adds why Raft decided as it did',
  },
] as const satisfies readonly Setting[];

/** Every setting, in the order of `--help` and of docs/settings.md. */
export const SETTINGS: readonly Setting[] = LIST;

/** A configuration as these settings make it. */
export type ConfigOfSettings = ConfigOf<(typeof LIST)[number]>;
