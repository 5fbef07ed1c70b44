/** A login at an OpenID provider: through the browser of this machine, or of another one. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Server, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { createServer } from '../../base/node-http.js';
import type { Call } from '../cli.js';
import type { OidcToken } from '../client/renewal.js';
import type { Io } from '../io.js';
import { CliError, misused } from '../print/error.js';
import { oneLine } from '../print/text.js';

/** What a login at a provider is about. */
export interface OidcLogin {
  readonly method: string;
  /** Host and port to which the browser comes back. */
  readonly listenOn: string;
  readonly meta: Readonly<Record<string, string>> | undefined;
}

/** An auth method that the server lists for logins by a browser. */
interface BrowserMethod {
  readonly Name: string;
}

/** What the provider sends back. */
interface Returned {
  readonly state: string;
  readonly code: string;
}

/** Where the browser comes back to if no option says another address. */
export const LISTEN_DEFAULT = 'localhost:8550';
const PATH = '/oidc/callback';
/** Milliseconds in which the server waits for the end of a login. */
const LOGIN_MS = 10 * 60_000;
/** Bytes of the secret that only this command knows. */
const NONCE_BYTES = 32;
/** Characters of a provider's words that are shown. */
const SHOWN_MAX = 200;

/** Whether an auth method logs in by a browser. */
export async function isOidc({ api }: Call<object>, method: string): Promise<boolean> {
  const ask = { withToken: false };
  const listed = await api.get('/v1/internal/ui/oidc-auth-methods', ask).catch((error: unknown) => {
    // Another server of this API may not have the list.
    const { code = '' } = error instanceof CliError ? error.details : {};
    if (['unreachable', 'interrupted', 'misused', ''].includes(code)) throw error;
    return undefined;
  });
  const methods = listed?.json<readonly BrowserMethod[]>() ?? [];
  return methods.some(({ Name }) => Name.toLowerCase() === method.toLowerCase());
}

/** Logs in at the provider of an auth method. Returns the token. */
export async function oidcLogin(
  call: Call<object>,
  { method, listenOn, meta }: OidcLogin,
): Promise<OidcToken> {
  const { api } = call;
  const { host, port } = addressOf(listenOn);
  const AuthMethod = method;
  const ClientNonce = randomBytes(NONCE_BYTES).toString('base64url');
  const listener = new Listener();
  await listener.listen(host, port);
  try {
    const RedirectURI = `http://${listenOn}${PATH}`;
    const url = await authUrl(call, { AuthMethod, RedirectURI, ClientNonce, Meta: meta });
    const { state, code } = await returned(call, listener, url);
    const body = { AuthMethod, State: state, Code: code, ClientNonce };
    const ask = { body, withToken: false };
    return (await api.ask('POST', '/v1/acl/oidc/callback', ask)).json<OidcToken>();
  } finally {
    listener.close();
  }
}

async function authUrl(
  { api }: Call<object>,
  body: { readonly RedirectURI: string; readonly [member: string]: unknown },
): Promise<URL> {
  try {
    const ask = { body, withToken: false, isRead: true };
    const answer = await api.ask('POST', '/v1/acl/oidc/auth-url', ask);
    return new URL(answer.json<{ readonly AuthURL: string }>().AuthURL);
  } catch (error) {
    if (!(error instanceof CliError) || !error.message.includes('AllowedRedirectURIs')) throw error;
    throw new CliError(error.message, {
      ...error.details,
      hint:
        `add ${body.RedirectURI} to the AllowedRedirectURIs of the auth method, ` +
        'or use --oidc-callback-listen-addr for one that is there',
    });
  }
}

/** Sends the user to the provider, and waits until it sends them back. */
async function returned(
  { io, print }: Call<object>,
  listener: Listener,
  url: URL,
): Promise<Returned> {
  const state = url.searchParams.get('state') ?? '';
  listener.state = state;
  print.note(`to log in, open this address in a browser:\n\n  ${url.href}\n`);
  openBrowser(io, url);
  const done = new AbortController();
  const signal = AbortSignal.any([done.signal, io.signal]);
  const late = pause(LOGIN_MS, undefined, { signal }).then(() => {
    throw new CliError('nobody has logged in for ten minutes');
  });
  const ways = [listener.returned, late];
  if (io.canAsk) ways.push(pasted({ io, print }, state, signal));
  try {
    return await Promise.race(ways);
  } finally {
    done.abort();
    for (const way of ways) way.catch(() => {});
  }
}

/** Waits until the user pastes the address to which the browser of another machine was sent. */
async function pasted(
  { io, print }: Pick<Call<object>, 'io' | 'print'>,
  state: string,
  signal: AbortSignal,
): Promise<Returned> {
  for (;;) {
    const question = 'or paste the address that the browser shows after the login: ';
    const text = (await io.ask(question, signal)).trim();
    if (text === '') return new Promise(() => {});
    const found = URL.canParse(text) ? returnedIn(new URL(text), state) : undefined;
    if (found !== undefined) return found;
    print.note('that is not the address of this login: it has the parameters code and state');
  }
}

/** Returns what an address brings back; undefined if it is not of this login. */
function returnedIn({ searchParams }: URL, expected: string): Returned | undefined {
  if (searchParams.get('state') !== expected) return undefined;
  const shown = (name: string): string => oneLine(searchParams.get(name) ?? '').slice(0, SHOWN_MAX);
  if (searchParams.has('error')) {
    const why = [shown('error'), shown('error_description')].filter((text) => text !== '');
    throw new CliError(`the provider refuses the login: ${why.join(': ')}`);
  }
  const code = searchParams.get('code');
  return code === null ? undefined : { state: expected, code };
}

const PAGE = (text: string): string =>
  '<!DOCTYPE html><html lang="en"><head><title>Conclave</title></head>' +
  `<body><p>${text}</p></body></html>\n`;

/** Waits for the browser on an address of this machine. */
class Listener {
  readonly #server: Server;
  /** The state of the login; another one is not of this login. */
  state = '';
  readonly returned: Promise<Returned>;

  constructor() {
    let done: (returned: Returned) => void;
    let fail: (error: unknown) => void;
    this.returned = new Promise((resolve, reject) => {
      done = resolve;
      fail = reject;
    });
    this.#server = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      if (url.pathname !== PATH) return answer(response, 404, 'There is nothing here.');
      try {
        const found = returnedIn(url, this.state);
        if (found === undefined)
          return answer(response, 400, 'This is not the login that the command waits for.');
        answer(response, 200, 'You can close this window and go back to the terminal.');
        done(found);
      } catch (error) {
        answer(response, 200, 'The login was refused. The terminal shows the reason.');
        fail(error);
      }
    });
  }

  async listen(host: string, port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
        const why = code === 'EADDRINUSE' ? 'it is in use' : message;
        const hint = 'use --oidc-callback-listen-addr for another address';
        reject(new CliError(`cannot listen on ${host}:${port}: ${why}`, { hint }));
      });
      this.#server.listen(port, host, resolve);
    });
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    this.returned.catch(() => {});
  }
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    Connection: 'close',
  });
  response.end(PAGE(text));
}

/** Reads host and port of `--oidc-callback-listen-addr`. */
function addressOf(text: string): { readonly host: string; readonly port: number } {
  const wanted = `http://${text}`;
  const url = URL.canParse(wanted) ? new URL(wanted) : undefined;
  const isAddress = url !== undefined && /:\d+$/.test(text) && url.pathname === '/';
  if (!isAddress) misused(`--oidc-callback-listen-addr: "${text}" is not host:port`);
  const port = Number(text.slice(text.lastIndexOf(':') + 1));
  return { host: url!.hostname.replace(/^\[|\]$/g, ''), port };
}

/** Opens an address in the user's browser. The address is printed as well, so this may fail. */
export function openBrowser({ env, canAsk }: Io, url: URL): void {
  const [own = ''] = (env['BROWSER'] ?? '').split(':');
  if (own === '' && !canAsk) return;
  const [command, ...args] = own === '' ? (OPENERS[process.platform] ?? ['xdg-open']) : [own];
  const child = spawn(command!, [...args, url.href], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}

/** What opens an address, by platform. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};
