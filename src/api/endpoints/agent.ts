/** One node, archives, and the documents about the API. */
import {
  anyObject,
  boolean,
  fraction,
  keep,
  type Normal,
  text,
  utcTime,
  whole64,
} from '../../languages/fields.js';
import { DONE, type Operation, ok, open, read, tagged, write } from './operation.js';
import { labelsOf, listOf, mapOf, oneOf, orNone, rows, shape } from './shapes.js';

const number = fraction((value) => value);

const VERSION = shape({
  SHA: keep('The commit of the running build.', text()),
  BuildDate: keep('When it was built.', utcTime),
  HumanVersion: keep('The version of the release.', text()),
  FIPS: keep('Always empty.', text()),
});

const gossip = keep('A version of the gossip protocol, which clients expect.', whole64);
const MEMBER = shape({
  Name: keep('The name of the node.', text()),
  Addr: keep('Its address.', text()),
  Port: keep('The port on which members communicate with each other.', whole64),
  Tags: keep('Labels such as the role and the release of the node.', labelsOf),
  Status: keep('1 if it is alive, 4 if it is not.', whole64),
  ProtocolMin: gossip,
  ProtocolMax: gossip,
  ProtocolCur: gossip,
  DelegateMin: gossip,
  DelegateMax: gossip,
  DelegateCur: gossip,
});

const SELF = shape({
  Config: keep('The node and its datacenter.', anyObject),
  DebugConfig: keep('The settings in force, without secrets.', anyObject),
  Coord: keep('Network coordinates, which this server does not measure.', anyObject),
  Member: keep('The node as a member.', MEMBER),
  Stats: keep('Statistics by area and name, as text.', mapOf(labelsOf)),
  Meta: keep('Labels of the node.', labelsOf),
});

const figure = {
  Name: keep('The name of the metric.', text()),
  Labels: keep('The labels.', anyObject),
};
const METRICS = shape({
  Timestamp: keep('When the metrics were collected.', text()),
  Gauges: keep(
    'Gauges, by name and labels.',
    rows({ ...figure, Value: keep('The value.', number) }),
  ),
  Points: keep('Always empty.', listOf(number)),
  Counters: keep(
    'Counters, which only increase.',
    rows({
      ...figure,
      Count: keep('The value without its fraction.', whole64),
      Sum: keep('The value.', number),
    }),
  ),
  Samples: keep(
    'Measured times.',
    rows({
      ...figure,
      Count: keep('The number of measurements.', whole64),
      Sum: keep('The sum of the times.', number),
      Min: keep('The shortest time.', number),
      Max: keep('The longest time.', number),
      Mean: keep('The mean time.', number),
    }),
  ),
});

const HISTORY = shape({
  IntervalMs: keep('Milliseconds between two values.', whole64),
  From: keep('When the interval of the first values began.', utcTime),
  Series: keep(
    'The values of each figure in the last hour, oldest first; null where none is known.',
    mapOf(listOf(orNone(number))),
  ),
  Node: keep('The node.', text()),
  Certificates: keep(
    'The certificates in use.',
    rows({
      Use: keep('What the certificate is for.', text()),
      NotAfter: keep('When it expires.', utcTime),
    }),
  ),
  LastBackup: keep(
    'When this process sent its last whole archive; null if it sent none.',
    orNone(utcTime),
  ),
  Warnings: keep(
    'The last warnings and errors of the log, newest first.',
    rows({
      Time: keep('When it was logged last.', utcTime),
      Level: keep('How severe it is.', oneOf('warn', 'error')),
      Event: keep('The name of the event.', text()),
      Message: keep('What happened.', text()),
      Count: keep('How often it was logged.', whole64),
    }),
  ),
});
/** `GET /v1/agent/history`. */
export type AgentHistory = Normal<typeof HISTORY>;

const alone = keep('Always false: there is one datacenter.', boolean);
const empty = keep('Always empty.', text());
const zero = keep('Always 0.', whole64);
const longAgo = keep('A time in the distant past.', utcTime);
const REPLICATION = shape({
  Enabled: alone,
  Running: alone,
  SourceDatacenter: empty,
  ReplicationType: empty,
  ReplicatedIndex: zero,
  ReplicatedRoleIndex: zero,
  ReplicatedTokenIndex: zero,
  LastSuccess: longAgo,
  LastError: longAgo,
  LastErrorMessage: empty,
});

const LIVE = shape({ Status: keep('Always live.', oneOf('live')) });
const READY = shape({
  Status: keep('Always ready.', oneOf('ready')),
  Leader: keep('The address of the leader.', text()),
});

/** The answers of an endpoint that serves a JSON document. */
const document = (says: string): Operation['answers'] => ({
  ...ok(says, { schema: { type: 'object' } }, 'etag'),
  304: { says: 'The client already has this version.', headers: ['etag'] },
});

export const NODE_OPERATIONS = tagged('agent', {
  'GET /v1/status/leader': open('readLeader', {
    says: 'Reads the address of the leader.',
    answers: ok('The address, or an empty text if none is known.', text()),
  }),
  'GET /v1/status/peers': open('listPeers', {
    says: 'Lists the addresses of the voters.',
    answers: ok('The addresses.', listOf(text())),
  }),
  'GET /v1/health/live': open('readLiveness', {
    says: 'Responds as long as the process is alive.',
    answers: ok('The process is alive.', LIVE),
  }),
  'GET /v1/health/ready': read('readReadiness', {
    says: 'Reports whether the node is ready to serve requests.',
    answers: ok('The node is ready.', READY),
  }),
  'GET /v1/agent/version': open('readVersion', {
    says: 'Reads the release that the node runs.',
    answers: ok('The release.', VERSION),
  }),
  'GET /v1/agent/self': read('readAgent', {
    says: 'Reads the settings and the state of the node.',
    answers: ok('The node.', SELF),
    rights: ['agent:read'],
  }),
  'GET /v1/agent/members': read('listMembers', {
    says: 'Lists the members that the caller may read.',
    query: ['filter'],
    answers: ok('The members.', listOf(MEMBER)),
    rights: ['node:read'],
  }),
  'GET /v1/agent/metrics': read('readMetrics', {
    says: 'Reads the metrics of the node.',
    query: ['format'],
    answers: {
      200: { says: 'The metrics.', content: METRICS, text: true },
    },
    rights: ['agent:read'],
  }),
  'GET /v1/agent/history': read('readFigures', {
    says: 'Reads figures of the node in the last hour, its last warnings, and its certificates.',
    answers: ok('The figures.', HISTORY),
    rights: ['operator:read'],
  }),
  'GET /v1/acl/replication': open('readReplication', {
    says:
      'Reads the status of replication between datacenters, which this server does not ' +
      'support.',
    answers: ok('A status without replication.', REPLICATION),
  }),
  'GET /v1/snapshot': read('saveSnapshot', {
    tag: 'operator',
    says: 'Saves the whole state as an archive.',
    answers: {
      200: { says: 'The archive.', media: 'application/x-gzip', headers: ['index'] },
    },
    rights: ['acl:write'],
  }),
  'PUT /v1/snapshot': write('restoreSnapshot', {
    tag: 'operator',
    says: 'Replaces the whole state with that of an archive.',
    body: { schema: {} },
    bodyMedia: 'application/x-gzip',
    answers: DONE,
    rights: ['acl:write'],
  }),
  'GET /v1/openapi.json': open('readOpenApi', {
    says: 'Reads this document.',
    tag: 'documents',
    answers: document('The document.'),
  }),
  'GET /v1/schema/config/:kind': open('readConfigSchema', {
    says: 'Reads the JSON Schema of a kind as clients write its entries.',
    tag: 'documents',
    answers: document('The schema.'),
    refuses: [404],
  }),
  'GET /v1/schema/:type': open('readSchema', {
    says: 'Reads the JSON Schema of an object as clients write it, or of problem details.',
    tag: 'documents',
    answers: document('The schema.'),
    refuses: [404],
  }),
});
