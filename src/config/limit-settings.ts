/** The settings below `limits`; see settings.ts. */

import { COMMAND_BYTES_MAX } from '../base/wire-limits.js';
import { DEFAULT_LIMITS } from '../node/options.js';
import type { Setting } from './setting.js';
import { COUNT, MS, RATE } from './setting-types.js';

export const LIMITS = [
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
    key: 'limits.planBytes',
    type: 'integer',
    min: 1024,
    max: 67_108_864,
    default: 8_388_608,
    why: 'largest body of a plan or an apply: a set is compared whole, and what it changes must fit into limits.bodyBytes',
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
    key: 'limits.pendingBodyBytes',
    type: 'integer',
    min: 65_536,
    max: 1_073_741_824,
    default: 67_108_864,
    why:
      'bytes of bodies without a valid token that are being received, in all: beyond them, the ' +
      'oldest is refused with 429',
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
    why:
      'open HTTP connections, about 10 kB each; fewer if the limit on open files leaves room ' +
      'for fewer beside 512 files of the node itself',
  },
  {
    key: 'limits.connectionsPerAddress',
    ...COUNT,
    default: 24_576,
    why:
      'open HTTP connections from one address (for IPv6, one /64): enough for a proxy, ' +
      'which is one address. While others have connections too, the fewer of ' +
      'limits.connections are free, the fewer one address may open: two addresses that ' +
      'open as many as they can leave one in sixteen free by default',
  },
  {
    key: 'limits.probeConnections',
    type: 'integer',
    min: 0,
    max: 1024,
    default: 16,
    why: 'connections beyond limits.connections, each for one request to /v1/health/: a node without free connections is still alive',
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
    why:
      'blocking queries waiting at one time from one address: enough for a gateway, not ' +
      'for a runaway client',
  },
  {
    key: 'limits.heldPerToken',
    ...COUNT,
    default: 16_384,
    why: 'blocking queries waiting at one time with one token: agents on many hosts may share one',
  },
  {
    key: 'limits.heldAnonymous',
    ...COUNT,
    default: 1_024,
    why:
      'blocking queries waiting at one time without a token from one address: anonymous ' +
      'clients rarely need any',
  },
  {
    key: 'limits.rightsFeedBytes',
    type: 'integer',
    min: 65_536,
    max: 67_108_864,
    default: 4_194_304,
    why:
      'largest feed of the rights of one token: 1,000 rules take 45 to 88 kB; beyond it the feed ' +
      'is refused, because a part of it would decide wrongly',
  },
  {
    key: 'limits.eventStreams',
    ...COUNT,
    default: 30_000,
    why:
      'event streams open at one time; each has a connection, so limits.connections must ' +
      'allow them',
  },
  {
    key: 'limits.eventStreamsPerClient',
    ...COUNT,
    default: 16_384,
    why: 'event streams open at one time from one address',
  },
  {
    key: 'limits.eventStreamsPerToken',
    ...COUNT,
    default: 16_384,
    why: 'event streams open at one time with one token',
  },
  {
    key: 'limits.eventStreamsAnonymous',
    ...COUNT,
    default: 1_024,
    why: 'event streams open at one time without a token from one address',
  },
  {
    key: 'limits.eventStallMs',
    type: 'integer',
    min: 1000,
    max: 86_400_000,
    default: 600_000,
    why: 'how long a reader of events may stop reading before its connection is closed',
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
    why:
      'minimum average rate in bytes per second at which a long list or snapshot must be ' +
      'read, after limits.stalledMs: slower than any network that could carry the API',
  },
  {
    key: 'limits.requestsPerAddress',
    ...RATE,
    default: 50_000,
    why:
      'requests per second from one address (for IPv6, one /64), in bursts of five ' +
      'seconds’ worth; 0 for no limit. More than a node answers on common hardware, ' +
      'because a proxy is one address: set it lower if clients have addresses of their own',
  },
  {
    key: 'limits.requestsPerToken',
    ...RATE,
    default: 50_000,
    why: 'requests per second with one token',
  },
  {
    key: 'limits.writesPerAddress',
    ...RATE,
    default: 10_000,
    why: 'writes per second from one address: more than a cluster commits',
  },
  {
    key: 'limits.writesPerToken',
    ...RATE,
    default: 10_000,
    why: 'writes per second with one token',
  },
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
    why: 'logins per second with one auth method on this node; only valid bearer tokens count',
  },
  {
    key: 'limits.jwtChecksPerAddress',
    ...RATE,
    default: 500,
    why:
      'JWTs per second that decisions verify for one address; those that were verified in ' +
      'the last minute do not count',
  },
  {
    key: 'limits.jwtChecksPerMethod',
    ...RATE,
    default: 5_000,
    why: 'JWTs per second that decisions verify by one auth method on this node',
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
    why:
      'refusals per second (401, 403, 413, 429; unknown paths and methods; without a valid ' +
      'token 400 too) that one address gets without delay, in bursts of five seconds’ ' +
      'worth; further refusals are delayed, and the request bodies stay unread, so that ' +
      'the client waits instead of the cluster. 0 for no limit',
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
    why:
      'how long a client may take to send its headers: less, down to a second, while more than ' +
      'one in 32 of limits.connections have begun and have no request in progress; likewise for ' +
      'a TLS handshake',
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
    why:
      'how long a client may stop reading a long response, whose view of the state is kept ' +
      'in the meantime',
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
    why:
      'how long an idle connection stays open during an orderly stop, as part of ' +
      'limits.stopMs: longer than clients pause between requests',
  },
  {
    key: 'limits.snapshotBytes',
    type: 'integer',
    min: 1_048_576,
    max: 4_294_967_296,
    default: 536_870_912,
    why:
      'largest snapshot that can be restored, after decompression: until it replaces the ' +
      'state, the disk has both',
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
    key: 'limits.waitingBytes',
    type: 'integer',
    min: 1_048_576,
    max: 68_719_476_736,
    default: DEFAULT_LIMITS.waitingBytes,
    why:
      'bytes of the writes that wait on this node, about half of the memory that they take; ' +
      'more writes are refused with 429. As many as a leader may have uncommitted',
  },
  {
    key: 'limits.issuerRequests',
    ...COUNT,
    default: 32,
    why:
      'concurrent requests to issuers and Kubernetes clusters, at most half of them for ' +
      'one namespace; logins that need another are refused with 429. A server that does ' +
      'not answer occupies each request for 10 s',
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
    why: 'free bytes on the disk below which a leader hands over, or refuses writes if no voter has more: the databases need space for compaction',
  },
  {
    key: 'limits.secretsGoneMs',
    type: 'integer',
    min: 1000,
    max: 604_800_000,
    default: 600_000,
    why: 'how long a deleted secret may stay in the files of the members; the log is then compacted, so a member that was down for a third as long gets the whole state when it returns',
  },
] as const satisfies readonly Setting[];
