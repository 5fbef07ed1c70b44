/** `login` and `logout`. */
import { rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { type Call, type Cli, refusedSecret, several } from '../cli.js';
import { readToken } from '../client/environment.js';
import { readInput, writePrivate } from '../files/files.js';
import { CliError, misused } from '../print/error.js';
import { pairsOf } from './links.js';
import { hidden, type Stored, TOKENS } from './objects.js';

interface LoginOptions {
  readonly method?: string;
  readonly type?: string;
  readonly bearerTokenFile?: string;
  readonly tokenSinkFile?: string;
  readonly meta?: readonly string[];
}

/** Where Kubernetes puts the token of a pod's service account. */
const POD_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** Adds `login` and `logout`. */
export function addLogin(program: Command, cli: Cli): void {
  const login = program
    .command('login')
    .description('log in through an auth method: exchange a JWT for a token');
  login
    .option('--method <name>', 'the auth method')
    .option('--type <type>', 'jwt or kubernetes; kubernetes reads the token of the pod')
    .option('--bearer-token-file <file>', 'file with the JWT, or - for standard input')
    .option('--token-sink-file <file>', 'file to write the token to, instead of your login file')
    .option('--meta <pair>', 'NAME=VALUE metadata of the login; repeatable', several);
  refusedSecret(login, '--bearer-token <jwt>', 'use --bearer-token-file instead');
  login.action(cli.action<LoginOptions>(logIn));
  program.command('logout').description('destroy the token of a login').action(cli.action(logOut));
}

async function logIn(call: Call<LoginOptions>): Promise<void> {
  const { io, options, print, surroundings } = call;
  const { method, type, meta } = options;
  if (method === undefined) misused('--method is required: it names the auth method');
  if (type !== undefined && !/^(jwt|kubernetes)$/.test(type))
    misused(`--type: "${type}" is not jwt or kubernetes`);
  const file = options.bearerTokenFile ?? (type === 'kubernetes' ? POD_TOKEN : undefined);
  if (file === undefined)
    misused('--bearer-token-file is required: the file with the JWT, or - for standard input');
  const bearer = (await readInput(io, '--bearer-token-file', file)).trim();
  const body = {
    AuthMethod: method,
    BearerToken: bearer,
    ...(meta !== undefined && { Meta: pairsOf('--meta', meta) }),
  };
  const sink = options.tokenSinkFile ?? surroundings.loginFile;
  const token = await tokenInto(call, sink, body);
  print.note(`the token is in ${sink}`);
  const { type: source } = surroundings.token;
  if (options.tokenSinkFile === undefined && source === 'variable')
    print.note(`${surroundings.token.name} is set and takes precedence over it`);
  await print.item(hidden(TOKENS, token), TOKENS.shape);
}

/** Logs in, and writes the SecretID to a file. Logs out again if that fails. */
async function tokenInto(
  { api, print }: Call<object>,
  sink: string,
  body: object,
): Promise<Stored> {
  const done: { made?: Stored } = {};
  try {
    await writePrivate(sink, async () => {
      const answer = await api.ask('POST', '/v1/acl/login', { body, withToken: false });
      done.made = answer.json<Stored>();
      return `${done.made.SecretID}\n`;
    });
    return done.made!;
  } catch (error) {
    const { made } = done;
    if (made?.SecretID === undefined) throw error;
    try {
      await api.ask('POST', '/v1/acl/logout', { token: made.SecretID });
    } catch (second) {
      if (!(second instanceof CliError)) throw second;
      print.note(`the token ${made['AccessorID']} of this login is still valid: ${second.message}`);
    }
    throw error;
  }
}

async function logOut({ api, io, print, surroundings }: Call<object>): Promise<void> {
  const { token, loginFile } = surroundings;
  if (readToken(token, io.env) === undefined) misused('there is no token to log out with');
  await api.ask('POST', '/v1/acl/logout');
  const isOwn = token.type === 'file' && token.path === loginFile;
  if (isOwn) await rm(loginFile, { force: true });
  print.note(isOwn ? `logged out; removed ${loginFile}` : 'logged out');
}
