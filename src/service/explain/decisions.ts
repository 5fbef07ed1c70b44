/**
 * The decisions that refused requests, so that they can be explained later. They are in the memory
 * of the node that made them.
 */
import { randomUUID } from 'node:crypto';
import { type Denied, deniedIn } from '../../acl/denial.js';
import { ruleText } from '../../acl/explain.js';
import type { Asked } from '../../acl/reasons.js';
import type { Authorizer, Why } from '../../acl/types.js';
import type { Decision as Shown } from '../../api/endpoints/explain.js';
import type { ApiError, Refusal } from '../../base/errors.js';
import type { Identity } from '../../state/author.js';
import type { Caller } from '../common/types.js';
import { LoginRefused } from '../login/login.js';
import type { LoginFault } from '../login/types.js';
import type { Authorizers } from '../rights/authorizers.js';

/** A refused request. */
export interface RefusedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly remoteAddress: string;
  /** Of its traceparent; empty if it has none. */
  readonly traceId: string;
  /** Absent if the request was refused before its token was read. */
  readonly caller?: Caller | undefined;
  readonly namespace: string;
  readonly refusal: Refusal;
  /** The error that carried the refusal. */
  readonly error?: ApiError | undefined;
}

/** A denial that another program asked for. */
export interface RefusedEvaluation {
  readonly method: string;
  readonly path: string;
  readonly remoteAddress: string;
  readonly traceId: string;
  /** What the caller calls the request; empty if nothing. */
  readonly requestId: string;
  readonly caller: Caller;
  /** The namespace in which the decision may be read. */
  readonly home: string;
  readonly subjectType: string;
  /** The token that decided: its accessor is empty if it is not stored. */
  readonly holder:
    | {
        readonly accessor: string;
        readonly authorizer: Authorizer;
        readonly about: () => { readonly identity: Identity | undefined } | undefined;
      }
    | undefined;
  readonly asked: Asked | undefined;
  readonly message: string;
}

/** A decision as members send it to each other, and as answers show it with more members. */
export interface Decision extends Omit<Shown, 'Now' | 'Changed' | 'Login'> {
  /** Of an evaluation: the token that asked. It is not shown. */
  readonly CallerID?: string;
  /** The namespace of the token that was refused, or of the auth method; it is not shown. */
  readonly Home: string | null;
  readonly Login: (Shown['Login'] & { readonly ReasonCode: LoginFault['code'] }) | null;
}

export interface DecisionsOptions {
  readonly nodeId: string;
  readonly nodeName: string;
  readonly authorizers: Pick<Authorizers, 'of' | 'authorOf' | 'namespaceOf'>;
  readonly appliedIndex: () => number;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
}

/**
 * Decisions that a node remembers of callers with a valid token, and as many of all others: some
 * 10 MB together. The oldest are forgotten first.
 */
const DECISIONS_MAX = 5_000;
/** Milliseconds for which a decision is remembered: enough to ask why. */
export const REMEMBERED_MS = 10 * 60_000;
/** Decisions of each of the two noted in a second. A flood of refusals has few reasons. */
const PER_SECOND_MAX = 50;
/** Denied evaluations that a node remembers, and how many it notes in a second. */
const EVALUATIONS_MAX = 10_000;
const EVALUATIONS_PER_SECOND_MAX = 100;
/** Characters of a path and of a message that are remembered. */
const PATH_MAX = 200;
const MESSAGE_MAX = 500;
/** Characters of a segment. A longer one is cut, and its question cannot be asked again. */
export const SEGMENT_MAX = 1_000;

/** Returns the 8 hex digits by which the ids of decisions name their node. */
export const nodeCode = (nodeId: string): string =>
  nodeId
    .replace(/[^0-9a-f]/g, '')
    .slice(0, 8)
    .padEnd(8, '0');

/** A decision as it is noted. The rest is made when somebody asks, because most never do. */
interface Noted {
  readonly id: string;
  readonly atMs: number;
  readonly type: Decision['Type'];
  readonly refused: Pick<RefusedRequest, 'method' | 'path' | 'remoteAddress' | 'traceId'>;
  readonly accessor: string | null;
  readonly identity: Identity | undefined;
  readonly home: string | null;
  readonly namespace: string;
  readonly asked: Denied | undefined;
  readonly message: string;
  readonly appliedIndex: number;
  readonly why: Why | undefined;
  readonly login: Decision['Login'];
  readonly evaluation?: Pick<Decision, 'SubjectType' | 'RequestID' | 'CallerID'>;
}

/** Remembers the decisions of a node. */
export class Decisions {
  readonly #options: DecisionsOptions;
  readonly #prefix: string;
  readonly #byId = new Map<string, Noted>();
  /** Strangers do not push out the decisions of callers with a valid token. */
  readonly #known = new Share(DECISIONS_MAX, PER_SECOND_MAX);
  readonly #strange = new Share(DECISIONS_MAX, PER_SECOND_MAX);
  readonly #evaluations = new Share(EVALUATIONS_MAX, EVALUATIONS_PER_SECOND_MAX);

  constructor(options: DecisionsOptions) {
    this.#options = options;
    this.#prefix = nodeCode(options.nodeId);
  }

  /** Returns the decision with an id; undefined if it was not made here, or is forgotten. */
  get(id: string): Decision | undefined {
    const noted = this.#byId.get(id);
    if (noted === undefined || noted.atMs <= this.#options.nowMs() - REMEMBERED_MS) {
      return undefined;
    }
    return decisionOf(noted, this.#options.nodeName);
  }

  /** Notes a refused request. Returns the id of its decision; undefined if there are too many. */
  note({ refusal, caller, error, ...request }: RefusedRequest): string | undefined {
    if (refusal.code !== 'permission_denied' && refusal.code !== 'acl_not_found') return undefined;
    const atMs = this.#options.nowMs();
    const authorizer = caller && this.#options.authorizers.of(caller.tokenKey);
    const isKnown = authorizer !== undefined && caller?.tokenKey !== null;
    const share = isKnown ? this.#known : this.#strange;
    if (!share.isInRate(atMs)) return undefined;
    const login = error instanceof LoginRefused ? loginOf(error) : null;
    const denied = login === null ? deniedIn(refusal) : undefined;
    const asked = authorizer && denied;
    const isUnknown = caller !== undefined && authorizer === undefined;
    const { method, path, remoteAddress, traceId } = request;
    const noted: Noted = {
      id: this.#newId(),
      atMs,
      type: login !== null ? 'login' : isUnknown ? 'unknown_token' : 'authorization',
      refused: { method, path: copyOf(path.slice(0, PATH_MAX)), remoteAddress, traceId },
      accessor: authorizer?.accessor ?? null,
      ...this.#homeOf((isKnown && caller?.tokenKey) || null, error),
      namespace: login?.Namespace ?? denied?.namespace ?? request.namespace,
      asked: asked && { ...asked, segment: cut(asked.segment ?? '', SEGMENT_MAX) },
      message: cut(refusal.message, MESSAGE_MAX),
      appliedIndex: this.#options.appliedIndex(),
      why: asked && authorizer.why(asked.resource, asked.access, asked.segment, asked.namespace),
      login,
    };
    return this.#keep(share, noted);
  }

  /** Notes a denied evaluation. Returns its id; undefined if there are too many. */
  noteEvaluation(denied: RefusedEvaluation): string | undefined {
    const atMs = this.#options.nowMs();
    if (!this.#evaluations.isInRate(atMs)) return undefined;
    const { method, path, remoteAddress, traceId, requestId, caller } = denied;
    const { holder, asked, home, subjectType, message } = denied;
    const noted: Noted = {
      id: this.#newId(),
      atMs,
      type: 'evaluation',
      refused: { method, path: copyOf(path.slice(0, PATH_MAX)), remoteAddress, traceId },
      accessor: holder?.accessor ?? '',
      identity: holder?.about()?.identity,
      home,
      namespace: asked?.namespace ?? home,
      // the text of a request, of which these may be parts, may hold a secret
      asked: asked && { ...asked, segment: copyOf(asked.segment.slice(0, SEGMENT_MAX)) },
      message: cut(message, MESSAGE_MAX),
      appliedIndex: this.#options.appliedIndex(),
      why: asked && holder && whyOf(holder.authorizer, asked),
      login: null,
      evaluation: {
        SubjectType: copyOf(subjectType),
        RequestID: requestId,
        CallerID: this.#options.authorizers.authorOf(caller.tokenKey).AccessorID,
      },
    };
    return this.#keep(this.#evaluations, noted);
  }

  #newId(): string {
    const random = randomUUID();
    return `${this.#prefix}-${random.slice(0, 8)}${random.slice(-8)}`;
  }

  #keep(share: Share, noted: Noted): string {
    const oldest = share.keep(noted);
    if (oldest !== undefined) this.#byId.delete(oldest.id);
    this.#byId.set(noted.id, noted);
    return noted.id;
  }

  /** Returns who was refused, and the namespace in which that may be read. */
  #homeOf(tokenKey: string | null, error: ApiError | undefined): Pick<Noted, 'identity' | 'home'> {
    if (error instanceof LoginRefused) {
      const { method, who } = error;
      const { Name: AuthMethod, Namespace } = method;
      const identity = who === undefined ? undefined : { AuthMethod, Namespace, Subject: who };
      return { identity, home: Namespace };
    }
    if (tokenKey === null) return { identity: undefined, home: null };
    const { authorizers } = this.#options;
    const { Identity: identity } = authorizers.authorOf(tokenKey);
    return { identity, home: authorizers.namespaceOf(tokenKey) ?? null };
  }
}

/** A number of decisions, and how fast they may come. */
class Share {
  /** In a ring: a Map is slow at finding its oldest entry again and again. */
  readonly #max: number;
  readonly #perSecond: number;
  readonly #ring: Noted[] = [];
  #next = 0;
  #second = 0;
  #inSecond = 0;

  constructor(max: number, perSecond: number) {
    this.#max = max;
    this.#perSecond = perSecond;
  }

  /** Counts a decision; false if there are too many in this second. */
  isInRate(atMs: number): boolean {
    const second = Math.floor(atMs / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#inSecond = 0;
    }
    this.#inSecond += 1;
    return this.#inSecond <= this.#perSecond;
  }

  /** Keeps a decision. Returns the one that it replaces, if there is one. */
  keep(noted: Noted): Noted | undefined {
    const oldest = this.#ring[this.#next];
    this.#ring[this.#next] = noted;
    this.#next = (this.#next + 1) % this.#max;
    return oldest;
  }
}

/** Cuts a text. A part of a text keeps the whole of it in memory, so this copies the part. */
const cut = (text: string, length: number): string =>
  text.length <= length ? text : copyOf(text.slice(0, length));
const copyOf = (part: string): string => Buffer.from(part).toString();

const loginOf = ({ method, fault }: LoginRefused): NonNullable<Decision['Login']> => ({
  AuthMethod: method.Name,
  Namespace: method.Namespace,
  ReasonCode: fault.code,
  Reason: fault.reason,
});

function decisionOf(noted: Noted, node: string): Decision {
  const { refused, asked, why } = noted;
  return {
    ID: noted.id,
    Time: new Date(noted.atMs).toISOString(),
    Node: node,
    Type: noted.type,
    Method: refused.method,
    Path: refused.path,
    RemoteAddr: refused.remoteAddress,
    AccessorID: noted.accessor,
    Identity: noted.identity ?? null,
    Home: noted.home,
    Namespace: noted.namespace,
    Resource: asked?.resource ?? null,
    Access: asked?.access ?? null,
    Segment: asked?.segment ?? null,
    Message: noted.message,
    TraceID: refused.traceId,
    AppliedIndex: noted.appliedIndex,
    Then: why === undefined ? null : thenOf(why),
    Login: noted.login,
    ...noted.evaluation,
  };
}

const whyOf = (authorizer: Authorizer, { resource, access, segment, namespace }: Asked): Why =>
  authorizer.why(resource, access, segment, namespace);

const thenOf = ({ reason, rule }: Why): Decision['Then'] => ({
  Reason: reason,
  Level: rule?.level ?? null,
  Rule: rule === undefined ? null : ruleText(rule),
});
