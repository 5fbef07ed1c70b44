/**
 * The session of an OIDC login (beyond.md 11): it is renewed without a word where the provider
 * permits that; otherwise the user is asked in time.
 */
import { ask, read, renewedBy } from './api/client.js';
import { asProblem } from './api/problem.js';
import { type OidcSession, openSession, session } from './session.js';
import { type Store, store } from './store.js';
import { TEXT } from './texts.js';

/** Whether the user must do something for the session to go on, and what failed. */
export interface Ending {
  readonly isSoon: boolean;
  readonly problem?: string;
}

/** Whether the session ends soon. */
export const ending: Store<Ending> = store<Ending>({ isSoon: false });

/** A login that this tab has begun. It is kept while the browser is at the provider. */
interface Begun {
  readonly method: string;
  readonly ns: string;
  readonly nonce: string;
  /** Where the user was. */
  readonly back: string;
  /** Whether a window of its own logs in for the page that opened it. */
  readonly isWindow: boolean;
}

/** The token of a login, as the server answers it. */
interface OidcToken {
  readonly SecretID: string;
  readonly CreateTime: string;
  readonly ExpirationTime?: string;
  readonly Renewal?: string;
}

const BEGUN = 'conclave.oidc-login';
const CALLBACK = '/ui/oidc/callback';
/** The path of the page to which the provider sends the browser back, below `/ui`. */
export const CALLBACK_PARTS: readonly string[] = ['oidc', 'callback'];
/** Milliseconds between two looks: a timer may be late by the sleep of the computer. */
const LOOK_MS = 1000;
/** The part of a session's life after which it is renewed, and milliseconds before its end. */
const RENEW_AT = 0.8;
const WARN_MS = 5 * 60_000;
const NONCE_BYTES = 24;

function newNonce(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

const redirectUri = (): string => `${location.origin}${CALLBACK}`;

async function addressFor(begun: Begun): Promise<string> {
  const { method: AuthMethod, ns, nonce: ClientNonce } = begun;
  const body = { AuthMethod, RedirectURI: redirectUri(), ClientNonce };
  const how = { method: 'POST', body, ns, isRead: true, once: true } as const;
  return (await read<{ readonly AuthURL: string }>('/v1/acl/oidc/auth-url', how)).AuthURL;
}

/** Sends this tab to the provider of a method. Throws `Problem`. */
export async function beginLogin(method: string, ns: string): Promise<void> {
  const back = location.pathname + location.search;
  const begun = { method, ns, nonce: newNonce(), back, isWindow: false };
  const url = await addressFor(begun);
  sessionStorage.setItem(BEGUN, JSON.stringify(begun));
  location.assign(url);
}

/** What came of a login: where to go on, or what to tell the user. */
export type Completed =
  | { readonly back: string }
  | { readonly problem: string }
  | { readonly isDone: true };

/**
 * Completes the login with which the provider has sent the browser back. What it sent leaves the
 * address at once.
 */
export async function completeLogin(): Promise<Completed> {
  const sent = new URLSearchParams(location.search);
  history.replaceState(null, '', CALLBACK);
  const text = sessionStorage.getItem(BEGUN);
  sessionStorage.removeItem(BEGUN);
  if (text === null) return { problem: TEXT.login.notBegun };
  const { method: AuthMethod, ns, nonce: ClientNonce, back, isWindow } = JSON.parse(text) as Begun;
  if (sent.has('error')) {
    const why = sent.get('error_description') ?? sent.get('error')!;
    return { problem: TEXT.login.byProvider(why.slice(0, 200)) };
  }
  const body = { AuthMethod, State: sent.get('state'), Code: sent.get('code'), ClientNonce };
  try {
    const how = { method: 'POST', body, ns } as const;
    const token = await read<OidcToken>('/v1/acl/oidc/callback', how);
    if (!isWindow) {
      openSession(token.SecretID, sessionOf(token, AuthMethod, ns));
      return { back };
    }
    const channel = new BroadcastChannel(ClientNonce);
    channel.postMessage(token);
    channel.close();
    close();
    return { isDone: true };
  } catch (error) {
    const { message, decision } = asProblem(error);
    return { problem: decision === undefined ? message : TEXT.login.decided(message, decision) };
  }
}

const sessionOf = (token: OidcToken, method: string, ns: string): OidcSession => ({
  method,
  ns,
  createMs: Date.parse(token.CreateTime),
  endMs: Date.parse(token.ExpirationTime ?? ''),
  renewal: token.Renewal,
});

/** Renews the session, or says that it ends, when it is time. */
export function watchSession(): void {
  setInterval(() => void look(), LOOK_MS);
}

async function look(): Promise<void> {
  const { oidc, token } = session.get();
  if (oidc === undefined || token === undefined || Number.isNaN(oidc.endMs)) {
    if (ending.get().isSoon) ending.set({ isSoon: false });
    return;
  }
  const late = oidc.createMs + RENEW_AT * (oidc.endMs - oidc.createMs);
  if (oidc.renewal !== undefined) {
    if (Date.now() >= late) await renewedBy(() => renew(oidc, token));
    return;
  }
  const isSoon = Date.now() >= Math.max(oidc.endMs - WARN_MS, late);
  if (isSoon !== ending.get().isSoon) ending.set({ isSoon });
}

/** Replaces the token. Where that is refused, the user is asked in time. */
async function renew(oidc: OidcSession, old: string): Promise<void> {
  const { method: AuthMethod, ns, renewal: Renewal } = oidc;
  const body = { AuthMethod, Renewal };
  const how = { method: 'POST', body, ns, token: old, once: true } as const;
  try {
    const token = await read<OidcToken>('/v1/acl/oidc/renew', how);
    openSession(token.SecretID, sessionOf(token, AuthMethod, ns));
  } catch (error) {
    const { status } = asProblem(error);
    // Another answer may come later, as long as the token lives.
    if (status !== 403 || session.get().oidc !== oidc) return;
    openSession(session.get().token, { ...oidc, renewal: undefined });
  }
}

/** Lets the user log in again in a window of its own. The page and what is typed in it stay. */
export async function stayLoggedIn(): Promise<void> {
  const { oidc, token: old } = session.get();
  if (oidc === undefined || old === undefined) return;
  const { method, ns } = oidc;
  const nonce = newNonce();
  const begun: Begun = { method, ns, nonce, back: '', isWindow: true };
  // The window gets a copy of what the tab has stored when it is opened.
  sessionStorage.setItem(BEGUN, JSON.stringify(begun));
  const opened = open('', '_blank', 'popup,width=520,height=680');
  sessionStorage.removeItem(BEGUN);
  if (opened === null) {
    ending.set({ isSoon: true, problem: TEXT.login.noWindow });
    return;
  }
  const channel = new BroadcastChannel(nonce);
  channel.onmessage = ({ data }: MessageEvent<OidcToken>) => {
    channel.close();
    openSession(data.SecretID, sessionOf(data, method, ns));
    ending.set({ isSoon: false });
    const end = { method: 'POST', token: old, once: true } as const;
    ask('/v1/acl/logout', end).catch(() => undefined);
  };
  try {
    opened.location.href = await addressFor(begun);
  } catch (error) {
    channel.close();
    opened.close();
    ending.set({ isSoon: true, problem: asProblem(error).message });
  }
}

/** Ends the session, and goes on at the provider where it has an address for that. */
export async function logOutAtProvider(): Promise<string> {
  const how = { method: 'POST', once: true } as const;
  const answer = await read<{ readonly LogoutURL: string }>('/v1/acl/oidc/logout', how).catch(
    () => undefined,
  );
  return answer?.LogoutURL ?? '';
}
