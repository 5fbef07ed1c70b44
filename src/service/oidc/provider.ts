/** The OpenID provider of an auth method of type oidc: its endpoints, and requests to them. */
import * as oauth from 'oauth4webapi';
import { isObject } from '../../languages/fields.js';
import { parseStrictJson } from '../../languages/json.js';
import { FetchFault, httpUrl, jsonObject, type Outbound, type Reply } from '../login/exchange.js';
import type { OidcConfig } from './config.js';

/** A discovery document (OpenID Connect Discovery 1.0, section 3). */
type Document = Readonly<Record<string, unknown>>;

/** What a provider gives for a code or for a refresh token. */
export interface Granted {
  readonly idToken: string | undefined;
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
}

/** The provider refuses a code or a refresh token. */
export class GrantFault extends Error {}

/** Where a browser is sent to log in. */
export interface Ask {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** The PKCE verifier, of which the provider gets the hash. */
  readonly verifier: string;
  /** Empty: what the provider finds fit. */
  readonly prompt: string;
}

/** Returns why a node cannot use the endpoints of a discovery document; undefined if it can. */
export function endpointProblem(document: Document, issuer: URL): string | undefined {
  for (const name of NEEDED) {
    if (document[name] === undefined) return `the discovery document has no ${name}`;
  }
  for (const name of [...NEEDED, 'userinfo_endpoint', 'end_session_endpoint']) {
    if (document[name] === undefined) continue;
    const url = httpUrl(String(document[name]));
    if (url === undefined) return `the ${name} of the discovery document is not a URL`;
    if (url.protocol !== 'https:' && !isLoopback(issuer)) return `the ${name} is not https`;
  }
  return undefined;
}

const NEEDED = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'];
const isLoopback = ({ hostname }: URL): boolean =>
  /^(127(\.\d+){3}|\[::1\]|(.+\.)?localhost)$/.test(hostname);

/** Statuses of a provider that would answer later. */
const BUSY = [408, 425, 429];
/** Characters of a provider's error code that the log shows. */
const ERROR_SHOWN = 60;

/** The provider of one method. Its requests reject with FetchFault. */
export class Provider {
  readonly #config: OidcConfig;
  readonly #document: Document;
  readonly #send: (what: Parameters<Outbound['exchange']>[0]) => Promise<Reply>;

  constructor(config: OidcConfig, document: Document, outbound: Outbound, namespace: string) {
    this.#config = config;
    this.#document = document;
    const { ca } = config.source;
    this.#send = (what) => outbound.exchange({ ...what, ca }, namespace);
  }

  /** Returns the address at which a user logs in. */
  async authUrl({ redirectUri, state, nonce, verifier, prompt }: Ask): Promise<string> {
    const { clientId, scopes } = this.#config;
    const url = new URL(String(this.#document['authorization_endpoint']));
    const asked = {
      client_id: clientId,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      nonce,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: scopes.join(' '),
      state,
      ...(prompt === '' ? {} : { prompt }),
    };
    for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
    return url.href;
  }

  /** Exchanges a code. Rejects with GrantFault if the provider refuses it. */
  async redeem(code: string, redirectUri: string, verifier: string): Promise<Granted> {
    const parameters = oauth.validateAuthResponse(
      this.#server,
      this.#client,
      new URLSearchParams({ code }),
      oauth.expectNoState,
    );
    const response = await oauth.authorizationCodeGrantRequest(
      this.#server,
      this.#client,
      this.#authentication,
      parameters,
      redirectUri,
      verifier,
      this.#options,
    );
    return granted(response, this.#tokenHost);
  }

  /** Exchanges a refresh token. Rejects with GrantFault if the provider refuses it. */
  async refresh(token: string): Promise<Granted> {
    const response = await oauth.refreshTokenGrantRequest(
      this.#server,
      this.#client,
      this.#authentication,
      token,
      this.#options,
    );
    return granted(response, this.#tokenHost);
  }

  /**
   * Returns what UserInfo tells; undefined if the provider does not have it. Rejects with
   * GrantFault if the provider refuses it.
   */
  async userInfo(accessToken: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    const at = this.#document['userinfo_endpoint'];
    if (at === undefined) return undefined;
    const url = new URL(String(at));
    const headers = { authorization: `Bearer ${accessToken}` };
    const reply = await this.#send({ url, headers });
    return answerOf(reply, url.host, 'sub');
  }

  /** Returns the address at which the session at the provider ends; empty if it has none. */
  logoutUrl(): string {
    const at = this.#document['end_session_endpoint'];
    if (at === undefined) return '';
    const { clientId, postLogoutUri } = this.#config;
    const url = new URL(String(at));
    url.searchParams.set('client_id', clientId);
    if (postLogoutUri !== undefined)
      url.searchParams.set('post_logout_redirect_uri', postLogoutUri);
    return url.href;
  }

  get #tokenHost(): string {
    return new URL(String(this.#document['token_endpoint'])).host;
  }

  get #server(): oauth.AuthorizationServer {
    const { source } = this.#config;
    return { issuer: source.text, token_endpoint: String(this.#document['token_endpoint']) };
  }

  get #client(): oauth.Client {
    return { client_id: this.#config.clientId };
  }

  get #authentication(): oauth.ClientAuth {
    const { clientSecret } = this.#config;
    if (clientSecret === '') return oauth.None();
    const listed = this.#document['token_endpoint_auth_methods_supported'];
    const isPostOnly =
      Array.isArray(listed) &&
      listed.includes('client_secret_post') &&
      !listed.includes('client_secret_basic');
    return isPostOnly
      ? oauth.ClientSecretPost(clientSecret)
      : oauth.ClientSecretBasic(clientSecret);
  }

  get #options(): oauth.TokenEndpointRequestOptions {
    return {
      // The rules of this node decide which addresses may go without TLS.
      [oauth.allowInsecureRequests]: true,
      [oauth.customFetch]: async (url, { body, headers }) => {
        const what = { url: new URL(url), method: 'POST', headers, body: String(body) } as const;
        const { status, text } = await this.#send(what);
        // RFC 6749, sections 5.1 and 5.2. Some other statuses cannot be those of a Response.
        const isAnswer = status === 200 || (status >= 400 && status <= 499);
        if (!isAnswer) throw new FetchFault(`${this.#tokenHost} answers with status ${status}`);
        return new Response(text, { status });
      },
    };
  }
}

/** Reads the answer of a token endpoint (RFC 6749, sections 5.1 and 5.2). */
async function granted(response: Response, host: string): Promise<Granted> {
  const reply = { status: response.status, text: await response.text() };
  const { id_token, access_token, refresh_token, token_type } = answerOf(
    reply,
    host,
    'access_token',
  );
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
  const optional = (value: unknown): string | undefined => (isText(value) ? value : undefined);
  if (!isText(access_token)) throw new FetchFault(`${host} gives no access token`);
  if (String(token_type).toLowerCase() !== 'bearer')
    throw new FetchFault(`${host} gives an access token that is not a bearer token`);
  return {
    idToken: optional(id_token),
    accessToken: access_token,
    refreshToken: optional(refresh_token),
  };
}

/**
 * Returns the members of an answer. Throws GrantFault if the provider refuses what it was asked
 * for: some do so with status 200, and an error in place of the member that is `needed`.
 */
function answerOf(reply: Reply, host: string, needed: string): Readonly<Record<string, unknown>> {
  const { status, text } = reply;
  const code = errorCodeIn(text);
  const isRefused = status >= 400 && status <= 499 && !BUSY.includes(status);
  if (isRefused) throw new GrantFault(`${host} answers ${code ?? `with ${status}`}`);
  const members = jsonObject(reply, host);
  if (code === undefined || members[needed] !== undefined) return members;
  throw new GrantFault(`${host} answers ${code} with ${status}`);
}

/** Returns the error code of an answer; undefined if it has none. Its description may hold more. */
function errorCodeIn(text: string): string | undefined {
  const body = parseStrictJson(text);
  const code = body.ok && isObject(body.value) ? body.value['error'] : undefined;
  return typeof code === 'string' && /^[\w.-]+$/.test(code)
    ? code.slice(0, ERROR_SHOWN)
    : undefined;
}
