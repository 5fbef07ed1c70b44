/**
 * The closed list of errors. Operating errors are values of this list; programmer errors and failed
 * fsyncs stop the process. A `Refusal` is plain data: `apply` returns it, members send it to each
 * other, and it ends as an HTTP answer.
 */

/** Code → HTTP status. The codes are stable, so clients may branch on them. */
export const ERROR_STATUS = {
  /** A body, field, expression, rule or parameter is not valid. */
  invalid: 400,
  /** The write names an object (policy, auth method, template, ...) that does not exist. */
  unknown_reference: 400,
  unknown_datacenter: 400,
  unauthenticated: 401,
  permission_denied: 403,
  /** The token of the request is unknown or has expired. */
  acl_not_found: 403,
  not_found: 404,
  method_not_allowed: 405,
  /** The name is taken, or another object still needs this one. */
  conflict: 409,
  /** The object does not have the version that the request names (If-Match). */
  precondition_failed: 412,
  too_large: 413,
  /** The Content-Type of the request is not one that the endpoint takes. */
  unsupported_media_type: 415,
  too_many: 429,
  headers_too_large: 431,
  internal: 500,
  /** No leader until the request's deadline: the write did not happen. */
  no_leader: 503,
  /** The node cannot serve: starting, stopping, or its state differs from the other members'. */
  unavailable: 503,
  /** A required audit record cannot be written: nothing was done. */
  audit_unavailable: 503,
  /** The outcome is unknown at the deadline: the write may still happen. */
  outcome_unknown: 504,
  /** The disk is down to its reserve: writes are refused, reads and deletes still work. */
  no_space: 507,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/**
 * What a program may know of a refusal, because no program reads its sentence. It is neither
 * remembered nor replicated, and releases before 0.4.0 do not send it: where it is missing, the
 * reader takes the side that tells less.
 */
export type About =
  /** The caller lacks a right; see `Denied` of acl/denial.ts. */
  | {
      readonly kind: 'denied';
      readonly resource: string;
      readonly access: string;
      readonly segment?: string;
      readonly namespace: string;
    }
  /** The sentence names another config entry. `unnamed` is the sentence without it. */
  | {
      readonly kind: 'conflict';
      readonly entry: { readonly kind: string; readonly name: string };
      readonly unnamed: string;
    }
  /** The object has another version than was asked for; null: it does not exist. */
  | { readonly kind: 'version'; readonly current: number | null }
  /**
   * `own`: the sentence names nothing but what was sent. `limit`: an identity has too many tokens.
   * `blocked`: its logins are refused. `caller`: the token of the request is unknown. `token`: a
   * token that the request names is unknown. `id`: something is not a UUID. `removed`: the server
   * is no longer a member, and will not serve. `level`: that of the cluster is too low.
   */
  | { readonly kind: (typeof PLAIN_KINDS)[number] };

/** The kinds without further members. */
export const PLAIN_KINDS = [
  'own',
  'limit',
  'blocked',
  'used',
  'caller',
  'token',
  'id',
  'removed',
  'level',
] as const;

/** Marks a refusal of what needs a higher level than that of the cluster. */
export const LEVEL = { about: { kind: 'level' } } as const;

/** Marks a refusal that names nothing but what was sent. */
export const OWN = { about: { kind: 'own' } } as const;

/**
 * Why a request was refused. `message` is one helpful sentence; `pointer` is a JSON pointer (RFC
 * 6901) to the field.
 */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly pointer?: string;
  readonly hint?: string;
  readonly about?: About;
  /** Members that a problem document has beside these. Neither remembered nor replicated. */
  readonly members?: Readonly<Record<string, unknown>>;
}

type More = Pick<Refusal, 'pointer' | 'hint' | 'about' | 'members'>;

/** Returns a refusal. */
export function refusal(code: ErrorCode, message: string, more: More = {}): Refusal {
  return { code, message, ...more };
}

/**
 * A refusal as an exception, for service and http, which answer requests. Pure layers return
 * refusals.
 */
export class ApiError extends Error {
  readonly refusal: Refusal;
  constructor(why: Refusal) {
    super(why.message);
    this.name = 'ApiError';
    this.refusal = why;
  }
  get status(): number {
    return ERROR_STATUS[this.refusal.code];
  }
}

/** The refusal of a request whose token is unknown or has expired. */
export const UNKNOWN_TOKEN = refusal('acl_not_found', 'ACL not found', {
  about: { kind: 'caller' },
});

/** Throws a refusal as an ApiError. */
export function refuse(why: Refusal): never {
  throw new ApiError(why);
}

/** Throws a refusal as an ApiError, if there is one. */
export function refuseIf(why: Refusal | undefined): void {
  if (why !== undefined) refuse(why);
}

/** Throws an ApiError. */
export function reject(code: ErrorCode, message: string, more: More = {}): never {
  throw new ApiError(refusal(code, message, more));
}
