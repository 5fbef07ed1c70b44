/**
 * Renews the token of `conclave login` silently before it expires. What that takes is in a file
 * beside the token's; a lock keeps concurrent commands from renewing it twice.
 */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { writePrivate } from '../files/files.js';
import { CliError } from '../print/error.js';
import type { TokenSource } from './environment.js';
import type { Api } from './http.js';

/** Who is behind the token of a login. */
export interface Identity {
  readonly AuthMethod: string;
  /** Of the auth method. */
  readonly Namespace: string;
}

/** The token of an OIDC login, as the server answers it. */
export interface OidcToken {
  readonly [member: string]: unknown;
  readonly AccessorID: string;
  readonly SecretID: string;
  readonly CreateTime: string;
  readonly ExpirationTime?: string;
  readonly Identity: Identity;
  readonly Renewal?: string;
}

/** What is stored of an OIDC login beside its token. Its times are by the clock of this machine. */
interface Kept extends Identity {
  readonly CreateTime: string;
  readonly ExpirationTime?: string | undefined;
  readonly Renewal: string;
  /** Unix time in milliseconds at which a renewal failed. */
  readonly failedMs?: number;
}

/** The fraction of a token's life that is left when it is renewed. */
const LEFT = 0.2;
/** Errors after which another renewal is pointless. */
const REFUSED = ['permission_denied', 'acl_not_found', 'invalid'];
/** Milliseconds before a failed renewal is retried. */
const AGAIN_MS = 60_000;
/** Milliseconds between two attempts to take a lock. */
const LOOK_MS = 50;
/** Milliseconds after which a lock is stale. */
const LOCK_MS = 60_000;

/** Returns the renewal file that belongs to the file of a token. */
const renewalFile = (loginFile: string): string => `${loginFile}.renewal`;

/** Stores what is needed to renew a token; nothing if it cannot be renewed. */
export async function keepRenewal(
  loginFile: string,
  { CreateTime, ExpirationTime, Identity: of, Renewal }: OidcToken,
): Promise<void> {
  if (Renewal === undefined) return dropRenewal(loginFile);
  const { AuthMethod, Namespace } = of;
  const now = Date.now();
  const lifeMs = ExpirationTime && Date.parse(ExpirationTime) - Date.parse(CreateTime);
  await write(loginFile, {
    AuthMethod,
    Namespace,
    CreateTime: new Date(now).toISOString(),
    ...(lifeMs && { ExpirationTime: new Date(now + lifeMs).toISOString() }),
    Renewal,
  });
}

const write = (loginFile: string, kept: Kept): Promise<void> =>
  writePrivate(renewalFile(loginFile), `${JSON.stringify(kept)}\n`);

/** Removes the renewal file of a login. */
export const dropRenewal = (loginFile: string): Promise<void> =>
  rm(renewalFile(loginFile), { force: true });

/** What a command renews its token with. */
export interface RenewalParts {
  readonly api: Api;
  readonly loginFile: string;
  readonly source: TokenSource;
  readonly signal: AbortSignal;
  /** Reports what was done, for debugging. */
  readonly tell: (text: string) => void;
}

/**
 * Renews the token of the login file if it expires soon. A refused renewal is forgotten, and a
 * failed one is retried later; the command goes on with the current token.
 */
export async function renewIfDue(parts: RenewalParts): Promise<void> {
  const { loginFile, signal, source } = parts;
  if (source.type !== 'file' || source.path !== loginFile || !isDue(keptIn(loginFile))) return;
  const unlock = await lockLogin(loginFile, signal);
  if (unlock === undefined) return;
  try {
    // Another command may have renewed it meanwhile.
    const kept = keptIn(loginFile);
    if (isDue(kept)) await renew(parts, kept);
  } finally {
    unlock();
  }
}

function keptIn(loginFile: string): Kept | undefined {
  try {
    return JSON.parse(readFileSync(renewalFile(loginFile), 'utf8')) as Kept;
  } catch {
    return undefined;
  }
}

function isDue(kept: Kept | undefined): kept is Kept {
  if (kept?.ExpirationTime === undefined) return false;
  const now = Date.now();
  const end = Date.parse(kept.ExpirationTime);
  const left = end - now;
  const isSoon = left > 0 && left < LEFT * (end - Date.parse(kept.CreateTime));
  return isSoon && !(now - (kept.failedMs ?? 0) < AGAIN_MS);
}

async function renew({ api, loginFile, tell }: RenewalParts, kept: Kept): Promise<void> {
  const { AuthMethod, Namespace, Renewal } = kept;
  const body = { AuthMethod, Namespace, Renewal };
  let made: OidcToken | undefined;
  try {
    const token = readFileSync(loginFile, 'utf8').trim();
    const ask = { body, token, isPlain: true, isOnce: true };
    // The old token ends with the renewal, so the file of the new one is made before.
    await writePrivate(loginFile, async () => {
      made = (await api.ask('POST', '/v1/acl/oidc/renew', ask)).json<OidcToken>();
      return `${made.SecretID}\n`;
    });
    await keepRenewal(loginFile, made!);
    tell(`renewed the login: the token is now ${made!.AccessorID}`);
  } catch (error) {
    if (made !== undefined || !(error instanceof CliError)) throw error;
    tell(`the login was not renewed: ${error.message}`);
    // A command that took the lock over may have renewed it.
    if (keptIn(loginFile)?.Renewal !== Renewal) return;
    if (REFUSED.includes(error.details.code ?? '')) await dropRenewal(loginFile);
    else await write(loginFile, { ...kept, failedMs: Date.now() });
  }
}

/**
 * Takes the lock of a login file, after whoever has it: no other command renews the login until it
 * is given back. Returns what gives it back; undefined if it cannot be taken.
 */
export async function lockLogin(
  loginFile: string,
  signal: AbortSignal,
): Promise<(() => void) | undefined> {
  const path = `${loginFile}.lock`;
  const untilMs = Date.now() + LOCK_MS;
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 });
      return () => void isRemoved(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        // On a full disk there is a file without a number, which would hold up the next command.
        isRemoved(path);
        return undefined;
      }
    }
    if (isLeft(path) ? !isRemoved(path) : Date.now() > untilMs) return undefined;
    await pause(LOOK_MS, undefined, { signal });
  }
}

/** Removes a lock. Returns whether it is gone. */
function isRemoved(path: string): boolean {
  try {
    rmSync(path, { force: true });
    return true;
  } catch {
    return false;
  }
}

/** Whether the process that took a lock has ended, or takes too long. */
function isLeft(path: string): boolean {
  try {
    if (Date.now() - statSync(path).mtimeMs > LOCK_MS) return true;
    const pid = Number(readFileSync(path, 'utf8'));
    // It may not have written its number yet.
    if (!(pid > 0)) return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
