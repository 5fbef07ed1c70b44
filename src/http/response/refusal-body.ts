/** Bodies of errors, as text or problem details (RFC 9457), and what helps against them. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { ERROR_STATUS, type Refusal } from '../../base/errors.js';
import { STATUS_CODES } from '../../base/node-http.js';
import type { RefusedRequest } from '../../service/explain/decisions.js';
import type { Front } from '../front.js';
import { shownUrl } from '../request/shown-url.js';
import { traceOf } from '../request/trace.js';
import type { Route } from '../routes/types.js';
import { contentTypes, isNever } from './response-headers.js';

/** Characters of a message and of a pointer, as JSON writes them. */
const MESSAGE_MAX = 1500;
const POINTER_MAX = 500;
/** What a problem document says that a refusal is about. */
const SHOWN = ['caller', 'token', 'level'];
const PROBLEM_TYPE = 'application/problem+json';

/**
 * Characters that move a cursor, end a line, or turn the direction of a text. A refusal may quote
 * them from the request.
 */
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Returns a text with its invisible characters escaped. */
const visible = (text: string): string =>
  text.replace(INVISIBLE, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);

/**
 * Returns the body of a refusal and its type: problem details if the client asks for JSON or, on
 * new paths, if it does not ask for text. They name the decision, if it was noted.
 */
export function refusalBody(
  { headers }: IncomingMessage,
  why: Refusal,
  route: Pick<Route, 'isNew' | 'isStandard'> = {},
  decision?: string,
): { type: string; body: string } {
  const message = clipped(visible(why.message));
  const hint = why.hint === undefined ? undefined : clipped(visible(why.hint));
  if (!wantsProblem(acceptedTypes(headers), route)) {
    const body = hint ? `${message} (${hint})\n` : `${message}\n`;
    return { type: contentTypes.text, body };
  }
  const status = ERROR_STATUS[why.code];
  const about = why.about?.kind;
  const current = why.about?.kind === 'version' && { current: why.about.current };
  const problem = {
    type: 'about:blank',
    title: STATUS_CODES[status],
    status,
    detail: message,
    code: why.code,
    ...(why.pointer !== undefined && { pointer: nearest(why.pointer) }),
    ...(hint !== undefined && { hint }),
    ...(decision !== undefined && { decision }),
    ...current,
    ...why.members,
    ...(SHOWN.some((shown) => shown === about) && { about }),
  };
  return { type: PROBLEM_TYPE, body: `${JSON.stringify(problem)}\n` };
}

/**
 * Whether the client asks for problem details and no other JSON. Where the API answers `false`,
 * such a client can be told more.
 */
export function asksForProblem({ headers }: IncomingMessage): boolean {
  const accept = acceptedTypes(headers);
  return (
    accept.includes(PROBLEM_TYPE) && !accept.includes('application/json') && !accept.includes('*/*')
  );
}

/** Returns the types that `Accept` names, but for those that it refuses: `text/plain;q=0`. */
function acceptedTypes({ accept = '' }: IncomingHttpHeaders): string {
  const types = accept.toLowerCase();
  if (!types.includes('q=0')) return types;
  return types
    .split(',')
    .filter((type) => !type.split(';').some(isNever))
    .join(',');
}

function wantsProblem(accept: string, { isNew, isStandard }: Pick<Route, 'isNew' | 'isStandard'>) {
  if (isStandard) return accept.includes(PROBLEM_TYPE);
  const takesJson = accept.includes('application/json') || accept.includes(PROBLEM_TYPE);
  return takesJson || (isNew === true && !accept.includes('text/plain'));
}

/** A message is a sentence, however much of the request it quotes. */
function clipped(message: string): string {
  if (isShort(message, MESSAGE_MAX)) return message;
  let part = message.slice(0, MESSAGE_MAX);
  // a character that JSON escapes grows up to six times
  while (!isShort(part, MESSAGE_MAX)) part = part.slice(0, part.length / 2);
  return `${part}…`;
}

/** A pointer through a long name ends at the nearest enclosing object whose pointer is short. */
function nearest(pointer: string): string {
  let part = pointer;
  while (!isShort(part, POINTER_MAX)) part = part.slice(0, part.lastIndexOf('/'));
  return part;
}

const isShort = (text: string, most: number): boolean =>
  text.length <= most && JSON.stringify(text).length <= most + 2;

/** Notes a refused request. Returns the id of the decision; undefined if it is not noted. */
export function noteRefused(
  front: Pick<Front, 'options'>,
  incoming: IncomingMessage,
  refused: Pick<RefusedRequest, 'caller' | 'namespace' | 'refusal' | 'error'>,
): string | undefined {
  const { method = '', socket } = incoming;
  return front.options.noteRefused?.({
    ...refused,
    method,
    path: shownUrl(front, incoming).split('?', 1)[0]!,
    traceId: traceOf(incoming),
    remoteAddress: (socket.remoteAddress ?? '').replace(/^::ffff:/, ''),
  });
}

/** Headers in which other servers take a token, with the spelling in which they are shown. */
const ELSEWHERE: readonly (readonly [name: string, shown: string])[] = [
  ['x-api-token', 'X-Api-Token'],
  ['x-api-key', 'X-Api-Key'],
  ['x-auth-token', 'X-Auth-Token'],
  ['x-access-token', 'X-Access-Token'],
  ['x-vault-token', 'X-Vault-Token'],
  ['x-nomad-token', 'X-Nomad-Token'],
  ['x-token', 'X-Token'],
  ['token', 'Token'],
];

/**
 * Returns what helps against a refusal; undefined if it has nothing to do with how the token was
 * sent. `header` is the name of the header for tokens. Quotes nothing of the request.
 */
export function tokenHint(
  { code, about }: Refusal,
  headers: IncomingHttpHeaders,
  { hasToken, header }: { readonly hasToken: boolean; readonly header: string },
): string | undefined {
  if (hasToken) {
    return about?.kind === 'caller' ? 'the token sent is not known to this cluster' : undefined;
  }
  const needsToken = about?.kind === 'denied' || about?.kind === 'token';
  if (!needsToken && code !== 'unauthenticated') return undefined;
  return `${whyNone(headers)}; send it as "${header}: TOKEN" or "Authorization: Bearer TOKEN"`;
}

function whyNone(headers: IncomingHttpHeaders): string {
  if (headers.authorization) return 'the header Authorization is not "Bearer TOKEN"';
  const found = ELSEWHERE.find(([name]) => headers[name] !== undefined);
  if (found !== undefined) return `the header ${found[1]} is not supported here`;
  return 'the request has no token';
}
