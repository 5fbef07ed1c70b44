/**
 * Logins at OpenID providers: the page leaves for the provider, which sends the browser back to
 * `/ui/oidc/callback` with a code. What was begun is kept in the tab meanwhile.
 */
import { ask, read } from '../api/client.js';
import { asProblem, Problem } from '../api/problem.js';
import { place, readdress } from '../router.js';
import { endSession, forgetSession, type OidcLogin, openSession, session } from '../session.js';
import { type Store, store } from '../store.js';
import { TEXT } from '../texts.js';
import { type Handed, handOver } from './channel.js';

const BEGUN = 'conclave.begun';
/** The page to which providers send browsers, as the segments of its path. */
const CALLBACK = ['oidc', 'callback'];
/** Random bytes of a nonce, as many as a key has: nobody guesses it. */
const NONCE_BYTES = 32;
/** Characters of a provider's own words that are shown. */
const SHOWN_MAX = 200;

/** An auth method by which a browser can log in. */
export interface BrowserMethod {
  readonly Name: string;
  readonly DisplayName: string;
  readonly Namespace: string;
}

/** A login that was begun in this tab. */
interface Begun {
  readonly method: string;
  readonly ns: string;
  readonly nonce: string;
  /** Which answer of the provider belongs to it. */
  readonly state: string;
  /** The address of the page to go back to. */
  readonly from: string;
  /** Whether the tab is a window that another one has opened for the login. */
  readonly isWindow: boolean;
}

/** The answer to a login, as far as the pages read it. */
interface LoggedIn {
  readonly SecretID: string;
  readonly CreateTime: string;
  readonly ExpirationTime?: string;
  readonly Identity: { readonly Subject: string };
  readonly Renewal?: string;
}

/** What is said in place of a page while a login is completed. */
export const completing: Store<string | undefined> = store<string | undefined>(undefined);

/** Returns a random text that can be part of a name. */
const nonceText = (): string =>
  [...crypto.getRandomValues(new Uint8Array(NONCE_BYTES))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');

/**
 * Begins a login. Returns the address of the provider, the nonce, and what the tab that goes there
 * must keep. Throws `Problem`.
 */
async function begin(method: string, ns: string, back: Pick<Begun, 'from' | 'isWindow'>) {
  const nonce = nonceText();
  const body = {
    AuthMethod: method,
    Namespace: ns,
    RedirectURI: `${location.origin}/ui/${CALLBACK.join('/')}`,
    ClientNonce: nonce,
  };
  const how = { method: 'POST', body, ns: '', isRead: true, isOutward: true } as const;
  const { AuthURL: url } = await read<{ readonly AuthURL: string }>('/v1/acl/oidc/auth-url', how);
  const state = new URL(url).searchParams.get('state') ?? '';
  return { url, nonce, begun: { method, ns, nonce, state, ...back } };
}

/** Keeps a login that was begun in a tab. */
const keepBegun = (storage: Storage, begun: Begun): void =>
  storage.setItem(BEGUN, JSON.stringify(begun));

/** Leaves for the provider of a method. Throws `Problem`. */
export async function leaveToLogIn({ Name, Namespace }: BrowserMethod): Promise<void> {
  const from = location.pathname + location.search;
  const { url, begun } = await begin(Name, Namespace, { from, isWindow: false });
  keepBegun(sessionStorage, begun);
  location.assign(url);
}

/**
 * Opens the provider of a login in a window of its own. Returns the nonce, which names the channel
 * on which the new login comes. Throws `Problem`.
 */
export async function logInBeside({ method, ns }: OidcLogin): Promise<string> {
  // Before anything is awaited: browsers open windows only while they handle a click.
  const beside = window.open('', '_blank', 'popup,width=520,height=720');
  if (beside === null) throw new Problem(0, { detail: TEXT.oidc.blocked });
  try {
    const { url, nonce, begun } = await begin(method, ns, { from: '/ui/', isWindow: true });
    // The window begins with a copy of what this tab keeps.
    beside.sessionStorage.clear();
    keepBegun(beside.sessionStorage, begun);
    beside.location.replace(url);
    return nonce;
  } catch (error) {
    beside.close();
    throw error;
  }
}

/** Completes the login of the address, if a provider has sent the browser to it. */
export async function completeLogin(): Promise<void> {
  const { parts, query } = place.get();
  if (parts.join('/') !== CALLBACK.join('/')) return;
  const kept = sessionStorage.getItem(BEGUN);
  const begun = kept === null ? undefined : (JSON.parse(kept) as Begun);
  // Before anything is awaited: the code stays neither in the address nor in the history.
  readdress(begun?.from ?? '/ui/');
  if (begun === undefined || query.get('state') !== begun.state) {
    // A link of another site can lead here.
    if (!session.get().isOpen) endSession(TEXT.oidc.notBegun);
    return;
  }
  sessionStorage.removeItem(BEGUN);
  completing.set(TEXT.oidc.completing);
  try {
    await complete(begun, query);
  } catch (error) {
    endSession(refusalOf(asProblem(error)));
    completing.set(undefined);
  }
}

/**
 * Makes the token of a login. Hands it to the page that has opened this window, or else opens the
 * session with it. Throws `Problem`.
 */
async function complete(begun: Begun, query: URLSearchParams): Promise<void> {
  const { method, ns, nonce, state } = begun;
  const error = query.get('error');
  if (error !== null) {
    const why = query.get('error_description') ?? error;
    throw new Problem(0, { detail: TEXT.oidc.failed(why.slice(0, SHOWN_MAX)), code: 'provider' });
  }
  const body = {
    AuthMethod: method,
    Namespace: ns,
    State: state,
    Code: query.get('code') ?? '',
    ClientNonce: nonce,
  };
  const how = { method: 'POST', body, ns: '', isOutward: true } as const;
  const answer = await read<LoggedIn>('/v1/acl/oidc/callback', how);
  const made = loginOf(answer, { method, ns, channel: nonce });
  if (begun.isWindow && (await handOver(nonce, made))) {
    completing.set(TEXT.oidc.handedOver);
    window.close();
    return;
  }
  openSession(made.token, { login: made.login });
  completing.set(undefined);
}

/** Returns the token of an answer, and what is to be known of its login. */
function loginOf(
  { SecretID: token, CreateTime, ExpirationTime, Identity, Renewal }: LoggedIn,
  { method, ns, channel }: Pick<OidcLogin, 'method' | 'ns' | 'channel'>,
): Handed {
  const lifeMs = ExpirationTime && Date.parse(ExpirationTime) - Date.parse(CreateTime);
  const login: OidcLogin = {
    method,
    ns,
    channel,
    subject: Identity.Subject,
    sinceMs: Date.now(),
    ...(Renewal && { renewal: Renewal }),
    ...(lifeMs && { lifeMs }),
  };
  return { token, login };
}

/** Renews a login, which ends its token. Returns the new one. Throws `Problem`. */
export async function renew(token: string, login: OidcLogin): Promise<Handed> {
  const { method, ns, renewal = '' } = login;
  const body = { AuthMethod: method, Namespace: ns, Renewal: renewal };
  const how = { method: 'POST', body, ns: '', token, once: true, isQuiet: true } as const;
  return { ...loginOf(await read<LoggedIn>('/v1/acl/oidc/renew', how), login), former: token };
}

/**
 * Ends the token of a login at a provider, or of another one. Returns where the session at the
 * provider ends; '' if that is not known.
 */
export async function endToken(token: string, isOfProvider = true): Promise<string> {
  const how = { method: 'POST', ns: '', token } as const;
  const path = isOfProvider ? '/v1/acl/oidc/logout' : '/v1/acl/logout';
  const ended = ask<{ readonly LogoutURL?: string }>(path, how);
  return (await ended.catch(() => undefined))?.value.LogoutURL ?? '';
}

/**
 * Logs out of this tab, and ends the token if a login made it. `ended` is said to the user. Returns
 * where the session at the provider ends; '' if there is none, or that is not known.
 */
export async function logOut(ended?: string): Promise<string> {
  const { token, login, isOfLogin } = session.get();
  // First, so that a renewal that is under way finds no session.
  forgetSession(ended);
  if (token === undefined || (login === undefined && isOfLogin !== true)) return '';
  return endToken(token, login !== undefined);
}

/** Says why a login was refused. */
export function refusalOf({ status, code, message, decision }: Problem): string {
  if (code === 'unreachable') return TEXT.trouble.unreachable;
  return status === 403 && decision !== undefined ? TEXT.login.refused(decision) : message;
}
