/** A login at an OpenID provider: through the browser of this machine, or of another one. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { delimiter } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isAddress, parseAddress } from '../../base/address.js';
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

interface Returned {
  readonly state: string;
  readonly code: string;
}

/** The address to which the browser returns by default. */
export const LISTEN_DEFAULT = 'localhost:8550';
const PATH = '/oidc/callback';
/** Milliseconds for which the server waits for a login to finish. */
const LOGIN_MS = 10 * 60_000;
/** Bytes of the secret that only this command knows. */
const NONCE_BYTES = 32;
/** The most characters of a provider's message that are shown. */
const SHOWN_MAX = 200;

/** Whether logins by an auth method go through a browser. `ns` defaults to that of the call. */
export async function isOidc({ api }: Call<object>, method: string, ns?: string): Promise<boolean> {
  try {
    const ask = { withToken: false, query: { ns } };
    const listed = await api.get('/v1/internal/ui/oidc-auth-methods', ask);
    const methods = listed.json<readonly BrowserMethod[]>();
    return methods.some(({ Name }) => Name.toLowerCase() === method.toLowerCase());
  } catch (error) {
    // Another server of this API does not have the list.
    if (error instanceof CliError && error.details.code === 'no_endpoint') return false;
    throw error;
  }
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
  const { fault } = listener;
  if (fault !== undefined && !call.io.canAsk) throw fault;
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
    return webAddress(answer.json<{ readonly AuthURL: string }>().AuthURL);
  } catch (error) {
    if (!(error instanceof CliError) || error.details.problem?.['pointer'] !== '/RedirectURI')
      throw error;
    throw new CliError(error.message, {
      ...error.details,
      hint:
        `add ${body.RedirectURI} to the AllowedRedirectURIs of the auth method, ` +
        'or choose one of them with --oidc-callback-listen-addr',
    });
  }
}

/** Returns a web address. Throws for any other: what a browser opens may be a program. */
export function webAddress(text: string): URL {
  if (/^https?:/i.test(text) && URL.canParse(text)) return new URL(text);
  throw new CliError(
    `the server sent an address that is not an http or https URL: ${oneLine(text)}`,
  );
}

/** Sends the user to the provider, and waits until it sends them back. */
async function returned(
  { io, options, timeoutMs }: Call<object>,
  listener: Listener,
  url: URL,
): Promise<Returned> {
  const state = url.searchParams.get('state') ?? '';
  listener.state = state;
  // Not a note: --quiet must not hide what the user has to do.
  io.err.write(`To log in, open this address in a browser:\n\n  ${url.href}\n\n`);
  if ((io.env['BROWSER'] ?? '') !== '' || io.canAsk) void openBrowser(io, url);
  const done = new AbortController();
  const signal = AbortSignal.any([done.signal, io.signal]);
  const waitMs = options.timeout === undefined ? LOGIN_MS : Math.min(timeoutMs, LOGIN_MS);
  const late = pause(waitMs, undefined, { signal }).then(() => {
    throw new CliError(`nobody logged in within ${waitMs / 1000} s`);
  });
  const ways = [listener.returned, late];
  if (io.canAsk) ways.push(pasted(io, { state, signal, fault: listener.fault }));
  try {
    return await Promise.race(ways);
  } finally {
    done.abort();
    for (const way of ways) way.catch(() => {});
  }
}

/**
 * Waits until the user pastes the address to which the browser of another machine was sent.
 * `fault`: why the browser of this machine cannot come back either.
 */
async function pasted(
  io: Io,
  {
    state,
    signal,
    fault,
  }: {
    readonly state: string;
    readonly signal: AbortSignal;
    readonly fault: CliError | undefined;
  },
): Promise<Returned> {
  const tell = (text: string): void => io.err.write(`conclave: ${text}\n`);
  if (fault !== undefined) tell(`${fault.message}, so the browser cannot come back by itself`);
  const where = fault === undefined ? 'If the browser is on another machine, paste' : 'Paste';
  const question = `${where} the address it ends up at:\n`;
  for await (const line of io.lines(question, signal)) {
    const text = line.trim();
    if (text === '') continue;
    const found = URL.canParse(text) ? returnedIn(new URL(text), state) : undefined;
    if (found !== undefined) return found;
    tell('that is not the address this login returns to, which contains code and state');
  }
  if (!signal.aborted) {
    if (fault !== undefined) throw fault;
    tell('the input has ended; still waiting for the browser');
  }
  return new Promise(() => {});
}

/** Returns the result that an address carries; undefined if it is not of this login. */
function returnedIn({ searchParams }: URL, expected: string): Returned | undefined {
  if (searchParams.get('state') !== expected) return undefined;
  const shown = (name: string): string => oneLine(searchParams.get(name) ?? '').slice(0, SHOWN_MAX);
  if (searchParams.has('error')) {
    const why = [shown('error'), shown('error_description')].filter((text) => text !== '');
    throw new CliError(`the provider refused the login: ${why.join(': ')}`);
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
  /** The state of the login; another one is not of this login. '': there is none yet. */
  state = '';
  /** Why it does not listen. */
  fault: CliError | undefined;
  readonly returned: Promise<Returned>;

  constructor() {
    let done: (returned: Returned) => void;
    let fail: (error: unknown) => void;
    this.returned = new Promise((resolve, reject) => {
      done = resolve;
      fail = reject;
    });
    this.#server = createServer((request, response) => {
      const text = `http://localhost${request.url}`;
      const url = URL.canParse(text) ? new URL(text) : undefined;
      if (request.method !== 'GET' || url?.pathname !== PATH || this.state === '')
        return answer(response, 404, 'There is nothing here.');
      try {
        const found = returnedIn(url, this.state);
        if (found === undefined)
          return answer(response, 400, 'This is not the login that the command is waiting for.');
        answer(response, 200, 'You can close this window and go back to the terminal.');
        done(found);
      } catch (error) {
        answer(response, 200, 'The login was refused. The terminal shows the reason.');
        fail(error);
      }
    });
  }

  async listen(host: string, port: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
        const why = code === 'EADDRINUSE' ? 'it is in use' : message;
        const hint = 'use --oidc-callback-listen-addr for another address';
        this.fault = new CliError(`cannot listen on ${host}:${port}: ${why}`, { hint });
        resolve();
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
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    Connection: 'close',
  });
  response.end(PAGE(text));
}

/** Reads host and port of `--oidc-callback-listen-addr`. */
function addressOf(text: string): { readonly host: string; readonly port: number } {
  const address = isAddress(text) ? parseAddress(text) : undefined;
  if (address !== undefined && address.port > 0) return address;
  return misused(`--oidc-callback-listen-addr: "${text}" is not host:port`);
}

/** Opens an address in the user's browser. Returns whether there is a program that does. */
export async function openBrowser({ env }: Io, { href }: URL): Promise<boolean> {
  const [own = ''] = (env['BROWSER'] ?? '').split(delimiter);
  const [command, ...args] = own === '' ? (OPENERS[process.platform] ?? ['xdg-open']) : [own];
  const child = spawn(command!, [...args, href], { stdio: 'ignore', detached: true });
  child.unref();
  try {
    await once(child, 'spawn');
    return true;
  } catch {
    return false;
  }
}

/** What opens an address, by platform. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};
