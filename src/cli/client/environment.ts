/**
 * Which nodes a command asks, and as whom. In order of precedence: an option, the profile that
 * --profile names, the environment, the current profile.
 */
import { existsSync } from 'node:fs';
import { readNamed } from '../files/files.js';
import type { Io } from '../io.js';
import { misused } from '../print/error.js';
import { loginFile, type Profile, type ProfileSetting, type Profiles } from './profiles.js';
import { VARIABLES } from './variables.js';

/** The options that every command of the client has. */
export interface CommonOptions {
  readonly httpAddr?: string;
  readonly url?: string;
  readonly tokenFile?: string;
  readonly caFile?: string;
  readonly clientCert?: string;
  readonly clientKey?: string;
  readonly tlsServerName?: string;
  readonly namespace?: string;
  readonly profile?: string;
  readonly output?: string;
  readonly format?: string;
  readonly stale?: boolean;
  readonly consistent?: boolean;
  readonly color?: boolean;
  readonly quiet?: boolean;
  readonly debug?: boolean;
  readonly timeout?: string;
  readonly reason?: string;
}

/** Where a token comes from. It is read only when a request is sent. */
export type TokenSource =
  | { readonly type: 'none' }
  | { readonly type: 'variable'; readonly name: string }
  | { readonly type: 'file'; readonly path: string; readonly from: string };

/** Files and names for TLS. */
export interface TlsSettings {
  readonly caFile?: string;
  readonly clientCert?: string;
  readonly clientKey?: string;
  readonly serverName?: string;
  readonly verify: boolean;
}

/** Everything that a command takes from its surroundings. */
export interface Surroundings {
  readonly addresses: readonly URL[];
  readonly token: TokenSource;
  readonly tls: TlsSettings;
  readonly namespace: string | undefined;
  readonly output: string;
  /** The file of `conclave login` for the profile in use. */
  readonly loginFile: string;
  readonly profile: string | undefined;
}

/** The address of a node that was started without settings. */
const ADDRESS_DEFAULT = '127.0.0.1:8500';
const PORT_DEFAULT = '8500';

type Env = Io['env'];

const setVariable = (env: Env, names: readonly string[]): string | undefined =>
  names.find((name) => (env[name] ?? '') !== '');

/** Returns the surroundings of a command. Throws if an option or variable has no valid value. */
export function surroundingsOf(
  options: CommonOptions,
  io: Pick<Io, 'env' | 'home'>,
  { current, profiles }: Profiles,
): Surroundings {
  const { env } = io;
  const named = options.profile ?? variable(env, VARIABLES.profile);
  if (named !== undefined && !Object.hasOwn(profiles, named))
    misused(`there is no profile "${named}"`, 'run conclave profile list to see the profiles');
  const first: Profile = named === undefined ? {} : profiles[named]!;
  const last: Profile =
    named === undefined && current !== undefined ? (profiles[current] ?? {}) : {};
  const profile = named ?? (profiles[current ?? ''] === undefined ? undefined : current);
  const setting = (name: ProfileSetting): string | undefined =>
    options[name] ?? first[name] ?? variable(env, VARIABLES[name]) ?? last[name];
  const tls: Record<string, string | undefined> = {
    caFile: setting('caFile'),
    clientCert: setting('clientCert'),
    clientKey: setting('clientKey'),
    serverName: setting('tlsServerName'),
  };
  return {
    addresses: addressesOf(options.url ?? setting('httpAddr') ?? ADDRESS_DEFAULT, {
      isSecure: isTrue(variable(env, VARIABLES.ssl)),
    }),
    token: tokenOf(options, io, { named, first, last, profile }),
    tls: {
      ...Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined)),
      verify: !isFalse(variable(env, VARIABLES.sslVerify)),
    },
    namespace: setting('namespace'),
    output: options.format ?? setting('output') ?? 'table',
    loginFile: loginFile(io, profile),
    profile,
  };
}

const variable = (env: Env, names: readonly string[]): string | undefined =>
  env[setVariable(env, names) ?? ''];
// Spelled as Consul reads them.
const isTrue = (text: string | undefined): boolean => /^(1|t|true)$/i.test(text ?? '');
const isFalse = (text: string | undefined): boolean => /^(0|f|false)$/i.test(text ?? '');

interface Chosen {
  readonly named: string | undefined;
  readonly first: Profile;
  readonly last: Profile;
  readonly profile: string | undefined;
}

/** A token of a profile that is named comes before those of the environment. */
function tokenOf(
  { tokenFile }: CommonOptions,
  io: Pick<Io, 'env' | 'home'>,
  { named, first, last, profile }: Chosen,
): TokenSource {
  const file = (path: string, from: string): TokenSource => ({ type: 'file', path, from });
  const login = loginFile(io, profile);
  if (tokenFile !== undefined) return file(tokenFile, '--token-file');
  if (first.tokenFile !== undefined) return file(first.tokenFile, `profile ${named}`);
  if (named !== undefined && existsSync(login)) return file(login, `profile ${named}`);
  const [own, ownToken, peers] = VARIABLES.token;
  const [ownFile, peersFile] = VARIABLES.tokenFile;
  for (const name of [own, ownToken, ownFile, peers, peersFile]) {
    const value = io.env[name] ?? '';
    if (value === '') continue;
    return name.endsWith('_FILE') ? file(value, name) : { type: 'variable', name };
  }
  if (last.tokenFile !== undefined) return file(last.tokenFile, `profile ${profile}`);
  return existsSync(login) ? file(login, 'conclave login') : { type: 'none' };
}

/** Reads the token of a source; undefined if there is none. */
export function readToken(source: TokenSource, env: Env): string | undefined {
  if (source.type === 'none') return undefined;
  const text = source.type === 'variable' ? env[source.name]! : readNamed(source.from, source.path);
  const token = text.trim();
  // Without it the request would be that of nobody, which is not what was asked for.
  if (token === '' && source.type === 'file') misused(`${source.from}: ${source.path} is empty`);
  if (/[^!-~]/.test(token))
    misused(
      `${source.type === 'variable' ? source.name : source.path} does not contain a valid token`,
    );
  return token === '' ? undefined : token;
}

/**
 * Returns the URLs of a list of addresses: `host:port`, `:port` or a URL, separated by commas.
 * `option` is the one that has the list.
 */
export function addressesOf(
  text: string,
  { isSecure = false, option = '--http-addr' }: { isSecure?: boolean; option?: string },
): readonly URL[] {
  const parts = text.split(',').map((part) => part.trim());
  const urls = parts.filter((part) => part !== '').map((part) => urlOf(part, isSecure, option));
  return urls.length > 0 ? urls : misused(`${option} contains no address`);
}

function urlOf(part: string, isSecure: boolean, option: string): URL {
  const what = `${option}: "${part}" is not an address`;
  const expected = 'expected host:port, http://host:port or https://host:port';
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(part)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') misused(what, expected);
  const host = part.startsWith(':') ? `127.0.0.1${part}` : part;
  const full = scheme === undefined ? `${isSecure ? 'https' : 'http'}://${host}` : part;
  if (!URL.canParse(full)) misused(what, expected);
  const url = new URL(full);
  if (url.username !== '' || url.password !== '')
    misused(`${option}: an address must not contain a password`, 'use a token');
  if (scheme === undefined && !/:\d+$/.test(part)) url.port = PORT_DEFAULT;
  return url;
}
