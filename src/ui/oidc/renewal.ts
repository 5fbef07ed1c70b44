/** Keeps the session of an OIDC login from ending while its page is open, or tells of the end. */
import { asProblem } from '../api/problem.js';
import type { Stored } from '../api/types.js';
import { type OidcLogin, openSession, session, successorOf } from '../session.js';
import { type Store, store } from '../store.js';
import { type Handed, handOver, hear } from './channel.js';
import { endToken, logInBeside, renew } from './login.js';

/** The part of a token's life after which it is renewed. */
const RENEWED_AT = 4 / 5;
const MINUTE_MS = 60_000;
/** Milliseconds before the end from which on the user is told of it. */
const WARNED_MS = 5 * MINUTE_MS;
/** Milliseconds between two looks. A timer for the moment itself would stand still in a sleep. */
const LOOK_MS = 5000;

/** The minutes that the session still lasts; undefined while there is no need to tell. */
export const minutesLeft: Store<number | undefined> = store<number | undefined>(undefined);

/** The token that is being renewed. */
let renewing: string | undefined;
/** The token whose renewal has failed; it is tried again. */
let failed: string | undefined;

/** Renews the session in time, or has the user told of its end. */
export function watchLogin(): void {
  let heard: string | undefined;
  let deafen = (): void => {};
  const follow = (): void => {
    const channel = session.get().login?.channel;
    if (channel !== heard) {
      deafen();
      deafen = channel === undefined ? () => {} : hear(channel, takeOfTab);
      heard = channel;
    }
    look();
  };
  session.watch(follow);
  follow();
  document.addEventListener('visibilitychange', look);
  setInterval(look, LOOK_MS);
}

function look(): void {
  const { token, login } = session.get();
  if (token !== undefined && login !== undefined) minutesLeft.set(minutesOf(token, login));
  else minutesLeft.set(ending && ending.token === token ? minutesTold(ending) : undefined);
}

/** The end of a token, by the clock of the browser. */
interface Ending {
  readonly endMs: number;
  readonly lifeMs: number;
}

/** The end of a token that nothing renews, such as that of a login by a JWT. */
let ending: (Ending & { readonly token: string | undefined }) | undefined;

/** Notes when the token of the session ends, if it does. `now` is the time of the server. */
export function noteEnd({ CreateTime, ExpirationTime }: Stored, now: string | null): void {
  const [since, end] = [CreateTime, ExpirationTime].map((time) => Date.parse(String(time)));
  const leftMs = end! - (now === null ? Date.now() : Date.parse(now));
  ending = Number.isNaN(leftMs)
    ? undefined
    : { token: session.get().token, endMs: Date.now() + leftMs, lifeMs: end! - since! };
  look();
}

/** Returns the minutes left if the user is to be told, whom nothing keeps logged in. */
function minutesTold({ endMs, lifeMs }: Ending): number | undefined {
  const leftMs = endMs - Date.now();
  const isNear = leftMs <= Math.min(WARNED_MS, lifeMs * (1 - RENEWED_AT));
  return isNear ? Math.max(1, Math.ceil(leftMs / MINUTE_MS)) : undefined;
}

/** Renews a token if it is time to. Returns the minutes left if the user is to be told. */
function minutesOf(token: string, login: OidcLogin): number | undefined {
  const { renewal, sinceMs, lifeMs } = login;
  if (lifeMs === undefined) return undefined;
  const leftMs = sinceMs + lifeMs - Date.now();
  const renewMs = lifeMs * (1 - RENEWED_AT);
  if (renewal !== undefined && leftMs <= renewMs) void keepOn(token, login);
  const isTold = renewal === undefined || failed === token;
  return isTold ? minutesTold({ endMs: sinceMs + lifeMs, lifeMs }) : undefined;
}

/** Renews a token that is still the session's. */
async function keepOn(token: string, login: OidcLogin): Promise<void> {
  if (renewing === token) return;
  renewing = token;
  await alone(login.channel, async () => {
    if (session.get().token !== token) return;
    try {
      const made = await renew(token, login);
      if (!takeOfTab(made)) await endToken(made.token);
      else void handOver(login.channel, made);
    } catch (error) {
      const { status } = asProblem(error);
      if (status === 403 || status === 400) await giveUp(token);
      else failed = token;
    }
  });
  renewing = undefined;
  look();
}

/** Runs while no other tab with this name does. Without TLS browsers have no locks. */
async function alone(name: string, run: () => Promise<void>): Promise<void> {
  const { locks } = navigator as Partial<Navigator>;
  await (locks === undefined ? run() : locks.request(name, run));
}

/** Goes on without the renewal, which the server refuses, unless another tab has used it. */
async function giveUp(token: string): Promise<void> {
  await successorOf(token);
  const own = session.get();
  if (own.token !== token || own.login === undefined) return;
  const { renewal: _refused, ...login } = own.login;
  openSession(token, { login, ...(own.former && { former: own.former }) });
}

/** Goes on with the token that has replaced that of this tab. */
function takeOfTab({ token, login, former }: Handed): boolean {
  if (former === undefined || session.get().token !== former) return false;
  openSession(token, { login, former });
  return true;
}

/** Ends the wait for the last window. */
let stopWaiting = (): void => {};

/**
 * Lets the user log in again in a window of its own. The page goes on with the new token, unless it
 * is of another user, and ends the old one. Throws `Problem`.
 */
export async function stayLoggedIn(): Promise<void> {
  const { login } = session.get();
  if (login === undefined) return;
  const nonce = await logInBeside(login);
  stopWaiting();
  stopWaiting = hear(nonce, ({ token, login: next }) => {
    const { token: former, login: present } = session.get();
    if (former === undefined || present?.subject !== next.subject) return false;
    const { channel } = present;
    const made = { token, former, login: { ...next, channel } };
    takeOfTab(made);
    void handOver(channel, made);
    void endToken(former);
    return true;
  });
}
