/** What the endpoints of the cluster and of the agent answer. */

import {
  anyObject,
  boolean,
  fraction,
  keep,
  omit,
  type Type,
  text,
  utcTime,
  whole64,
} from '../../languages/fields.js';
import type { Autopilot, Level } from './answers.js';
import { listOf, mapOf, oneOf, orNone, shape } from './shapes.js';

const number = fraction((value) => value);
const labelsOf = mapOf(text());

/** `GET /v1/agent/version`. */
export const VERSION = shape({
  SHA: keep('The commit of the running build.', text()),
  BuildDate: keep('When it was built.', utcTime),
  HumanVersion: keep('The version of the release.', text()),
  FIPS: keep('Always empty.', text()),
});

const gossip = keep('A version of the gossip protocol, which clients expect.', whole64);
/** A member, as `GET /v1/agent/members` lists them. */
export const MEMBER = shape({
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

/** `GET /v1/agent/self`. */
export const SELF = shape({
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
/** `GET /v1/agent/metrics`. */
export const METRICS = shape({
  Timestamp: keep('When the metrics were collected.', text()),
  Gauges: keep(
    'Gauges, by name and labels.',
    listOf(shape({ ...figure, Value: keep('The value.', number) })),
  ),
  Points: keep('Always empty.', listOf(number)),
  Counters: keep(
    'Counters, which only increase.',
    listOf(
      shape({
        ...figure,
        Count: keep('The value without its fraction.', whole64),
        Sum: keep('The value.', number),
      }),
    ),
  ),
  Samples: keep(
    'Measured times.',
    listOf(
      shape({
        ...figure,
        Count: keep('The number of measurements.', whole64),
        Sum: keep('The sum of the times.', number),
        Min: keep('The shortest time.', number),
        Max: keep('The longest time.', number),
        Mean: keep('The mean time.', number),
      }),
    ),
  ),
});

const alone = keep('Always false: there is one datacenter.', boolean);
const empty = keep('Always empty.', text());
const zero = keep('Always 0.', whole64);
const longAgo = keep('A time in the distant past.', utcTime);
/** `GET /v1/acl/replication`. */
export const REPLICATION = shape({
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

/** `GET /v1/health/live`. */
export const LIVE = shape({ Status: keep('Always live.', oneOf('live')) });
/** `GET /v1/health/ready`. */
export const READY = shape({
  Status: keep('Always ready.', oneOf('ready')),
  Leader: keep('The address of the leader.', text()),
});

/** `GET /v1/operator/level`. */
export const LEVEL: Type<Level> = shape({
  Level: keep('The level in force.', whole64),
  Supported: keep('The level that this node supports.', whole64),
  Members: keep(
    'What each member supports.',
    listOf(
      shape({
        ID: keep('The ID of the member.', text()),
        Name: keep('The name of the member.', text()),
        Supported: keep('The level that it supports; null if it did not answer.', orNone(whole64)),
      }),
    ),
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

/** `GET /v1/operator/raft/configuration`. */
export const RAFT_CONFIGURATION = shape({
  Servers: keep(
    'The members: voters and learners.',
    listOf(
      shape({
        ...member,
        Node: name,
        ProtocolVersion: keep('Always 3.', text()),
      }),
    ),
  ),
  Index: keep('The index of the configuration.', whole64),
});

/** `POST /v1/operator/raft/transfer-leader`. */
export const SUCCESS = shape({ Success: keep('Always true.', boolean) });

/** An item of `GET /v1/operator/raft/joining`. */
export const JOINING = shape({
  ...server,
  Node: name,
  CertificateSubject: omit('The subject of its certificate, if members use TLS.', text()),
  PublicKey: omit('The public key of its data folder, which it has proved to have.', text()),
});

/** `POST /v1/operator/raft/join-token`. */
export const JOIN_TOKEN = shape({
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

/** `GET /v1/operator/autopilot/health`. */
export const HEALTH = shape({
  ...tolerance,
  Servers: keep('The members.', listOf(shape({ ...health, SerfStatus: aliveOrFailed }))),
});

/** `GET /v1/operator/autopilot/state`. */
export const AUTOPILOT_STATE: Type<Autopilot> = shape({
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

/** `GET /v1/operator/autopilot/configuration`. */
export const AUTOPILOT = shape({
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
