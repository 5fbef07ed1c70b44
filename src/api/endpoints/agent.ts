/** One node, archives, and the documents about the API. */
import {
  always,
  anyObject,
  boolean,
  fraction,
  type Normal,
  text,
  utcTime,
  whole64,
} from '../../languages/fields.js';
import { DONE, type Operation, ok, open, read, tagged, write } from './operation.js';
import { labelsOf, listOf, mapOf, oneOf, orNone, rows, shape } from './shapes.js';

const number = fraction((value) => value);

const VERSION = shape({
  SHA: always('The commit of the running build.', text()),
  BuildDate: always('When it was built.', utcTime),
  HumanVersion: always('The version of the release.', text()),
  FIPS: always('Always empty.', text()),
});

const gossip = always('A version of the gossip protocol, which clients expect.', whole64);
const MEMBER = shape({
  Name: always('The name of the node.', text()),
  Addr: always('Its address.', text()),
  Port: always('The port on which members communicate with each other.', whole64),
  Tags: always('Labels such as the role and the release of the node.', labelsOf),
  Status: always('1 if it is alive, 4 if it is not.', whole64),
  ProtocolMin: gossip,
  ProtocolMax: gossip,
  ProtocolCur: gossip,
  DelegateMin: gossip,
  DelegateMax: gossip,
  DelegateCur: gossip,
});

const SELF = shape({
  Config: always('The node and its datacenter.', anyObject),
  DebugConfig: always('The settings in force, without secrets.', anyObject),
  Coord: always('Network coordinates, which this server does not measure.', anyObject),
  Member: always('The node as a member.', MEMBER),
  Stats: always('Statistics by area and name, as text.', mapOf(labelsOf)),
  Meta: always('Labels of the node.', labelsOf),
});

const figure = {
  Name: always('The name of the metric.', text()),
  Labels: always('The labels.', anyObject),
};
const METRICS = shape({
  Timestamp: always('When the metrics were collected.', text()),
  Gauges: always(
    'Gauges, by name and labels.',
    rows({ ...figure, Value: always('The value.', number) }),
  ),
  Points: always('Always empty.', listOf(number)),
  Counters: always(
    'Counters, which only increase.',
    rows({
      ...figure,
      Count: always('The value without its fraction.', whole64),
      Sum: always('The value.', number),
    }),
  ),
  Samples: always(
    'Measured times.',
    rows({
      ...figure,
      Count: always('The number of measurements.', whole64),
      Sum: always('The sum of the times.', number),
      Min: always('The shortest time.', number),
      Max: always('The longest time.', number),
      Mean: always('The mean time.', number),
    }),
  ),
});

const HISTORY = shape({
  IntervalMs: always('Milliseconds between two values.', whole64),
  From: always('When the interval of the first values began.', utcTime),
  Series: always(
    'The values of each figure in the last hour, oldest first; null where none is known.',
    mapOf(listOf(orNone(number))),
  ),
  Node: always('The node.', text()),
  Certificates: always(
    'The certificates in use.',
    rows({
      Use: always('What the certificate is for.', text()),
      NotAfter: always('When it expires.', utcTime),
    }),
  ),
  LastBackup: always(
    'When this process sent its last whole archive; null if it sent none.',
    orNone(utcTime),
  ),
  Warnings: always(
    'The last warnings and errors of the log, newest first.',
    rows({
      Time: always('When it was logged last.', utcTime),
      Level: always('How severe it is.', oneOf('warn', 'error')),
      Event: always('The name of the event.', text()),
      Message: always('What happened.', text()),
      Count: always('How often it was logged.', whole64),
    }),
  ),
});
/** `GET /v1/agent/history`. */
export type AgentHistory = Normal<typeof HISTORY>;

const alone = always('Always false: there is one datacenter.', boolean);
const empty = always('Always empty.', text());
const zero = always('Always 0.', whole64);
const longAgo = always('A time in the distant past.', utcTime);
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

const LIVE = shape({ Status: always('Always live.', oneOf('live')) });
const READY = shape({
  Status: always('Always ready.', oneOf('ready')),
  Leader: always('The address of the leader.', text()),
});

/** The answers of an endpoint that serves a JSON document. */
const document = (description: string): Operation['answers'] => ({
  ...ok(description, { schema: { type: 'object' } }, 'etag'),
  304: { description: 'The client already has this version.', headers: ['etag'] },
});

export const NODE_OPERATIONS = tagged('agent', {
  'GET /v1/status/leader': open('readLeader', {
    description: 'Reads the address of the leader.',
    answers: ok('The address, or an empty text if none is known.', text()),
  }),
  'GET /v1/status/peers': open('listPeers', {
    description: 'Lists the addresses of the voters.',
    answers: ok('The addresses.', listOf(text())),
  }),
  'GET /v1/health/live': open('readLiveness', {
    description: 'Responds as long as the process is alive.',
    answers: ok('The process is alive.', LIVE),
  }),
  'GET /v1/health/ready': read('readReadiness', {
    description: 'Reports whether the node is ready to serve requests.',
    answers: ok('The node is ready.', READY),
  }),
  'GET /v1/agent/version': open('readVersion', {
    description: 'Reads the release that the node runs.',
    answers: ok('The release.', VERSION),
  }),
  'GET /v1/agent/self': read('readAgent', {
    description: 'Reads the settings and the state of the node.',
    answers: ok('The node.', SELF),
    rights: ['agent:read'],
  }),
  'GET /v1/agent/members': read('listMembers', {
    description: 'Lists the members that the caller may read.',
    query: ['filter'],
    answers: ok('The members.', listOf(MEMBER)),
    rights: ['node:read'],
  }),
  'GET /v1/agent/metrics': read('readMetrics', {
    description: 'Reads the metrics of the node.',
    query: ['format'],
    answers: {
      200: { description: 'The metrics.', content: METRICS, text: true },
    },
    rights: ['agent:read'],
  }),
  'GET /v1/agent/history': read('readFigures', {
    description:
      'Reads figures of the node in the last hour, its last warnings, and its certificates.',
    answers: ok('The figures.', HISTORY),
    rights: ['operator:read'],
  }),
  'GET /v1/acl/replication': open('readReplication', {
    description:
      'Reads the status of replication between datacenters, which this server does not ' +
      'support.',
    answers: ok('A status without replication.', REPLICATION),
  }),
  'GET /v1/snapshot': read('saveSnapshot', {
    tag: 'operator',
    description: 'Saves the whole state as an archive.',
    answers: {
      200: { description: 'The archive.', media: 'application/x-gzip', headers: ['index'] },
    },
    rights: ['acl:write'],
  }),
  'PUT /v1/snapshot': write('restoreSnapshot', {
    tag: 'operator',
    description: 'Replaces the whole state with that of an archive.',
    body: { schema: {} },
    bodyMedia: 'application/x-gzip',
    answers: DONE,
    rights: ['acl:write'],
  }),
  'GET /v1/openapi.json': open('readOpenApi', {
    description: 'Reads this document.',
    tag: 'documents',
    answers: document('The document.'),
  }),
  'GET /v1/schema/config/:kind': open('readConfigSchema', {
    description: 'Reads the JSON Schema of a kind as clients write its entries.',
    tag: 'documents',
    answers: document('The schema.'),
    refuses: [404],
  }),
  'GET /v1/schema/:type': open('readSchema', {
    description: 'Reads the JSON Schema of an object as clients write it, or of problem details.',
    tag: 'documents',
    answers: document('The schema.'),
    refuses: [404],
  }),
});
