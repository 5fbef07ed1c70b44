/** The token of this tab, and the texts that were typed in it. Nothing of it outlives the tab. */
import { type Store, store } from './store.js';
import { TEXT } from './texts.js';

const TOKEN = 'conclave.token';
const ANONYMOUS = 'conclave.anonymous';
const OIDC = 'conclave.oidc';
/** When the user last pressed a key or a button in this tab; a reload does not count. */
const ACTIVE = 'conclave.active';
/** Begins the keys of drafts. */
const DRAFT = 'conclave.draft.';

/** Milliseconds between two looks whether the tab is still used. */
const LOOK_MS = 5000;

/** What belongs to the token of an OIDC login. */
export interface OidcSession {
  readonly method: string;
  readonly ns: string;
  /** Unix milliseconds. */
  readonly createMs: number;
  /** Unix milliseconds; NaN if the token never expires. */
  readonly endMs: number;
  /** What renews it; undefined if the provider gave nothing, or it was refused. */
  readonly renewal: string | undefined;
}

/** Who uses this tab. */
export interface Session {
  /** The SecretID; undefined for a user without a token. */
  readonly token: string | undefined;
  /** Whether the user has said who they are. */
  readonly isOpen: boolean;
  /** Of an OIDC login. */
  readonly oidc?: OidcSession;
  /** Why the user must log in again, if they must. */
  readonly ended?: string;
}

function initial(): Session {
  const token = sessionStorage.getItem(TOKEN) ?? undefined;
  const isOpen = token !== undefined || sessionStorage.getItem(ANONYMOUS) !== null;
  const oidc = sessionStorage.getItem(OIDC);
  return { token, isOpen, ...(oidc !== null && { oidc: JSON.parse(oidc) as OidcSession }) };
}

/** The session of this tab. */
export const session: Store<Session> = store(initial());

/** Goes on with a token, or without one. `oidc`: of an OIDC login. */
export function openSession(token: string | undefined, oidc?: OidcSession): void {
  if (token === undefined) sessionStorage.setItem(ANONYMOUS, '1');
  else sessionStorage.setItem(TOKEN, token);
  if (oidc === undefined) sessionStorage.removeItem(OIDC);
  else sessionStorage.setItem(OIDC, JSON.stringify(oidc));
  session.set({ token, isOpen: true, ...(oidc && { oidc }) });
}

/** Forgets the token. Drafts stay: the user may log in again. */
export function endSession(ended?: string): void {
  sessionStorage.removeItem(TOKEN);
  sessionStorage.removeItem(ANONYMOUS);
  sessionStorage.removeItem(OIDC);
  session.set({ token: undefined, isOpen: false, ...(ended !== undefined && { ended }) });
}

/** Forgets the token and all drafts: the user has logged out, or has left. */
export function logOut(ended?: string): void {
  forgetDrafts();
  sessionStorage.removeItem(ACTIVE);
  endSession(ended);
}

function forgetDrafts(): void {
  for (const name of Object.keys(sessionStorage))
    if (name.startsWith(DRAFT)) sessionStorage.removeItem(name);
}

/** Keeps a value in this tab; undefined removes it. A full store loses the value, not the page. */
export function keep(key: string, value: unknown): void {
  const name = DRAFT + key;
  if (value === undefined) sessionStorage.removeItem(name);
  else
    try {
      sessionStorage.setItem(name, JSON.stringify(value));
    } catch {
      sessionStorage.removeItem(name);
    }
}

/** Returns a kept value. */
export function kept<T>(key: string): T | undefined {
  const text = sessionStorage.getItem(DRAFT + key);
  return text === null ? undefined : (JSON.parse(text) as T);
}

/** Logs out, and forgets all drafts, after `idleMs` without input; 0: never. */
export function watchIdle(idleMs: number): void {
  if (!(idleMs > 0)) return;
  const note = (): void => sessionStorage.setItem(ACTIVE, String(Date.now()));
  const look = (): void => {
    const activeMs = Number(sessionStorage.getItem(ACTIVE) ?? Date.now());
    if (Date.now() - activeMs >= idleMs) logOut(session.get().isOpen ? TEXT.login.idle : undefined);
  };
  look();
  if (session.get().isOpen) note();
  for (const type of ['pointerdown', 'keydown']) addEventListener(type, note);
  setInterval(look, Math.min(LOOK_MS, idleMs));
}
