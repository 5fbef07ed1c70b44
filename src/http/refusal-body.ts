/** Bodies of errors: a sentence of text, or problem details (RFC 9457). */
import type { IncomingMessage } from 'node:http';
import { ERROR_STATUS, type Refusal } from '../errors.js';
import { STATUS_CODES } from '../node-http.js';
import { contentTypes } from './response-headers.js';

/** Characters of a message and of a pointer, as JSON writes them. */
const MESSAGE_MAX = 1500;
const POINTER_MAX = 500;

/**
 * Returns the body of a refusal and its type: problem details if the client asks for JSON or, with
 * `preferProblem`, if it does not ask for text. They name the decision, if it was noted.
 */
export function refusalBody(
  { headers }: IncomingMessage,
  why: Refusal,
  preferProblem = false,
  decision?: string,
): { type: string; body: string } {
  const message = clipped(why.message);
  if (!wantsProblem(headers.accept ?? '', preferProblem)) {
    const body = why.hint ? `${message} (${why.hint})` : message;
    return { type: contentTypes.text, body };
  }
  const status = ERROR_STATUS[why.code];
  const problem = {
    type: 'about:blank',
    title: STATUS_CODES[status],
    status,
    detail: message,
    code: why.code,
    ...(why.pointer !== undefined && { pointer: nearest(why.pointer) }),
    ...(why.hint !== undefined && { hint: why.hint }),
    ...(decision !== undefined && { decision }),
  };
  return { type: 'application/problem+json', body: JSON.stringify(problem) };
}

function wantsProblem(accept: string, preferProblem: boolean): boolean {
  const takesJson =
    accept.includes('application/json') || accept.includes('application/problem+json');
  return takesJson || (preferProblem && !accept.includes('text/plain'));
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
