/** The token of this tab, and the texts that were typed in it. Nothing of it outlives the tab. */
import { type Store, store } from './store.js';

const TOKEN = 'conclave.token';
const ANONYMOUS = 'conclave.anonymous';
/** Begins the keys of drafts. */
const DRAFT = 'conclave.draft.';

/** Who uses this tab. */
export interface Session {
  /** The SecretID; undefined for a user without a token. */
  readonly token: string | undefined;
  /** Whether the user has said who they are. */
  readonly isOpen: boolean;
  /** Why the user must log in again, if they must. */
  readonly ended?: string;
}

function initial(): Session {
  const token = sessionStorage.getItem(TOKEN) ?? undefined;
  return { token, isOpen: token !== undefined || sessionStorage.getItem(ANONYMOUS) !== null };
}

/** The session of this tab. */
export const session: Store<Session> = store(initial());

/** Goes on with a token, or without one. */
export function openSession(token: string | undefined): void {
  if (token === undefined) sessionStorage.setItem(ANONYMOUS, '1');
  else sessionStorage.setItem(TOKEN, token);
  session.set({ token, isOpen: true });
}

/** Forgets the token. Drafts stay: the user may log in again. */
export function endSession(ended?: string): void {
  sessionStorage.removeItem(TOKEN);
  sessionStorage.removeItem(ANONYMOUS);
  session.set({ token: undefined, isOpen: false, ...(ended !== undefined && { ended }) });
}

/** Forgets the token and all drafts: the user has logged out. */
export function logOut(): void {
  for (const name of Object.keys(sessionStorage))
    if (name.startsWith(DRAFT)) sessionStorage.removeItem(name);
  endSession();
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
