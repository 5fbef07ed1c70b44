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
  keys_reloaded: 'certificates and keys were read again (SIGHUP)',
  keys_not_reloaded: 'certificates or keys could not be read again; the old ones stay in use',
  certificate_expires: 'a certificate in use ends within 30 days, or has ended',
  members_unprotected: '`raft.insecure` is set: every user of the machine can join',
  api_unprotected: 'the API is open to other machines without TLS',
  join_token_unreadable: 'the file of `cluster.joinTokenFile` cannot be read',

  // The cluster.
  role_changed: 'this node leads, follows or campaigns now; alert on many of these',
  members_changed: 'a member was added or removed, or votes now',
  level_changed: 'all members support a new level, and it is in force',
  joined: 'this node was taken into a cluster',
  join_refused: 'a member did not take this node in',
  join_unreachable: 'a member could not be asked to take this node in',
  join_waiting: 'a server asks to join and waits for an operator',
  join_token_invalid: 'a server shows a join token that is not valid',
  address_changed: 'this node has another address, and tells the others',
  peer_reachable: 'the connection to a member works; `peer` is its name',
  peer_unreachable: 'the connection to a member does not work; `peer` is its name',
  peer_unprotected: 'a member is not dialled, because nothing would protect the connection',
  connection_refused: 'a connection of a member or a stranger was refused; it may be an attack',
  snapshot_not_sent: 'a member did not get the whole state; it is tried again',
  snapshot_refused: 'the state that a member sent was refused',
  node_not_serving: 'this node answers nothing but what needs no state; somebody must look',
  node_serving: 'this node serves again',
  states_differ: 'states of members differ, and too few can be compared to tell which is right',

  // The disks.
  disk_reserve: 'the disk is at its reserve: a leader takes only deletes',
  disk_room: 'the disk has room again',
  disk_hangs: 'a write to the disk does not return: another server should lead',
  disk_progress: 'the disks make progress again',
  log_damaged: 'entries of the log are lost; this node does not vote until it has them again',
  log_without_peers: 'entries are lost, and no other server is known that could send them',
  log_whole: 'this node has all its entries again, and votes',
  state_rebuilt: 'the state was damaged, and is made again from the log',
  state_replaced: 'an archive was restored',

  // What a leader does by itself.
  housekeeping_failed: 'expired tokens or left-over parts could not be removed',
  housekeeping_recovered: 'housekeeping works again',
  clock_jumped: 'the wall clock is ahead of the time that has passed; tokens are removed later',
  clock_agrees: 'the wall clock agrees again with the time that has passed',

  // Requests.
  request: 'a request was answered: route, method, status, milliseconds (level debug)',
  http_on_https_port: 'clients sent http to the https port; `count` requests of one address',
  request_failed: 'a request failed by a defect, with 500; `err` says where',
  login_refused: 'a login was refused; `cause` and `reason` say why',
  logins_not_logged: 'so many further refused logins had no line of their own',
  issuer_unusable: 'the issuer of an auth method that was written cannot be asked',
  tokens_never_expire: 'an auth method was written whose tokens never expire',
  raft_decision: 'why Raft decided as it did: votes, appends, changes, reads (level debug)',
} as const;

/** The name of a line of the log. */
export type LogEvent = keyof typeof LOG_EVENTS;
