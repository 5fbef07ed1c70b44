/** `login` and `logout`: what makes a token from something else. */
import { rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { type Call, type Cli, refusedSecret, several } from '../cli.js';
import { readToken } from '../client/environment.js';
import { dropRenewal, type Identity, keepRenewal, lockLogin } from '../client/renewal.js';
import { readInput, writePrivate } from '../files/files.js';
import { CliError, misused } from '../print/error.js';
import { pairsOf } from './links.js';
import { hidden, type Stored, TYPE } from './objects.js';
import { isOidc, LISTEN_DEFAULT, oidcLogin, openBrowser, webAddress } from './oidc-login.js';

interface LoginOptions {
  readonly method?: string;
  readonly type?: string;
  readonly bearerTokenFile?: string;
  readonly tokenSinkFile?: string;
  readonly meta?: readonly string[];
  readonly oidcCallbackListenAddr?: string;
}

interface LogoutOptions {
  readonly browser?: boolean;
}

/** Where Kubernetes puts the token of a pod's service account. */
const POD_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

export function addLogin(program: Command, cli: Cli): void {
  const login = program
    .command('login')
    .description('log in through an auth method: by a JWT, or in the browser');
  login
    .option('--method <name>', 'the auth method')
    .option('--type <type>', 'jwt, oidc or kubernetes; kubernetes reads the token of the pod')
    .option('--bearer-token-file <file>', 'file with the JWT, or - for standard input')
    .option('--token-sink-file <file>', 'file to write the token to, instead of your login file')
    .option('--meta <pair>', 'NAME=VALUE metadata of the login; repeatable', several)
    .option(
      '--oidc-callback-listen-addr <address>',
      `host:port to which the browser returns (default: ${LISTEN_DEFAULT})`,
    );
  refusedSecret(login, '--bearer-token <jwt>', 'use --bearer-token-file instead');
  login.action(cli.action<LoginOptions>(logIn, { renews: false }));
  program
    .command('logout')
    .description('destroy the token of a login')
    .option('--browser', 'end the session at the OpenID provider too, in the browser')
    .action(cli.action<LogoutOptions>(logOut, { renews: false }));
}

async function logIn(call: Call<LoginOptions>): Promise<void> {
  const { api, io, options } = call;
  const { method, type, meta } = options;
  if (method === undefined) misused('--method is required: it names the auth method');
  if (type !== undefined && !/^(jwt|oidc|kubernetes)$/.test(type))
    misused(`--type: "${type}" is not jwt, oidc or kubernetes`);
  const file = options.bearerTokenFile ?? (type === 'kubernetes' ? POD_TOKEN : undefined);
  const isUnknown = type === undefined && file === undefined;
  if (type === 'oidc' || (isUnknown && (await isOidc(call, method))))
    return logInAtProvider(call, method);
  if (file === undefined)
    misused('--bearer-token-file is required: the file with the JWT, or - for standard input');
  const bearer = (await readInput(io, '--bearer-token-file', file)).trim();
  const body = {
    AuthMethod: method,
    BearerToken: bearer,
    ...(meta !== undefined && { Meta: pairsOf('--meta', meta) }),
  };
  const ask = { body, withToken: false };
  await logInWith(
    call,
    async () => (await api.ask('POST', '/v1/acl/login', ask)).json<Stored>(),
    dropRenewal,
  );
}

/** Logs in at the OpenID provider of a method. */
async function logInAtProvider(call: Call<LoginOptions>, method: string): Promise<void> {
  const { meta, bearerTokenFile, oidcCallbackListenAddr: listenOn = LISTEN_DEFAULT } = call.options;
  if (bearerTokenFile !== undefined)
    misused('--bearer-token-file has no meaning for a method of type oidc');
  const pairs = meta && pairsOf('--meta', meta);
  await logInWith(call, () => oidcLogin(call, { method, listenOn, meta: pairs }), keepRenewal);
}

/** Makes, stores and shows a token. `keep` stores what belongs to it beside the login file. */
async function logInWith<T extends Stored>(
  call: Call<LoginOptions>,
  make: () => Promise<T>,
  keep: (loginFile: string, made: T) => Promise<void>,
): Promise<void> {
  const { io, options, print, surroundings } = call;
  const sink = options.tokenSinkFile ?? surroundings.loginFile;
  const isOwn = sink === surroundings.loginFile;
  const held: { unlock?: (() => void) | undefined } = {};
  const makeAlone = async (): Promise<T> => {
    const token = await make();
    // A command that is renewing the former login would write over this one.
    if (isOwn) held.unlock = await lockLogin(sink, io.signal).catch(() => undefined);
    return token;
  };
  let made: T;
  try {
    made = await tokenInto(sink, makeAlone, (lost) => endLogin(call, lost));
    if (isOwn) await keep(sink, made);
  } finally {
    held.unlock?.();
  }
  const { Renewal: _, ...token } = made;
  print.note(`the token is in ${sink}`);
  if (options.tokenSinkFile === undefined) noteOther(call);
  await print.item(hidden(TYPE.token, token), TYPE.token.shape);
}

/** Warns if commands will send another token than that of the login. */
function noteOther({ options, print, surroundings }: Call<LoginOptions>): void {
  const { loginFile, token } = surroundings;
  if (token.type === 'none' || options.tokenFile !== undefined) return;
  if (token.type === 'variable') print.note(`${token.name} is set and takes precedence over it`);
  else if (token.path !== loginFile)
    print.note(`${token.from} names another token file, which takes precedence over it`);
}

/** Makes a token and writes its SecretID to a file. Calls `lost` if that fails. */
export async function tokenInto<T extends Stored>(
  sink: string,
  make: () => Promise<T>,
  lost: (made: T) => Promise<void>,
): Promise<T> {
  const done: { made?: T } = {};
  try {
    await writePrivate(sink, async () => {
      done.made = await make();
      return `${done.made.SecretID}\n`;
    });
    return done.made!;
  } catch (error) {
    if (done.made !== undefined) await lost(done.made);
    throw error;
  }
}

/** Ends a login whose token could not be kept. */
async function endLogin({ api, print }: Call<object>, made: Stored): Promise<void> {
  if (made.SecretID === undefined) return;
  try {
    await api.ask('POST', '/v1/acl/logout', { token: made.SecretID });
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    print.note(`the token ${made['AccessorID']} of this login is still valid: ${error.message}`);
  }
}

async function logOut(call: Call<LogoutOptions>): Promise<void> {
  const { io, options, print, surroundings } = call;
  const { token, loginFile } = surroundings;
  if (readToken(token, io.env) === undefined) misused('there is no token to log out with');
  const isOwn = token.type === 'file' && token.path === loginFile;
  // A command that is renewing the login would bring it back.
  const unlock = isOwn ? await lockLogin(loginFile, io.signal) : undefined;
  let LogoutURL: string | undefined;
  try {
    LogoutURL = await endToken(call, isOwn);
    if (isOwn) {
      await rm(loginFile, { force: true });
      await dropRenewal(loginFile);
    }
  } finally {
    unlock?.();
  }
  const what = LogoutURL === undefined ? 'the token had already ended' : 'logged out';
  print.note(isOwn ? `${what}; removed ${loginFile}` : what);
  if (!LogoutURL) return;
  const url = webAddress(LogoutURL);
  if (options.browser === true && (await openBrowser(io, url))) return;
  print.note('to end the session at the provider, too, open this address:');
  print.say(url.href);
}

/**
 * Ends the token of a call. Returns where the session at its provider ends, '' if nowhere;
 * undefined if the token had ended and `mayBeGone`.
 */
async function endToken(call: Call<object>, mayBeGone: boolean): Promise<string | undefined> {
  const { api } = call;
  try {
    if (await isOfProvider(call)) {
      const answer = await api.ask('POST', '/v1/acl/oidc/logout');
      return answer.json<{ readonly LogoutURL: string }>().LogoutURL;
    }
    await api.ask('POST', '/v1/acl/logout');
    return '';
  } catch (error) {
    if (mayBeGone && error instanceof CliError && error.details.code === 'acl_not_found')
      return undefined;
    throw error;
  }
}

/** Whether the token of a call is of a login at an OpenID provider. */
async function isOfProvider(call: Call<object>): Promise<boolean> {
  const query = { expanded: 'true' };
  const self = (await call.api.get('/v1/acl/token/self', { query })).json<Stored>();
  const identity = self['Identity'] as Identity | undefined;
  return identity !== undefined && isOidc(call, identity.AuthMethod, identity.Namespace);
}
