/** Makes the records of requests, and of what the server does itself (beyond.md 5.2). */
import { randomUUID } from 'node:crypto';
import type { AuditedAnswer } from '../http/audited.js';
import { traceOf } from '../http/request/trace.js';
import { LoginRefused } from '../service/login/login.js';
import type { Identity } from '../state/author.js';
import type { RecentLines } from '../state/history/recent.js';
import type { TokenLogin } from '../state/token-login.js';
import type { View } from '../state/types.js';
import { type Granted, textOf } from './granted.js';
import { changedObjects } from './objects.js';

/** Who sent a request, as a record shows it. */
export interface Who {
  readonly accessor_id: string;
  readonly description: string;
  readonly create_time?: string;
  readonly auth_method?: string;
  readonly identity?: WhoIdentity;
}

interface WhoIdentity {
  readonly auth_method: string;
  readonly namespace: string;
  readonly subject: string;
}

/** Returns an identity as a record shows it. */
export const identityShown = (identity: Identity): WhoIdentity => ({
  auth_method: identity.AuthMethod,
  namespace: identity.Namespace,
  subject: identity.Subject,
});

export const NOBODY: Who = { accessor_id: '', description: '' };
export const UNKNOWN: Who = { accessor_id: '', description: 'unknown token' };
const SERVER: Who = { accessor_id: '', description: 'server' };

/** A record before its text is made. */
export interface Facts {
  readonly id: string;
  readonly atMs: number;
  readonly type: 'HTTPEvent' | 'SystemEvent' | 'Recovered';
  readonly auth: Who;
  readonly request: {
    readonly operation: string;
    readonly endpoint: string;
    readonly remote_addr: string;
    readonly user_agent: string;
    readonly host: string;
    readonly request_id?: string | undefined;
  };
  /** 0 if the client had left. */
  readonly status: number;
  readonly ms: number;
  readonly namespace: string;
  readonly reason: string;
  readonly decision: string;
  readonly traceId: string;
  /** The index of its entry; 0 if it wrote nothing. */
  readonly index: number;
  readonly granted: Granted | undefined;
  readonly reasonCode?: string | undefined;
  readonly lostBytes?: number;
}

/** Characters of what clients send that a record keeps. */
const ENDPOINT_MAX = 4096;
const HEADER_MAX = 512;

const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most)}…`;

function requestOf({ incoming, endpoint }: AuditedAnswer): Facts['request'] {
  const { method = '', headers, socket } = incoming;
  const { remoteAddress = '', remotePort = 0 } = socket;
  const address = remoteAddress.replace(/^::ffff:/, '');
  const shown = address.includes(':') ? `[${address}]` : address;
  const requestId = headers['x-request-id'];
  return {
    operation: method,
    endpoint: cut(endpoint, ENDPOINT_MAX),
    remote_addr: `${shown}:${remotePort}`,
    user_agent: cut(headers['user-agent'] ?? '', HEADER_MAX),
    host: cut(headers.host ?? '', HEADER_MAX),
    request_id: typeof requestId === 'string' ? cut(requestId, HEADER_MAX) : undefined,
  };
}

/** What was noted of a request while it ran. */
export interface Noted {
  readonly auth: Who;
  readonly index: number;
  readonly granted: Granted | undefined;
  readonly login: TokenLogin | undefined;
  readonly reason: string;
}

/** Returns the facts of an answered request. */
export function factsOf(answer: AuditedAnswer, noted: Noted, atMs: number): Facts {
  const { incoming, ms, namespace, decision, error } = answer;
  const refused = error instanceof LoginRefused ? error : undefined;
  return {
    id: randomUUID(),
    atMs,
    type: 'HTTPEvent',
    auth: refused ? refusedWho(refused) : noted.login ? loginWho(noted.login) : noted.auth,
    request: requestOf(answer),
    status: answer.isGone ? 0 : answer.status,
    ms,
    namespace,
    reason: noted.reason,
    decision,
    traceId: traceOf(incoming),
    index: noted.index,
    granted: noted.granted,
    reasonCode: refused?.fault.code,
  };
}

/** A login's record names the token that it made. */
function loginWho({ accessor, token, createTime, method, author }: TokenLogin): Who {
  return {
    accessor_id: accessor,
    description: token.Description ?? '',
    create_time: createTime,
    auth_method: method.name,
    ...(author?.Identity && { identity: identityShown(author.Identity) }),
  };
}

function refusedWho({ method: { Name, Namespace }, who }: LoginRefused): Who {
  const identity = { AuthMethod: Name, Namespace, Subject: who ?? '' };
  return {
    ...NOBODY,
    auth_method: Name,
    ...(who !== undefined && { identity: identityShown(identity) }),
  };
}

/** Returns the facts of what the server did itself. */
export const systemFacts = (operation: string, index: number, atMs: number): Facts => ({
  ...serverFacts('SystemEvent', operation, atMs),
  index,
});

/** Returns the facts of a sink that can be written again. */
export const recoveredFacts = (lostBytes: number, atMs: number): Facts => ({
  ...serverFacts('Recovered', '', atMs),
  lostBytes,
});

const serverFacts = (type: Facts['type'], operation: string, atMs: number): Facts => ({
  id: randomUUID(),
  atMs,
  type,
  auth: SERVER,
  request: { operation, endpoint: '', remote_addr: '', user_agent: '', host: '' },
  status: 200,
  ms: 0,
  namespace: 'default',
  reason: '',
  decision: '',
  traceId: '',
  index: 0,
  granted: undefined,
});

export interface RecordParts {
  readonly view: View;
  readonly recent: RecentLines;
  readonly nodeName: string;
}

/** What a sink shows of a record. */
export interface Shows {
  readonly diff: boolean;
  readonly granted: boolean;
}

/** Returns a record as a JSON text without braces: what all sinks and the tail have in common. */
export function membersOf(
  { view, recent, nodeName }: RecordParts,
  facts: Facts,
  shows: Shows,
): string {
  const { granted, index, id, type, status, reasonCode, lostBytes } = facts;
  const changed = index === 0 ? undefined : changedObjects({ view, recent }, index, shows.diff);
  const grants = shows.granted && granted !== undefined ? granted.grants.map(textOf) : [];
  const time = new Date(facts.atMs).toISOString();
  // of texts, most of which are made already: an object of all this costs twice as much
  return (
    `"created_at":"${time}","event_type":"audit","payload":{"id":"${id}","version":"1"` +
    `,"type":"${type}","timestamp":"${time}","auth":${whoText(facts.auth)}` +
    `,"request":${JSON.stringify(facts.request)},"response":{"status":"${status}"}` +
    `,"stage":"OperationComplete","node":${JSON.stringify(nodeName)}` +
    `,"ms":${Math.round(facts.ms * 10) / 10},"namespace":${JSON.stringify(facts.namespace)}` +
    `,"index":${index},"reason":${JSON.stringify(facts.reason)}` +
    `,"decision":${JSON.stringify(facts.decision)}` +
    (reasonCode === undefined ? '' : `,"reason_code":${JSON.stringify(reasonCode)}`) +
    `,"trace_id":${JSON.stringify(facts.traceId)},"granted_by":[${grants.join()}]` +
    (granted === undefined || granted.more === 0 ? '' : `,"granted_more":${granted.more}`) +
    `,"objects":[${changed?.objects.join() ?? ''}]` +
    (changed?.truncated === true ? ',"truncated":true' : '') +
    (lostBytes === undefined ? '}' : `,"lost_bytes":${lostBytes}}`)
  );
}

const WHO_TEXTS = new WeakMap<Who, string>();

/** Returns who sent a request as JSON, which is kept: a token sends many. */
function whoText(who: Who): string {
  let text = WHO_TEXTS.get(who);
  if (text === undefined) {
    text = JSON.stringify(who);
    WHO_TEXTS.set(who, text);
  }
  return text;
}

/** Returns about how many bytes a record has in memory. */
export const weightOf = ({ request, reason }: Facts): number =>
  1024 + 2 * (request.endpoint.length + request.user_agent.length + reason.length);
