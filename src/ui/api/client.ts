/** Requests to the API of the node that served this page. */
import type { Method } from '../../api/endpoints/operation.js';
import { namespace } from '../router.js';
import { endSession, session, successorOf } from '../session.js';
import { type Store, store } from '../store.js';
import { TEXT } from '../texts.js';
import { Problem, problemOf } from './problem.js';

/** What keeps the requests of this page waiting; undefined while nothing does. */
export const trouble: Store<string | undefined> = store<string | undefined>(undefined);

/** How many requests take long. */
export const slowRequests: Store<number> = store(0);

const RETRY_MS = 1000;
/** Milliseconds after which a request takes long, unless it waits for a change. */
const SLOW_MS = 3000;
/** The endpoint of the session's own token. */
export const SELF = '/v1/acl/token/self';
/** Refusals after which nothing has happened, so that any request may be sent again. */
const PASSING = new Set(['no_leader', 'unavailable']);

/** One request. */
export interface Ask {
  readonly method?: Method;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  /**
   * Ends the request; for one that changes something only the wait before it is sent again, since
   * one that was sent may have an effect.
   */
  readonly signal?: AbortSignal | undefined;
  /** The namespace; that of the place by default. */
  readonly ns?: string | undefined;
  /** The token; that of the session by default. */
  readonly token?: string;
  /** Fails at once where others wait for a leader. */
  readonly once?: boolean;
  /** Whether it changes nothing; by default only a GET does not. */
  readonly isRead?: boolean;
  /** Is not counted as slow: the page has its own way to say so. */
  readonly isQuiet?: boolean;
  /** Fails at once where `unavailable` may be another server: the provider of a login. */
  readonly isOutward?: boolean;
  /** The index that the object must still have; `none`: it must not exist. */
  readonly ifMatch?: number | 'none';
  /** Why it is done: the history keeps it. */
  readonly reason?: string | undefined;
}

/** A request with all that must not change while it waits. */
interface Sent extends Ask {
  readonly url: string;
  readonly headers: Headers;
  readonly isRead: boolean;
  /** Ends the request once it is sent. */
  readonly cut: AbortSignal | undefined;
}

function sentOf(path: string, ask: Ask): Sent {
  const { method = 'GET', isRead = method === 'GET', signal } = ask;
  const cut = isRead ? signal : undefined;
  return { ...ask, url: urlOf(path, ask), headers: headersOf(ask), isRead, cut };
}

/** Returns the address of an endpoint with its parameters. */
function urlOf(path: string, { query = {}, ns = namespace() }: Ask): string {
  const search = new URLSearchParams();
  if (ns !== '') search.set('ns', ns);
  for (const [name, value] of Object.entries(query)) if (value) search.set(name, value);
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}

function headersOf({ token = session.get().token, body, ifMatch, reason }: Ask): Headers {
  const headers = new Headers({ Accept: 'application/json' });
  if (ifMatch === 'none') headers.set('If-None-Match', '*');
  else if (ifMatch !== undefined) headers.set('If-Match', `"${ifMatch}"`);
  if (reason) headers.set('X-Consul-Reason', encodeURIComponent(reason));
  if (token !== undefined) headers.set('X-Consul-Token', token);
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  return headers;
}

/** What keeps each request waiting. */
const waits = new Map<Sent, string>();

/** Waits before a request is sent again, and says why. Throws the reason of the signal. */
async function pause(sent: Sent, why: string): Promise<void> {
  const { signal } = sent;
  waits.set(sent, why);
  trouble.set(why);
  await new Promise<void>((resolve, reject) => {
    signal?.throwIfAborted();
    const timer = setTimeout(resolve, RETRY_MS);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** Says what keeps the other requests waiting, if anything does. */
function endWait(sent: Sent): void {
  if (waits.delete(sent)) trouble.set([...waits.values()].at(-1));
}

/** Whether a request may be sent again: nothing has happened, or it changes nothing. */
function mayRepeat({ code, status, about }: Problem, { method = 'GET', isOutward }: Ask): boolean {
  if (about === 'level' || (isOutward && code === 'unavailable')) return false;
  if (PASSING.has(code)) return true;
  return method === 'GET' && (status === 0 || code === 'too_many');
}

/** Whether the token of the session is gone, rather than one that the path names. */
function isOwnGone({ code, status, about }: Problem, path: string, { token }: Ask): boolean {
  if (code !== 'acl_not_found' || status !== 403 || token !== undefined) return false;
  return path === SELF || about !== 'token';
}

/**
 * Sends a request. Waits while the cluster has no leader and, for reads, while the node does not
 * answer; `trouble` says so. The namespace and the token are those of the moment of the call. Where
 * the token was replaced meanwhile, its refusal means that nothing was done: the request is sent
 * again. Throws `Problem`, or the reason of the signal. A token that is gone ends the session.
 */
async function respond(path: string, ask: Ask = {}): Promise<Response> {
  ask.signal?.throwIfAborted();
  const sent = sentOf(path, ask);
  let { token } = session.get();
  try {
    for (;;) {
      const problem = await attempt(sent);
      if (!(problem instanceof Problem)) return problem;
      if (ask.once !== true && mayRepeat(problem, ask)) {
        await pause(sent, TEXT.trouble[problem.code === 'no_leader' ? 'noLeader' : 'waiting']);
        continue;
      }
      if (!isOwnGone(problem, path, ask)) throw problem;
      const next = await successorOf(token);
      if (next === undefined) {
        const { token: present, login } = session.get();
        if (token === present) endSession(login ? TEXT.oidc.over : TEXT.login.gone);
        throw problem;
      }
      ask.signal?.throwIfAborted();
      token = next;
      sent.headers.set('X-Consul-Token', next);
    }
  } finally {
    endWait(sent);
  }
}

/** Counts a request as slow once it takes long. Returns what ends that. */
function watchTime({ query, isQuiet }: Sent): () => void {
  if (isQuiet || query?.['wait'] !== undefined) return () => {};
  let isSlow = false;
  const timer = setTimeout(() => {
    isSlow = true;
    slowRequests.set(slowRequests.get() + 1);
  }, SLOW_MS);
  return () => {
    clearTimeout(timer);
    if (isSlow) slowRequests.set(slowRequests.get() - 1);
  };
}

async function attempt(sent: Sent) {
  const { url, headers, method, body, cut, isRead } = sent;
  const ended = watchTime(sent);
  let response: Response;
  try {
    response = await fetch(url, {
      method: method ?? 'GET',
      headers,
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(cut && { signal: cut }),
    });
  } catch (error) {
    if (cut?.aborted) throw error;
    const detail = isRead ? TEXT.trouble.unreachable : TEXT.trouble.unknown;
    return new Problem(0, { detail, code: 'unreachable' });
  } finally {
    ended();
  }
  return response.ok ? response : problemOf(response);
}

/** An answer with what its headers say. */
export interface Answer<T> {
  readonly value: T;
  readonly index: number;
  /** What lint finds in what was written. */
  readonly lint: string | undefined;
  readonly headers: Headers;
}

/** Sends a request and reads its JSON. Throws `Problem`. */
export async function ask<T>(path: string, how: Ask = {}): Promise<Answer<T>> {
  const response = await respond(path, how);
  const { headers } = response;
  return {
    value: (await response.json()) as T,
    index: Number(headers.get('X-Consul-Index') ?? 0),
    lint: headers.get('X-Consul-Lint') ?? undefined,
    headers,
  };
}

/** Opens a stream, which stays open. Throws `Problem`. */
export const open = (path: string, how: Ask = {}): Promise<Response> =>
  respond(path, { ...how, once: true, isQuiet: true });

/** Reads a value. Throws `Problem`. */
export const read = async <T>(path: string, how: Ask = {}): Promise<T> =>
  (await ask<T>(path, how)).value;

/** Reads an object; undefined if there is none. Throws `Problem`. */
export async function find<T>(path: string, how: Ask = {}): Promise<T | undefined> {
  try {
    return await read<T>(path, how);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // A token that does not exist is a 403.
    if (error.status === 404 || error.about === 'token') return undefined;
    throw error;
  }
}

/** Asks a question with a body; it changes nothing. Throws `Problem`. */
export const question = <T>(path: string, body: unknown, how: Ask = {}): Promise<T> =>
  read<T>(path, { method: 'POST', body, isRead: true, ...how });
