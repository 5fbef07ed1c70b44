/**
 * The names of the lines of a node's log. Alerts and searches rest on them, so a name keeps its
 * meaning for ever; the sentence of a line may change. docs/log.md is written from this list.
 */
export const LOG_EVENTS = {
  // The process.
  data_folder_opening: 'the node opens its data folder',
  data_folder_new: 'the folder was empty: the node starts or joins a cluster',
  serving: 'the API listens; `url` says where',
  first_token_missing: 'the cluster has no token yet; `command` creates the first one',
  stopping: 'an orderly stop begins; `why` says who asked for it',
  stopped: 'the orderly stop is over',
  fatal: 'the node must stop at once; `err` says why',
  long_turn: 'a turn of the event loop was long, so heartbeats were late; `work` took most of it',
  keys_reloaded: 'certificates and keys were reloaded (SIGHUP)',
  keys_not_reloaded: 'certificates or keys could not be reloaded; the old ones stay in use',
  certificate_expires:
    'a certificate or list of revoked ones in use expires within 30 days, or has expired',
  revocation_list_unusable:
    'a list in `raft.tls.crl` is outdated or of another authority: members cannot connect',
  members_unprotected: '`raft.insecure` is set: every user of the machine can join',
  api_unprotected: 'the API is open to other machines without TLS',
  connections_limited:
    'the limit of open files leaves room for fewer connections than `limits.connections`',
  reset_file_unusable:
    'the file that allows another bootstrap cannot be read or removed, or holds no index',
  join_token_unreadable: 'the file of `cluster.joinTokenFile` cannot be read',

  // The cluster.
  role_changed: 'this node now leads, follows or campaigns; alert if this happens often',
  no_leader:
    'no leader is known for five seconds, and again each minute; names the unreachable members',
  leader_known: 'there is a leader again, after `no_leader`',
  members_changed: 'a member was added or removed, or became a voter',
  level_changed: 'all members support a new level, and it is in force',
  joined: 'this node was admitted to a cluster',
  join_refused: 'a member did not admit this node',
  join_unreachable: 'a member could not be asked to admit this node',
  join_waiting: 'a server asks to join and is waiting for an operator',
  join_token_invalid: 'a server presented an invalid join token',
  address_changed: 'this node has a new address and tells the other members',
  peer_reachable: 'the connection to a member works; `peer` is its name',
  peer_unreachable: 'the connection to a member does not work; `peer` is its name',
  peer_unprotected: 'a member is not contacted, because nothing would protect the connection',
  connection_refused:
    'a connection was refused, from a member or an unknown peer; it may be an attack',
  certificates_alike:
    'two members present certificates with the same subject: each certificate identifies both',
  snapshot_not_sent: 'a member did not get the whole state; sending is retried',
  snapshot_refused: 'the state that a member sent was refused',
  node_not_serving: 'this node serves only what needs no state; it needs attention',
  node_serving: 'this node is serving requests again',
  states_differ: 'the states of members differ, and too few can be compared to tell which is right',

  // The disks.
  disk_reserve: 'the free disk space is down to the reserve: a leader accepts only deletes',
  disk_room: 'the disk has enough free space again',
  disk_hangs: 'a write to the disk does not return: another server should lead',
  disk_progress: 'the disks make progress again',
  log_damaged: 'entries of the log are lost; this node does not vote until it has them again',
  log_without_peers: 'entries are lost, and no other server is known that could send them',
  log_whole: 'this node has all its entries again, and votes',
  state_rebuilt: 'the state was damaged and is rebuilt from the log',
  state_replaced: 'an archive was restored',

  // What a leader does by itself.
  housekeeping_failed: 'expired tokens or leftover parts could not be removed',
  housekeeping_recovered: 'housekeeping has recovered',
  clock_jumped: 'the wall clock is ahead of the elapsed time; tokens are removed later',
  clock_agrees: 'the wall clock agrees with the elapsed time again',

  // Requests.
  audit_failing: 'records of an audit sink cannot be written; `sink` names it, `why` says why',
  audit_written: 'records of an audit sink are written again; `dropped` were lost since the start',
  request: 'a request was answered: route, method, status, milliseconds (level debug)',
  http_on_https_port: 'clients sent http to the https port; `count` requests from one address',
  request_failed: 'a request failed with 500 because of a defect; `err` says where',
  login_refused: 'a login was refused; `cause` and `reason` say why',
  logins_not_logged: 'further refused logins were not logged; `count` says how many',
  issuer_unusable: 'the issuer of an auth method being written cannot be used',
  tokens_never_expire: 'an auth method whose tokens never expire was written',
  raft_decision: 'why Raft decided as it did: votes, appends, changes, reads (level debug)',
} as const;

export type LogEvent = keyof typeof LOG_EVENTS;
