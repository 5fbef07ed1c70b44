/** The token of this tab, and the texts that were typed in it. Nothing of it outlives the tab. */
import { type Store, store } from './store.js';
import { TEXT } from './texts.js';

const TOKEN = 'conclave.token';
const ANONYMOUS = 'conclave.anonymous';
const LOGIN = 'conclave.login';
/** Marks the token of another login, such as one by a JWT. */
const OF_LOGIN = 'conclave.of-login';
/** When the user last pressed a key or a button in a tab that has the token. */
const ACTIVE = 'conclave.active';
/** Begins the keys of drafts. */
const DRAFT = 'conclave.draft.';

/** Milliseconds between two looks whether the tab is still used. */
const LOOK_MS = 5000;
/** Milliseconds in which other tabs tell when they were used. */
const ANSWER_MS = 500;
/** Milliseconds that a request may wait for the token that replaces its own. */
const SUCCESSION_MS = 2000;

/** The login at an OpenID provider that made the token of a session. */
export interface OidcLogin {
  readonly method: string;
  readonly ns: string;
  /** Who logged in. */
  readonly subject: string;
  /** Names the channel on which tabs that share the session tell each other of a new token. */
  readonly channel: string;
  /** Renews the token, once. */
  readonly renewal?: string;
  /** Unix milliseconds at which the tab got the token, by the clock of the browser. */
  readonly sinceMs: number;
  /** How long the token is valid from then on. Undefined: for ever. */
  readonly lifeMs?: number;
}

/** Who uses this tab. */
export interface Session {
  /** The SecretID; undefined for a user without a token. */
  readonly token: string | undefined;
  /** Whether the user has said who they are. */
  readonly isOpen: boolean;
  /** Why the user must log in again, if they must. */
  readonly ended?: string;
  readonly login?: OidcLogin;
  /** Whether another login made the token, such as one by a JWT: it ends with the session, too. */
  readonly isOfLogin?: boolean;
  /** The token that the present one has replaced. */
  readonly former?: string;
}

function initial(): Session {
  const token = sessionStorage.getItem(TOKEN) ?? undefined;
  const login = sessionStorage.getItem(LOGIN);
  return {
    token,
    isOpen: token !== undefined || sessionStorage.getItem(ANONYMOUS) !== null,
    ...(login !== null && { login: JSON.parse(login) as OidcLogin }),
    isOfLogin: sessionStorage.getItem(OF_LOGIN) !== null,
  };
}

/** The session of this tab. */
export const session: Store<Session> = store(initial());

/** Goes on with a token, or without one. */
export function openSession(
  token: string | undefined,
  how: Pick<Session, 'login' | 'isOfLogin' | 'former'> = {},
): void {
  if (token === undefined) sessionStorage.setItem(ANONYMOUS, '1');
  else sessionStorage.setItem(TOKEN, token);
  if (how.login === undefined) sessionStorage.removeItem(LOGIN);
  else sessionStorage.setItem(LOGIN, JSON.stringify(how.login));
  if (how.isOfLogin !== true) sessionStorage.removeItem(OF_LOGIN);
  else sessionStorage.setItem(OF_LOGIN, '1');
  session.set({ token, isOpen: true, ...how });
}

/**
 * Returns the token that has replaced one that is gone; undefined if none has. The news of that may
 * still be on its way, from the server or from another tab.
 */
export async function successorOf(gone: string | undefined): Promise<string | undefined> {
  if (gone === undefined) return undefined;
  const { token, login } = session.get();
  if (token === gone && login !== undefined) await endOf(gone);
  const now = session.get();
  return now.former === gone ? now.token : undefined;
}

/** Resolves once the session has another token, at the latest after `SUCCESSION_MS`. */
const endOf = (token: string): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      unwatch();
      resolve();
    };
    const timer = setTimeout(done, SUCCESSION_MS);
    const unwatch = session.watch(() => {
      if (session.get().token !== token) done();
    });
  });

/** Forgets the token. Drafts stay: the user may log in again. */
export function endSession(ended?: string): void {
  sessionStorage.removeItem(TOKEN);
  sessionStorage.removeItem(ANONYMOUS);
  sessionStorage.removeItem(LOGIN);
  sessionStorage.removeItem(OF_LOGIN);
  session.set({ token: undefined, isOpen: false, ...(ended !== undefined && { ended }) });
}

/** Forgets the token and all drafts: the user has logged out, or has left. */
export function forgetSession(ended?: string): void {
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

/** Moves what was kept for no namespace, whose keys begin with a slash, to the one that it is. */
export function keepIn(ns: string): void {
  for (const name of Object.keys(sessionStorage).filter((each) => each.startsWith(`${DRAFT}/`))) {
    keep(ns + name.slice(DRAFT.length), kept(name.slice(DRAFT.length)));
    sessionStorage.removeItem(name);
  }
}

/** Returns a kept value. */
export function kept<T>(key: string): T | undefined {
  const text = sessionStorage.getItem(DRAFT + key);
  return text === null ? undefined : (JSON.parse(text) as T);
}

/**
 * Logs out, and forgets all drafts, after `idleMs` without input in a tab that has the token; 0:
 * never. Resolves once that is decided of the time before.
 */
export async function watchIdle(
  idleMs: number,
  logOut: (ended?: string) => unknown,
): Promise<void> {
  if (!(idleMs > 0)) return;
  const activeMs = (): number => Number(sessionStorage.getItem(ACTIVE) ?? Date.now());
  const isIdle = (): boolean => Date.now() - activeMs() >= idleMs;
  let channel: BroadcastChannel | undefined;
  const note = (ms = Date.now()): void => {
    sessionStorage.setItem(ACTIVE, String(ms));
    channel?.postMessage(ms);
  };
  // Only who has the token knows the name. A tab that has been used since answers.
  const follow = (): void => {
    const { token } = session.get();
    const name = ACTIVE + token;
    if (channel?.name === name) return;
    channel?.close();
    channel = token === undefined ? undefined : new BroadcastChannel(name);
    if (channel !== undefined)
      channel.onmessage = ({ data }) => {
        if (data > activeMs()) sessionStorage.setItem(ACTIVE, String(data));
        else if (data < activeMs()) channel?.postMessage(activeMs());
      };
  };
  const look = async (): Promise<void> => {
    if (!isIdle()) return;
    channel?.postMessage(activeMs());
    if (channel !== undefined) await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
    if (isIdle()) logOut(session.get().isOpen ? TEXT.login.idle : undefined);
  };
  session.watch(follow);
  follow();
  await look();
  if (session.get().isOpen) note();
  for (const type of ['pointerdown', 'keydown']) addEventListener(type, () => note());
  setInterval(look, Math.min(LOOK_MS, idleMs));
}
