/** Errors of a command, and how they are printed. */
import type { ErrorCode } from '../../base/errors.js';
import { lines } from './text.js';

/** Exit codes of all commands of the client. */
export const EXIT = {
  done: 0,
  failed: 1,
  misused: 2,
  changes: 3,
  /** Something was left out, because it has no counterpart. */
  incomplete: 4,
  /** Of a migration: rights differ. */
  differs: 5,
  interrupted: 130,
} as const;

/** A code of the server's list, or one of the client's own. */
export type CliErrorCode = ErrorCode | 'unreachable' | 'no_endpoint' | 'interrupted' | 'misused';

/** What is known about an error besides its sentence. */
export interface CliErrorDetails {
  readonly code?: CliErrorCode;
  readonly hint?: string | undefined;
  /** The id of the server's decision, for `acl decision`. */
  readonly decision?: string | undefined;
  /** The server's answer as problem details (RFC 9457), for `-o json`. */
  readonly problem?: Readonly<Record<string, unknown>>;
  readonly exit?: number;
}

/** A command fails. The message is one sentence for the terminal. */
export class CliError extends Error {
  readonly details: CliErrorDetails;
  constructor(message: string, details: CliErrorDetails = {}) {
    super(message);
    this.name = 'CliError';
    this.details = details;
  }
  get exit(): number {
    return this.details.exit ?? EXIT.failed;
  }
}

/** Returns the error of a command that the user interrupts. */
export const interruption = (): CliError =>
  new CliError('interrupted', { code: 'interrupted', exit: EXIT.interrupted });

/** Returns the error of a write that may have happened. */
export const unknownOutcome = (message: string): CliError =>
  new CliError(message, { code: 'outcome_unknown', hint: OUTCOME_HINT });

/** Throws the error of a command line that cannot be carried out as it is written. */
export function misused(message: string, hint?: string): never {
  throw new CliError(message, { code: 'misused', hint, exit: EXIT.misused });
}

/** The parts of an answer from which an error is made. */
export interface RefusedAnswer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly hasToken: boolean;
  readonly type: string;
  readonly text: string;
  /** The value of the header with the decision's id. */
  readonly decision: string | undefined;
  /** Where a redirect points. */
  readonly location: string | undefined;
}

const OUTCOME_HINT = 'the write may have happened: read before you write again';
const NO_TOKEN = 'no token was sent: log in, or set --token-file or CONCLAVE_HTTP_TOKEN';
const UNKNOWN_TOKEN =
  'this cluster does not know the token that was sent; if it came from a login, log in again';
/** Consul and release 0.3.0 say only in words that they lack an endpoint, or a method of it. */
const NO_ENDPOINT = /^Invalid URL path|^404 page not found|^method [A-Z]+ not allowed/;
/** Consul answers text without a code: what its sentences mean, and a hint. */
const CONSUL: readonly (readonly [RegExp, CliErrorCode, hint?: string])[] = [
  [/^No cluster leader/, 'no_leader'],
  [/^ACL not found$/, 'acl_not_found', UNKNOWN_TOKEN],
  [/^ACL not found/, 'acl_not_found'],
  [/^Permission denied: anonymous token lacks/, 'permission_denied', NO_TOKEN],
  [/^Permission denied/, 'permission_denied'],
];

/** Whether a request failed because what it names does not exist. For a token that is a 403. */
export const isMissing = (error: unknown): error is CliError =>
  error instanceof CliError &&
  (error.details.code === 'not_found' ||
    error.details.problem?.['status'] === 404 ||
    error.details.problem?.['about'] === 'token');

/** Whether a request failed because it needs a higher level than that of the cluster. */
export const isLacking = ({ details: { problem } }: CliError): boolean =>
  problem?.['about'] === 'level';

/** Returns the error that an answer with a status other than 2xx stands for. */
export function refusedBy(answer: RefusedAnswer): CliError {
  if (answer.status < 400) return redirected(answer);
  const problem = problemOf(answer);
  const detail = String(problem['detail'] ?? '') || `status ${answer.status} without a reason`;
  if (NO_ENDPOINT.test(detail))
    return new CliError(`the server does not support ${answer.method} ${answer.path}`, {
      code: 'no_endpoint',
      hint: 'it runs an older release, or is another server with this API',
      problem,
    });
  const isCoded = problem['code'] !== undefined;
  const [, told, hint] = isCoded ? [] : (CONSUL.find(([text]) => text.test(detail)) ?? []);
  const code = isCoded ? (problem['code'] as CliErrorCode) : told;
  const decision = answer.decision ?? (problem['decision'] as string | undefined);
  return new CliError(detail, {
    ...(code !== undefined && { code }),
    hint: hint ?? tokenHint(problem, answer.hasToken) ?? hintOf(code, decision),
    decision,
    problem,
  });
}

/** The API never redirects: a proxy or another server has answered. */
function redirected({ method, path, status, location }: RefusedAnswer): CliError {
  const target = location === undefined ? '' : ` and redirects to ${location}`;
  return new CliError(`the answer to ${method} ${path} has status ${status}${target}`, {
    hint: 'this is not a server of this API: use --http-addr with the address of a node',
  });
}

function problemOf({ status, type, text }: RefusedAnswer): Record<string, unknown> {
  if (/\bjson\b/.test(type))
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null) return { ...value };
    } catch {
      // The text is shown as it is.
    }
  return { status, detail: text.trim() };
}

/**
 * Returns the server's hint. Where it explains how to send a token, the options and commands of
 * this program help more than the names of headers.
 */
function tokenHint(problem: Record<string, unknown>, hasToken: boolean): string | undefined {
  const { code, about, hint } = problem;
  if (about === 'caller') return UNKNOWN_TOKEN;
  const isForToken =
    about === 'token' || code === 'permission_denied' || code === 'unauthenticated';
  return hint !== undefined && isForToken && !hasToken ? NO_TOKEN : (hint as string | undefined);
}

function hintOf(code: CliErrorCode | undefined, decision: string | undefined): string | undefined {
  if (decision !== undefined) return `conclave acl decision ${decision} shows why`;
  if (code === 'outcome_unknown') return OUTCOME_HINT;
  return undefined;
}

/** Returns an error as the lines that people read on the terminal. A server may have worded it. */
export function errorLines({ message, details }: CliError): string {
  const { code, decision, hint } = details;
  const shown = code === undefined || code === 'misused' ? [] : [code];
  const known = [...shown, ...(decision === undefined ? [] : [`decision ${decision}`])];
  const first = `conclave: ${message}${known.length === 0 ? '' : ` (${known.join(', ')})`}\n`;
  return lines(hint === undefined ? first : `${first}  ${hint}\n`);
}

/** Returns an error as problem details, for programs: JSON that a terminal can show. */
export function errorJson({ message, details }: CliError): string {
  const { code, decision, hint, problem } = details;
  const body = {
    ...problem,
    detail: message,
    ...(code !== undefined && { code }),
    ...(hint !== undefined && { hint }),
    ...(decision !== undefined && { decision }),
  };
  return `${lines(JSON.stringify(body))}\n`;
}
