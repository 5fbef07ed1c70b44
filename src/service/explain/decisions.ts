/**
 * The decisions that refused requests, so that they can be explained later. They are in the memory
 * of the node that made them.
 */
import { randomUUID } from 'node:crypto';
import { readDenial } from '../../acl/denial.js';
import { ruleText } from '../../acl/explain.js';
import type { Reason } from '../../acl/reasons.js';
import type { Level } from '../../acl/types.js';
import type { ApiError, Refusal } from '../../errors.js';
import type { Authorizers } from '../authorizers.js';
import { LoginRefused } from '../login.js';
import type { Caller } from '../types.js';

/** A refused request. */
export interface RefusedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly remoteAddress: string;
  /** Absent if the request was refused before its token was read. */
  readonly caller?: Caller | undefined;
  readonly namespace: string;
  readonly refusal: Refusal;
  /** The error that carried the refusal. */
  readonly error?: ApiError | undefined;
}

/** A decision as members send it to each other, and as answers show it with more members. */
export interface Decision {
  readonly ID: string;
  readonly Time: string;
  readonly Node: string;
  readonly Type: 'authorization' | 'unknown_token' | 'login';
  readonly Method: string;
  readonly Path: string;
  readonly RemoteAddr: string;
  readonly AccessorID: string | null;
  readonly Namespace: string;
  /** Null if no right was asked for. */
  readonly Resource: string | null;
  readonly Access: string | null;
  readonly Segment: string | null;
  readonly Message: string;
  readonly AppliedIndex: number;
  readonly Then: {
    readonly Reason: Reason;
    readonly Level: Level | null;
    readonly Rule: string | null;
  } | null;
  readonly Login: {
    readonly AuthMethod: string;
    readonly Namespace: string;
    readonly ReasonCode: string;
    readonly Reason: string;
  } | null;
}

/** What decisions are noted with. */
export interface DecisionsOptions {
  readonly nodeId: string;
  readonly nodeName: string;
  readonly authorizers: Pick<Authorizers, 'of'>;
  readonly appliedIndex: () => number;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
}

/** Decisions that a node remembers: some 10 MB. The oldest are forgotten first. */
const DECISIONS_MAX = 10_000;
/** Milliseconds for which a decision is remembered: enough to ask why. */
export const REMEMBERED_MS = 10 * 60_000;
/** Decisions noted in a second. A flood of refusals has few reasons. */
const PER_SECOND_MAX = 100;
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

/** Remembers the decisions of a node. */
export class Decisions {
  readonly #options: DecisionsOptions;
  readonly #prefix: string;
  readonly #kept = new Map<string, { readonly atMs: number; readonly decision: Decision }>();
  #second = 0;
  #inSecond = 0;

  constructor(options: DecisionsOptions) {
    this.#options = options;
    this.#prefix = nodeCode(options.nodeId);
  }

  /** The decision with an id; undefined if it was not made here, or is forgotten. */
  get(id: string): Decision | undefined {
    this.#forgetOld();
    return this.#kept.get(id)?.decision;
  }

  /** Notes a refused request. Returns the id of its decision; undefined if there are too many. */
  note(refused: RefusedRequest): string | undefined {
    const { code } = refused.refusal;
    if (code !== 'permission_denied' && code !== 'acl_not_found') return undefined;
    const atMs = this.#options.nowMs();
    const second = Math.floor(atMs / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#inSecond = 0;
    }
    this.#inSecond += 1;
    if (this.#inSecond > PER_SECOND_MAX) return undefined;
    const random = randomUUID();
    const id = `${this.#prefix}-${random.slice(0, 8)}${random.slice(-8)}`;
    this.#kept.set(id, { atMs, decision: this.#decisionOf(id, atMs, refused) });
    if (this.#kept.size > DECISIONS_MAX) this.#kept.delete(this.#kept.keys().next().value!);
    return id;
  }

  #decisionOf(id: string, atMs: number, refused: RefusedRequest): Decision {
    const { caller, refusal, error } = refused;
    const login = error instanceof LoginRefused ? error : undefined;
    const authorizer = caller && this.#options.authorizers.of(caller.tokenKey);
    const isUnknown = caller !== undefined && authorizer === undefined;
    const denied = readDenial(refusal.message);
    const isAsked = login === undefined && denied !== undefined && authorizer !== undefined;
    const { resource, access, segment, namespace } = denied ?? {};
    const why = isAsked ? authorizer.why(resource!, access!, segment, namespace) : undefined;
    return {
      ID: id,
      Time: new Date(atMs).toISOString(),
      Node: this.#options.nodeName,
      Type: login !== undefined ? 'login' : isUnknown ? 'unknown_token' : 'authorization',
      Method: refused.method,
      Path: refused.path.slice(0, PATH_MAX),
      RemoteAddr: refused.remoteAddress,
      AccessorID: authorizer?.accessor ?? null,
      Namespace: login?.method.Namespace ?? namespace ?? refused.namespace,
      Resource: isAsked ? resource! : null,
      Access: isAsked ? access! : null,
      Segment: isAsked ? (segment ?? '').slice(0, SEGMENT_MAX) : null,
      Message: refusal.message.slice(0, MESSAGE_MAX),
      AppliedIndex: this.#options.appliedIndex(),
      Then:
        why === undefined
          ? null
          : {
              Reason: why.reason,
              Level: why.rule?.level ?? null,
              Rule: why.rule === undefined ? null : ruleText(why.rule),
            },
      Login:
        login === undefined
          ? null
          : {
              AuthMethod: login.method.Name,
              Namespace: login.method.Namespace,
              ReasonCode: login.fault.code,
              Reason: login.fault.reason,
            },
    };
  }

  #forgetOld(): void {
    const from = this.#options.nowMs() - REMEMBERED_MS;
    for (const [id, { atMs }] of this.#kept) {
      if (atMs > from) return;
      this.#kept.delete(id);
    }
  }
}
