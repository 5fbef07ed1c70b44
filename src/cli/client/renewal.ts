/**
 * Renews the token of `conclave login` before it ends, without a word. What that takes is in a file
 * beside the token's; a lock lets several commands at once renew it once.
 */
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { writePrivate } from '../files/files.js';
import { CliError } from '../print/error.js';
import type { TokenSource } from './environment.js';
import type { Api } from './http.js';

/** The token of an OIDC login, as the server answers it. */
export interface OidcToken {
  readonly [member: string]: unknown;
  readonly AccessorID: string;
  readonly SecretID: string;
  readonly CreateTime: string;
  readonly ExpirationTime?: string;
  readonly Renewal?: string;
}

/** What is kept of an OIDC login beside its token. */
interface Kept {
  readonly AuthMethod: string;
  readonly Namespace?: string;
  readonly CreateTime: string;
  readonly ExpirationTime?: string;
  readonly Renewal?: string;
}

/** The part of a token's life that is left when it is renewed. */
const LEFT = 0.2;
/** Errors after which a renewal is of no use. */
const REFUSED = ['permission_denied', 'acl_not_found', 'invalid'];
/** Milliseconds between two looks at a lock, and after which one is given up. */
const LOOK_MS = 50;
const LOCK_MS = 60_000;

/** Returns the file of what is kept beside the file of a token. */
const renewalFile = (loginFile: string): string => `${loginFile}.renewal`;

/** Whether the token of a file comes from an OIDC login. */
export const isOidcLogin = (loginFile: string): boolean => existsSync(renewalFile(loginFile));

/** Keeps what renewing a token takes. */
export async function keepRenewal(
  loginFile: string,
  of: Pick<Kept, 'AuthMethod' | 'Namespace'>,
  { CreateTime, ExpirationTime, Renewal }: OidcToken,
): Promise<void> {
  const { AuthMethod, Namespace } = of;
  const kept = { AuthMethod, Namespace, CreateTime, ExpirationTime, Renewal };
  await writePrivate(renewalFile(loginFile), `${JSON.stringify(kept)}\n`);
}

/** Forgets what is kept of the login of a file. */
export const dropRenewal = (loginFile: string): Promise<void> =>
  rm(renewalFile(loginFile), { force: true });

/** What a command renews its token with. */
export interface RenewalParts {
  readonly api: Api;
  readonly loginFile: string;
  readonly source: TokenSource;
  /** Tells what was done, for whoever debugs. */
  readonly tell: (text: string) => void;
}

/**
 * Renews the token of the login file if little of its life is left. A refused renewal is forgotten;
 * the command goes on with the token that there is.
 */
export async function renewIfDue(parts: RenewalParts): Promise<void> {
  const { loginFile, source } = parts;
  if (source.type !== 'file' || source.path !== loginFile || !isDue(keptIn(loginFile))) return;
  const unlock = await lock(`${loginFile}.lock`);
  if (unlock === undefined) return;
  try {
    // Another command may have renewed it meanwhile.
    const kept = keptIn(loginFile);
    if (isDue(kept)) await renew(parts, kept!);
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

function isDue(kept: Kept | undefined): boolean {
  if (kept?.Renewal === undefined || kept.ExpirationTime === undefined) return false;
  const end = Date.parse(kept.ExpirationTime);
  const left = end - Date.now();
  return left > 0 && left < LEFT * (end - Date.parse(kept.CreateTime));
}

async function renew({ api, loginFile, tell }: RenewalParts, kept: Kept): Promise<void> {
  const { AuthMethod, Namespace, Renewal } = kept;
  try {
    const token = readFileSync(loginFile, 'utf8').trim();
    const body = { AuthMethod, Namespace, Renewal };
    const ask = { body, token, isPlain: true, isOnce: true };
    const made = (await api.ask('POST', '/v1/acl/oidc/renew', ask)).json<OidcToken>();
    await writePrivate(loginFile, `${made.SecretID}\n`);
    await keepRenewal(loginFile, kept, made);
    tell(`renewed the login: the token is now ${made.AccessorID}`);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    if (REFUSED.includes(error.details.code ?? '')) await dropRenewal(loginFile);
    tell(`the login was not renewed: ${error.message}`);
  }
}

/**
 * Takes a lock, after whoever has it. Returns what gives it back; undefined if it is not to be had.
 */
async function lock(path: string): Promise<(() => void) | undefined> {
  const untilMs = Date.now() + LOCK_MS;
  for (;;) {
    try {
      const file = openSync(path, 'wx', 0o600);
      writeSync(file, String(process.pid));
      closeSync(file);
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return undefined;
    }
    if (isLeft(path)) rmSync(path, { force: true });
    else if (Date.now() > untilMs) return undefined;
    else await pause(LOOK_MS);
  }
}

/** Whether the process that took a lock has ended, or takes too long. */
function isLeft(path: string): boolean {
  try {
    const { mtimeMs } = statSync(path);
    const pid = Number(readFileSync(path, 'utf8'));
    if (Date.now() - mtimeMs > LOCK_MS) return true;
    // It may not have written its number yet.
    if (!(pid > 0)) return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
