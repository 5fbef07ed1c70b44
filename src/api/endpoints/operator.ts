/** The members of the cluster and its settings. */
import {
  anyObject,
  bodyOf,
  boolean,
  computed,
  given,
  keep,
  type Normal,
  omit,
  text,
  timeToLive,
  utcTime,
  whole64,
} from '../../languages/fields.js';
import { DONE, ok, read, tagged, write } from './operation.js';
import { labelsOf, listOf, mapOf, oneOf, orNone, rows, shape } from './shapes.js';

export const AUTOPILOT_CONFIGURATION = bodyOf({
  CleanupDeadServers: given('Whether dead servers are removed once others replace them.', boolean),
  LastContactThreshold: given(
    'How long a healthy server may go without contact with the leader.',
    timeToLive,
  ),
  MaxTrailingLogs: given('How many log entries a healthy server may be behind.', whole64),
  MinQuorum: given('How many voters must remain when a dead server is removed.', whole64),
  ServerStabilizationTime: given(
    'How long a new server must be healthy before it may vote.',
    timeToLive,
  ),
  RedundancyZoneTag: given('A setting of another edition. It is stored but has no effect.', text()),
  DisableUpgradeMigration: given(
    'A setting of another edition. It is stored but has no effect.',
    boolean,
  ),
  UpgradeVersionTag: given('A setting of another edition. It is stored but has no effect.', text()),
  CreateIndex: given('The index at which the configuration was created.', computed(whole64)),
  ModifyIndex: given('The index at which the configuration was last changed.', computed(whole64)),
});

const LEVEL = shape({
  Level: keep('The level in force.', whole64),
  Supported: keep('The level that this node supports.', whole64),
  Members: keep(
    'What each member supports.',
    rows({
      ID: keep('The ID of the member.', text()),
      Name: keep('The name of the member.', text()),
      Supported: keep('The level that it supports; null if it did not answer.', orNone(whole64)),
    }),
  ),
  Waiting: keep('The members that keep the level from rising.', listOf(text())),
});

/** A server, by what every answer about servers has. */
const server = {
  ID: keep('The ID of the server.', text()),
  Address: keep('Its address.', text()),
};
/** A member as Raft sees it. */
const member = {
  ...server,
  Leader: keep('Whether it is the leader.', boolean),
  Voter: keep('Whether it is a voter.', boolean),
  LastIndex: keep('The index of the last entry that it is known to have.', whole64),
};
const name = keep('The name of the server.', text());

const RAFT_CONFIGURATION = shape({
  Servers: keep(
    'The members: voters and learners.',
    rows({
      ...member,
      Node: name,
      ProtocolVersion: keep('Always 3.', text()),
    }),
  ),
  Index: keep('The index of the configuration.', whole64),
});

const SUCCESS = shape({ Success: keep('Always true.', boolean) });

const JOINING = shape({
  ...server,
  Node: name,
  CertificateSubject: omit('The subject of its certificate, if members use TLS.', text()),
  PublicKey: omit('The public key of its data folder, which it has proved to have.', text()),
});

const JOIN_TOKEN = shape({
  JoinToken: keep('The token. It is shown once.', text()),
  ExpirationTime: keep('When the token expires.', utcTime),
});

const health = {
  ...member,
  Name: name,
  Version: keep('The release of the node that answers.', text()),
  LastContact: keep('The time since the leader last heard from it.', text()),
  LastTerm: keep('The term of its last entry.', whole64),
  Healthy: keep('Whether it is healthy.', boolean),
  StableSince: keep('When its health last changed.', utcTime),
};
const aliveOrFailed = keep('alive or failed.', text());
const tolerance = {
  Healthy: keep('Whether all members are healthy.', boolean),
  FailureTolerance: keep('How many healthy voters the cluster can lose.', whole64),
};

const HEALTH = shape({
  ...tolerance,
  Servers: keep('The members.', rows({ ...health, SerfStatus: aliveOrFailed })),
});

const AUTOPILOT_STATE = shape({
  ...tolerance,
  OptimisticFailureTolerance: keep('The same as FailureTolerance.', whole64),
  Servers: keep(
    'The members by their IDs.',
    mapOf(
      shape({
        ...health,
        NodeStatus: aliveOrFailed,
        Status: keep('Its role.', oneOf('leader', 'voter', 'non-voter')),
        NodeType: keep('Its type.', oneOf('voter', 'read-replica')),
        Meta: keep('`problem`: why the server is not healthy although it answers.', labelsOf),
      }),
    ),
  ),
  Leader: keep('The ID of the leader.', text()),
  Voters: keep('The IDs of the voters.', listOf(text())),
});

const AUTOPILOT = shape({
  CleanupDeadServers: keep('Whether dead servers are removed.', boolean),
  LastContactThreshold: keep(
    'How long a healthy server may go without contact with the leader.',
    text(),
  ),
  MaxTrailingLogs: keep('How many log entries a healthy server may be behind.', whole64),
  MinQuorum: keep('How many voters must remain.', whole64),
  ServerStabilizationTime: keep('How long a server must be healthy before it votes.', text()),
  RedundancyZoneTag: keep('A setting of another edition.', text()),
  DisableUpgradeMigration: keep('A setting of another edition.', boolean),
  UpgradeVersionTag: keep('A setting of another edition.', text()),
  CreateIndex: keep(
    'The index at which the configuration was created, or 0 if it never was.',
    whole64,
  ),
  ModifyIndex: keep('The index at which it was last changed, or 0 if it never was.', whole64),
});

const AUDIT = shape({
  Sinks: keep(
    'The sinks of the node.',
    rows({
      Name: keep('The name of the sink.', text()),
      Type: keep('Its type.', oneOf('file', 'stdout')),
      Path: keep('The path of its file.', text()),
      DeliveryGuarantee: keep(
        'Whether requests are refused while it cannot be written.',
        oneOf('best-effort', 'required'),
      ),
      Scope: keep('Which requests it records.', oneOf('writes', 'all')),
      Seq: keep('The number of the last record.', whole64),
      Hash: keep('The hash of the last record.', text()),
      Dropped: keep('How many records were lost since the node started.', whole64),
      Failing: keep('Whether it cannot be written.', boolean),
      LastError: keep('Why it last could not be written.', text()),
      Files: keep('Its files: the present one and those that were rotated.', whole64),
      Bytes: keep('The bytes of the present file.', whole64),
    }),
  ),
});

const AUDIT_TAIL = shape({
  Node: keep('The name of the node.', text()),
  Records: keep('The records, newest first; docs/audit.md lists their members.', listOf(anyObject)),
  More: keep('Whether there are older ones in memory.', boolean),
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
    says: 'Reads the level in force, and what each member supports.',
    answers: ok('The level.', LEVEL),
    rights: ['operator:read'],
  }),
  'GET /v1/operator/audit': read('readAuditSinks', {
    says: 'Reads the sinks of the audit log of the node that answers.',
    answers: ok('The sinks.', AUDIT),
    rights: ['operator:read'],
  }),
  'GET /v1/operator/audit/tail': read('readAuditTail', {
    says: 'Reads the newest records of the audit log of the node that answers.',
    query: ['limit', 'before'],
    answers: ok('The records.', AUDIT_TAIL),
    refuses: [404],
    rights: ['operator:read', 'acl:read'],
  }),
  'GET /v1/operator/raft/configuration': read('readRaftConfiguration', {
    says: 'Lists the members: voters and learners.',
    answers: ok('The members.', RAFT_CONFIGURATION),
    rights: ['operator:read'],
  }),
  'DELETE /v1/operator/raft/peer': write('removeServer', {
    says: 'Removes a server from the cluster, by its ID or address.',
    query: ['id', 'address'],
    answers: DONE,
    refuses: [404, 409],
    rights: ['operator:write'],
  }),
  'POST /v1/operator/raft/transfer-leader': write('transferLeadership', {
    says: 'Transfers leadership to a voter: the one with the given ID, or the most up-to-date one.',
    query: ['id'],
    answers: ok('The operation succeeded.', SUCCESS),
    refuses: [404, 409],
    rights: ['operator:write'],
  }),
  'GET /v1/operator/raft/joining': read('listJoiningServers', {
    says: 'Lists the servers that are waiting to be admitted.',
    answers: ok('The servers.', listOf(JOINING)),
    rights: ['operator:read'],
  }),
  'PUT /v1/operator/raft/joining/:id': write('admitServer', {
    says: 'Admits a waiting server to the cluster.',
    answers: ok('The operation succeeded.', { schema: { const: true } }),
    refuses: [404, 409],
    rights: ['operator:write'],
  }),
  'POST /v1/operator/raft/join-token': write('createJoinToken', {
    says: 'Creates a token with which one server may join.',
    query: ['ttl'],
    answers: ok('The join token.', JOIN_TOKEN),
    refuses: [409],
    rights: ['operator:write'],
  }),
  'GET /v1/operator/autopilot/configuration': read('readAutopilotConfiguration', {
    says: 'Reads when a server is considered healthy, and what happens to dead servers.',
    answers: ok('The configuration.', AUTOPILOT),
    rights: ['operator:read'],
  }),
  'PUT /v1/operator/autopilot/configuration': write('writeAutopilotConfiguration', {
    says: 'Replaces the autopilot configuration. Absent members take their defaults.',
    query: ['cas'],
    body: 'AutopilotConfigurationBody',
    answers: ok('Whether it was written: false if its index differs from cas.', boolean),
    refuses: [412],
    rights: ['operator:write'],
  }),
  'GET /v1/operator/autopilot/health': read('readHealth', {
    says: 'Reads the health of each member as the leader sees it.',
    answers: {
      200: { says: 'All members are healthy.', content: HEALTH },
      429: { says: 'A member is not healthy.', content: HEALTH },
    },
    rights: ['operator:read'],
  }),
  'GET /v1/operator/autopilot/state': read('readAutopilotState', {
    says: 'Reads the health of each member by server ID, with the leader and the voters.',
    answers: ok('The members.', AUTOPILOT_STATE),
    rights: ['operator:read'],
  }),
  'GET /v1/operator/acl/configuration': read('readAclConfiguration', {
    says: 'Reads how long login tokens are valid, and how many one identity may have.',
    answers: ok('The configuration.', 'AclConfiguration', 'index', 'etag'),
    rights: ['operator:read'],
  }),
  'PUT /v1/operator/acl/configuration': write('writeAclConfiguration', {
    says: 'Replaces the ACL configuration. Absent members take their defaults.',
    body: 'AclConfigurationBody',
    answers: ok('The configuration.', 'AclConfiguration', 'etag'),
    refuses: [412],
    rights: ['operator:write', 'acl:write'],
  }),
});
