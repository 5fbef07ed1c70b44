/** The members of the cluster and its settings. */
import {
  always,
  anyObject,
  bodyOf,
  boolean,
  computed,
  ifSent,
  type Normal,
  nonEmpty,
  text,
  timeToLive,
  utcTime,
  whole64,
} from '../../languages/fields.js';
import { DONE, ok, read, tagged, write } from './operation.js';
import { labelsOf, listOf, mapOf, oneOf, orNone, rows, shape } from './shapes.js';

export const AUTOPILOT_CONFIGURATION = bodyOf({
  CleanupDeadServers: ifSent('Whether dead servers are removed once others replace them.', boolean),
  LastContactThreshold: ifSent(
    'How long a healthy server may go without contact with the leader.',
    timeToLive,
  ),
  MaxTrailingLogs: ifSent('How many log entries a healthy server may be behind.', whole64),
  MinQuorum: ifSent('How many voters must remain when a dead server is removed.', whole64),
  ServerStabilizationTime: ifSent(
    'How long a new server must be healthy before it may vote.',
    timeToLive,
  ),
  RedundancyZoneTag: ifSent(
    'A setting of another edition. It is stored but has no effect.',
    text(),
  ),
  DisableUpgradeMigration: ifSent(
    'A setting of another edition. It is stored but has no effect.',
    boolean,
  ),
  UpgradeVersionTag: ifSent(
    'A setting of another edition. It is stored but has no effect.',
    text(),
  ),
  CreateIndex: ifSent('The index at which the configuration was created.', computed(whole64)),
  ModifyIndex: ifSent('The index at which the configuration was last changed.', computed(whole64)),
});

const LEVEL = shape({
  Level: always('The level in force.', whole64),
  Supported: always('The level that this node supports.', whole64),
  Members: always(
    'What each member supports.',
    rows({
      ID: always('The ID of the member.', text()),
      Name: always('The name of the member.', text()),
      Supported: always('The level that it supports; null if it did not answer.', orNone(whole64)),
    }),
  ),
  Waiting: always('The members that keep the level from rising.', listOf(text())),
});

/** A server, by what every answer about servers has. */
const server = {
  ID: always('The ID of the server.', text()),
  Address: always('Its address.', text()),
};
/** A member as Raft sees it. */
const member = {
  ...server,
  Leader: always('Whether it is the leader.', boolean),
  Voter: always('Whether it is a voter.', boolean),
  LastIndex: always('The index of the last entry that it is known to have.', whole64),
};
const name = always('The name of the server.', text());

const RAFT_CONFIGURATION = shape({
  Servers: always(
    'The members: voters and learners.',
    rows({
      ...member,
      Node: name,
      ProtocolVersion: always('Always 3.', text()),
    }),
  ),
  Index: always('The index of the configuration.', whole64),
});

const SUCCESS = shape({ Success: always('Always true.', boolean) });

const JOINING = shape({
  ...server,
  Node: name,
  CertificateSubject: nonEmpty('The subject of its certificate, if members use TLS.', text()),
  PublicKey: nonEmpty('The public key of its data folder, which it has proved to have.', text()),
});

const JOIN_TOKEN = shape({
  JoinToken: always('The token. It is shown once.', text()),
  ExpirationTime: always('When the token expires.', utcTime),
});

const health = {
  ...member,
  Name: name,
  Version: always('The release of the node that answers.', text()),
  LastContact: always('The time since the leader last heard from it.', text()),
  LastTerm: always('The term of its last entry.', whole64),
  Healthy: always('Whether it is healthy.', boolean),
  StableSince: always('When its health last changed.', utcTime),
};
const aliveOrFailed = always('alive or failed.', text());
const tolerance = {
  Healthy: always('Whether all members are healthy.', boolean),
  FailureTolerance: always('How many healthy voters the cluster can lose.', whole64),
};

const HEALTH = shape({
  ...tolerance,
  Servers: always('The members.', rows({ ...health, SerfStatus: aliveOrFailed })),
});

const AUTOPILOT_STATE = shape({
  ...tolerance,
  OptimisticFailureTolerance: always('The same as FailureTolerance.', whole64),
  Servers: always(
    'The members by their IDs.',
    mapOf(
      shape({
        ...health,
        NodeStatus: aliveOrFailed,
        Status: always('Its role.', oneOf('leader', 'voter', 'non-voter')),
        NodeType: always('Its type.', oneOf('voter', 'read-replica')),
        Meta: always('`problem`: why the server is not healthy although it answers.', labelsOf),
      }),
    ),
  ),
  Leader: always('The ID of the leader.', text()),
  Voters: always('The IDs of the voters.', listOf(text())),
});

const AUTOPILOT = shape({
  CleanupDeadServers: always('Whether dead servers are removed.', boolean),
  LastContactThreshold: always(
    'How long a healthy server may go without contact with the leader.',
    text(),
  ),
  MaxTrailingLogs: always('How many log entries a healthy server may be behind.', whole64),
  MinQuorum: always('How many voters must remain.', whole64),
  ServerStabilizationTime: always('How long a server must be healthy before it votes.', text()),
  RedundancyZoneTag: always('A setting of another edition.', text()),
  DisableUpgradeMigration: always('A setting of another edition.', boolean),
  UpgradeVersionTag: always('A setting of another edition.', text()),
  CreateIndex: always(
    'The index at which the configuration was created, or 0 if it never was.',
    whole64,
  ),
  ModifyIndex: always('The index at which it was last changed, or 0 if it never was.', whole64),
});

const AUDIT = shape({
  Sinks: always(
    'The sinks of the node.',
    rows({
      Name: always('The name of the sink.', text()),
      Type: always('Its type.', oneOf('file', 'stdout')),
      Path: always('The path of its file.', text()),
      DeliveryGuarantee: always(
        'Whether requests are refused while it cannot be written.',
        oneOf('best-effort', 'required'),
      ),
      Scope: always('Which requests it records.', oneOf('writes', 'all')),
      Seq: always('The number of the last record.', whole64),
      Hash: always('The hash of the last record.', text()),
      Dropped: always('How many records were lost since the node started.', whole64),
      Failing: always('Whether it cannot be written.', boolean),
      LastError: always('Why it last could not be written.', text()),
      Files: always('Its files: the present one and those that were rotated.', whole64),
      Bytes: always('The bytes of the present file.', whole64),
    }),
  ),
});

const AUDIT_TAIL = shape({
  Node: always('The name of the node.', text()),
  Records: always(
    'The records, newest first; docs/audit.md lists their members.',
    listOf(anyObject),
  ),
  More: always('Whether there are older ones in memory.', boolean),
});

/** `GET /v1/operator/audit`. */
export type AuditSinks = Normal<typeof AUDIT>;
export type AuditSink = AuditSinks['Sinks'][number];
/** `GET /v1/operator/raft/configuration`. */
export type RaftConfiguration = Normal<typeof RAFT_CONFIGURATION>;
/** A server that waits to be admitted. */
export type Joining = Normal<typeof JOINING>;
/** `POST /v1/operator/raft/join-token`. */
export type JoinToken = Normal<typeof JOIN_TOKEN>;
/** `GET /v1/operator/level`. */
export type Level = Normal<typeof LEVEL>;
/** `GET /v1/operator/autopilot/state`. */
export type Autopilot = Normal<typeof AUTOPILOT_STATE>;
/** A member as the leader, or a node without one, sees it. */
export type Server = Autopilot['Servers'][string];

export const OPERATOR_OPERATIONS = tagged('operator', {
  'GET /v1/operator/level': read('readLevel', {
    description: 'Reads the level in force, and what each member supports.',
    answers: ok('The level.', LEVEL),
    rights: ['operator:read'],
  }),
  'GET /v1/operator/audit': read('readAuditSinks', {
    description: 'Reads the sinks of the audit log of the node that answers.',
    answers: ok('The sinks.', AUDIT),
    rights: ['operator:read'],
  }),
  'GET /v1/operator/audit/tail': read('readAuditTail', {
    description: 'Reads the newest records of the audit log of the node that answers.',
    query: ['limit', 'before'],
    answers: ok('The records.', AUDIT_TAIL),
    refuses: [404],
    rights: ['operator:read', 'acl:read'],
  }),
  'GET /v1/operator/raft/configuration': read('readRaftConfiguration', {
    description: 'Lists the members: voters and learners.',
    answers: ok('The members.', RAFT_CONFIGURATION),
    rights: ['operator:read'],
  }),
  'DELETE /v1/operator/raft/peer': write('removeServer', {
    description: 'Removes a server from the cluster, by its ID or address.',
    query: ['id', 'address'],
    answers: DONE,
    refuses: [404, 409],
    rights: ['operator:write'],
  }),
  'POST /v1/operator/raft/transfer-leader': write('transferLeadership', {
    description:
      'Transfers leadership to a voter: the one with the given ID, or the most up-to-date one.',
    query: ['id'],
    answers: ok('The operation succeeded.', SUCCESS),
    refuses: [404, 409],
    rights: ['operator:write'],
  }),
  'GET /v1/operator/raft/joining': read('listJoiningServers', {
    description: 'Lists the servers that are waiting to be admitted.',
    answers: ok('The servers.', listOf(JOINING)),
    rights: ['operator:read'],
  }),
  'PUT /v1/operator/raft/joining/:id': write('admitServer', {
    description: 'Admits a waiting server to the cluster.',
    answers: ok('The operation succeeded.', { schema: { const: true } }),
    refuses: [404, 409],
    rights: ['operator:write'],
  }),
  'POST /v1/operator/raft/join-token': write('createJoinToken', {
    description: 'Creates a token with which one server may join.',
    query: ['ttl'],
    answers: ok('The join token.', JOIN_TOKEN),
    refuses: [409],
    rights: ['operator:write'],
  }),
  'GET /v1/operator/autopilot/configuration': read('readAutopilotConfiguration', {
    description: 'Reads when a server is considered healthy, and what happens to dead servers.',
    answers: ok('The configuration.', AUTOPILOT),
    rights: ['operator:read'],
  }),
  'PUT /v1/operator/autopilot/configuration': write('writeAutopilotConfiguration', {
    description: 'Replaces the autopilot configuration. Absent members take their defaults.',
    query: ['cas'],
    body: 'AutopilotConfigurationBody',
    answers: ok('Whether it was written: false if its index differs from cas.', boolean),
    refuses: [412],
    rights: ['operator:write'],
  }),
  'GET /v1/operator/autopilot/health': read('readHealth', {
    description: 'Reads the health of each member as the leader sees it.',
    answers: {
      200: { description: 'All members are healthy.', content: HEALTH },
      429: { description: 'A member is not healthy.', content: HEALTH },
    },
    rights: ['operator:read'],
  }),
  'GET /v1/operator/autopilot/state': read('readAutopilotState', {
    description: 'Reads the health of each member by server ID, with the leader and the voters.',
    answers: ok('The members.', AUTOPILOT_STATE),
    rights: ['operator:read'],
  }),
  'GET /v1/operator/acl/configuration': read('readAclConfiguration', {
    description: 'Reads how long login tokens are valid, and how many one identity may have.',
    answers: ok('The configuration.', 'AclConfiguration', 'index', 'etag'),
    rights: ['operator:read'],
  }),
  'PUT /v1/operator/acl/configuration': write('writeAclConfiguration', {
    description: 'Replaces the ACL configuration. Absent members take their defaults.',
    body: 'AclConfigurationBody',
    answers: ok('The configuration.', 'AclConfiguration', 'etag'),
    refuses: [412],
    rights: ['operator:write', 'acl:write'],
  }),
});
