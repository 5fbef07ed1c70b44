/** `login` and `logout`. */
import { rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { TOKENS, type Token } from './acl-objects.js';
import { type Call, type Cli, refusedSecret, several } from './cli.js';
import { readToken } from './environment.js';
import { misused } from './fault.js';
import { readInput, writePrivate } from './files.js';
import { pairsOf } from './links.js';

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
  const login = program.command('login').description('get a token for a JWT, by an auth method');
  login
    .option('--method <name>', 'the auth method')
    .option('--type <type>', 'jwt or kubernetes; kubernetes reads the token of the pod')
    .option('--bearer-token-file <file>', 'file with the JWT, or -')
    .option('--token-sink-file <file>', 'where the token is put, instead of the user’s own file')
    .option('--meta <pair>', 'NAME=VALUE about the login; several times', several);
  refusedSecret(login, '--bearer-token <jwt>', 'name a --bearer-token-file');
  login.action(cli.action<LoginOptions>(logIn));
  program.command('logout').description('destroy the token of a login').action(cli.action(logOut));
}

async function logIn(call: Call<LoginOptions>): Promise<void> {
  const { api, io, options, print, surroundings } = call;
  const { method, type, meta } = options;
  if (method === undefined) misused('--method names the auth method');
  if (type !== undefined && !/^(jwt|kubernetes)$/.test(type))
    misused(`--type: "${type}" is not jwt or kubernetes`);
  const file = options.bearerTokenFile ?? (type === 'kubernetes' ? POD_TOKEN : undefined);
  if (file === undefined) misused('--bearer-token-file names the file with the JWT; - reads it');
  const bearer = (await readInput(io, '--bearer-token-file', file)).trim();
  const body = {
    AuthMethod: method,
    BearerToken: bearer,
    ...(meta !== undefined && { Meta: pairsOf('--meta', meta) }),
  };
  const answer = await api.ask('POST', '/v1/acl/login', { body, withToken: false });
  const token = answer.json<Token>();
  const sink = options.tokenSinkFile ?? surroundings.loginFile;
  await writePrivate(sink, `${token.SecretID}\n`);
  print.note(`the token is in ${sink}`);
  const { type: source } = surroundings.token;
  if (options.tokenSinkFile === undefined && source === 'variable')
    print.note(`${surroundings.token.name} is set, and counts before it`);
  await print.item(TOKENS.hidden!(token), TOKENS.shape);
}

async function logOut({ api, io, print, surroundings }: Call<object>): Promise<void> {
  const { token, loginFile } = surroundings;
  if (readToken(token, io.env) === undefined) misused('there is no token to log out with');
  await api.ask('POST', '/v1/acl/logout');
  const isOwn = token.type === 'file' && token.path === loginFile;
  if (isOwn) await rm(loginFile, { force: true });
  print.note(isOwn ? `logged out; ${loginFile} is gone` : 'logged out');
}
