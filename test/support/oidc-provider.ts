/** A real OpenID provider on loopback, for tests: accounts, keys and clock are the test's. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type CryptoKey, decodeJwt, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import {
  type Adapter,
  type AdapterPayload,
  type Configuration,
  interactionPolicy,
  type KoaContextWithOIDC,
  Provider,
} from 'oidc-provider';
import { Browser } from './oidc-browser.js';

/** What a provider is started with. */
export interface ProviderOptions {
  readonly clientId?: string;
  /** How the client proves itself; `none` is a public client. Default: `client_secret_basic`. */
  readonly clientAuth?: 'client_secret_basic' | 'client_secret_post' | 'none';
  readonly redirectUris?: readonly string[];
  readonly postLogoutRedirectUris?: readonly string[];
  /** Whether email, groups and name are in UserInfo alone, and not in the ID token. */
  readonly userInfoOnly?: boolean;
  /** Whether an answer to a refresh token has a new ID token. Default: true. */
  readonly idTokenOnRefresh?: boolean;
}

interface TokenAnswer {
  readonly access_token?: string;
  readonly refresh_token?: string;
  id_token?: string;
}

/** The secret of the client: it has characters that client_secret_basic must encode. */
export const CLIENT_SECRET = 'a secret: 100 %+/&= of it';
const DAY = 86_400;
const SIGN_IN = `<!DOCTYPE html><html lang="en"><head><title>Sign in</title></head><body>
<form method="post"><label>Account <input name="account" autofocus></label>
<button>Sign in</button> <button name="cancel" value="yes">Cancel</button></form></body></html>`;

/** What the provider remembers: codes, grants, sessions. It outlives a change of keys. */
class Memory implements Adapter {
  readonly #name: string;
  readonly #all: Map<string, AdapterPayload>;

  constructor(name: string, all: Map<string, AdapterPayload>) {
    this.#name = name;
    this.#all = all;
  }

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    this.#all.set(`${this.#name}/${id}`, payload);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return this.#all.get(`${this.#name}/${id}`);
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    for (const [key, payload] of this.#all)
      if (key.startsWith(`${this.#name}/`) && payload.uid === uid) return payload;
    return undefined;
  }

  async findByUserCode(): Promise<undefined> {}

  async consume(id: string): Promise<void> {
    this.#all.get(`${this.#name}/${id}`)!.consumed = Math.floor(Date.now() / 1000);
  }

  async destroy(id: string): Promise<void> {
    this.#all.delete(`${this.#name}/${id}`);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [key, payload] of this.#all) if (payload.grantId === grantId) this.#all.delete(key);
  }
}

/** A running provider with one client. */
export class OidcProvider {
  readonly clientId: string;
  readonly issuer: string;
  /** How many requests came so far, by path. */
  readonly requests = new Map<string, number>();
  /** The tokens that the token endpoint has given so far. */
  readonly issued: string[] = [];
  readonly #options: ProviderOptions;
  readonly #server: Server;
  readonly #port: number;
  readonly #redirectUris: string[];
  readonly #accounts = new Map<string, object>();
  readonly #memory = new Map<string, AdapterPayload>();
  #provider!: Provider;
  #key!: JWK;
  #privateKey!: CryptoKey;
  #skewMs = 0;

  constructor(server: Server, options: ProviderOptions) {
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
    this.#options = options;
    this.#redirectUris = [...(options.redirectUris ?? [])];
    this.clientId = options.clientId ?? 'conclave';
    this.issuer = `http://127.0.0.1:${this.#port}`;
    server.on('request', (request, response) => {
      const path = new URL(request.url ?? '/', this.issuer).pathname;
      this.requests.set(path, (this.requests.get(path) ?? 0) + 1);
      this.#answer(request, response).catch((error) => response.destroy(error));
    });
  }

  /** Adds an account, or changes its claims: the next ID token and UserInfo have these. */
  setAccount(sub: string, claims: { email?: string; groups?: string[]; name?: string }): void {
    this.#accounts.set(sub, claims);
  }

  /** Removes an account: its refresh tokens are refused from now on. */
  removeAccount(sub: string): void {
    this.#accounts.delete(sub);
  }

  /** Adds a redirect URI of the client. */
  allowRedirect(uri: string): void {
    this.#redirectUris.push(uri);
    this.#configure();
  }

  /** Signs with a new key under a new kid; the old one is published no more. */
  async rotateKeys(): Promise<void> {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    const kid = `key-${Number(this.#key?.kid?.slice('key-'.length) ?? 0) + 1}`;
    this.#privateKey = privateKey;
    this.#key = { ...(await exportJWK(privateKey)), kid, use: 'sig', alg: 'RS256' };
    this.#configure();
  }

  /** Dates ID tokens as a clock would that is so much ahead of this one (or behind it). */
  setClockSkew(ms: number): void {
    this.#skewMs = ms;
  }

  /** Goes away: connections are closed, and its port refuses new ones. */
  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  /** Comes back on the same port, with everything that it knew. */
  async start(): Promise<void> {
    if (this.#server.listening) return;
    await new Promise<void>((resolve) => {
      this.#server.listen(this.#port, '127.0.0.1', resolve);
    });
  }

  /** Stops it for good. */
  async close(): Promise<void> {
    if (this.#server.listening) await this.stop();
  }

  /**
   * Visits the URL as a browser of the account does, signs in if asked, and returns the address to
   * which the provider sends the browser at last, which is not requested. Account null: cancels.
   */
  logIn(authUrl: string, account: string | null, browser = new Browser()): Promise<string> {
    const fields = account === null ? { cancel: 'yes' } : { account };
    return browser.visit(authUrl, this.issuer, fields);
  }

  /** Visits a logout URL with the browser of a login, confirms, and returns where that ends. */
  logOut(logoutUrl: string, browser: Browser): Promise<string> {
    return browser.visit(logoutUrl, this.issuer, { logout: 'yes' });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.issuer);
    if (url.pathname.startsWith('/interaction/')) return this.#interact(request, response);
    // As most providers do, it takes the scope alone as the wish for a refresh token.
    if (
      url.pathname === '/auth' &&
      url.searchParams.get('scope')?.split(' ').includes('offline_access') &&
      url.searchParams.get('prompt') !== 'none'
    ) {
      url.searchParams.set('prompt', `${url.searchParams.get('prompt') ?? ''} consent`.trim());
      request.url = url.pathname + url.search;
    }
    await this.#provider.callback()(request, response);
  }

  /** Shows the page of the login, and takes its answer; consent is given without a page. */
  async #interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params, session } = await this.#provider.interactionDetails(request, response);
    if (prompt.name === 'consent') {
      const grant = new this.#provider.Grant({
        accountId: session!.accountId,
        clientId: String(params['client_id']),
      });
      grant.addOIDCScope(String(params['scope']));
      const result = { consent: { grantId: await grant.save() } };
      return this.#provider.interactionFinished(request, response, result);
    }
    const form = new URLSearchParams(request.method === 'POST' ? await text(request) : '');
    const account = form.get('account') ?? '';
    if (form.has('cancel'))
      return this.#provider.interactionFinished(request, response, {
        error: 'access_denied',
        error_description: 'The user cancelled the login',
      });
    if (!this.#accounts.has(account)) {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(SIGN_IN);
      return;
    }
    const result = { login: { accountId: account }, select_account: {} };
    return this.#provider.interactionFinished(request, response, result);
  }

  /** Makes the provider for the present key and redirect URIs, over the same memory. */
  #configure(): void {
    this.#provider = new Provider(this.issuer, this.#configuration());
    this.#provider.use(async (ctx, next) => {
      await next();
      // Other paths than the provider's own have no such context.
      const { oidc } = ctx as Partial<KoaContextWithOIDC>;
      if (oidc?.route !== 'token') return;
      const body = ctx.body as TokenAnswer;
      const isRefresh = oidc.params?.['grant_type'] === 'refresh_token';
      if (isRefresh && this.#options.idTokenOnRefresh === false) delete body.id_token;
      if (body.id_token !== undefined && this.#skewMs !== 0)
        body.id_token = await this.#redated(body.id_token);
      const { access_token, refresh_token, id_token } = body;
      for (const token of [access_token, refresh_token, id_token])
        if (token !== undefined) this.issued.push(token);
    });
  }

  async #redated(idToken: string): Promise<string> {
    const claims = decodeJwt(idToken);
    const skew = Math.round(this.#skewMs / 1000);
    for (const name of ['iat', 'exp', 'auth_time'])
      if (typeof claims[name] === 'number') claims[name] += skew;
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: this.#key.kid! })
      .sign(this.#privateKey);
  }

  #configuration(): Configuration {
    const clientAuth = this.#options.clientAuth ?? 'client_secret_basic';
    const policy = interactionPolicy.base();
    policy.add(new interactionPolicy.Prompt({ name: 'select_account', requestable: true }), 0);
    return {
      adapter: (name) => new Memory(name, this.#memory),
      claims: { openid: ['sub'], profile: ['name'], email: ['email'], groups: ['groups'] },
      clients: [
        {
          client_id: this.clientId,
          ...(clientAuth === 'none' ? {} : { client_secret: CLIENT_SECRET }),
          token_endpoint_auth_method: clientAuth,
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          redirect_uris: this.#redirectUris,
          post_logout_redirect_uris: this.#options.postLogoutRedirectUris ?? [],
        },
      ],
      clientAuthMethods: [clientAuth],
      clientBasedCORS: () => false,
      conformIdTokenClaims: this.#options.userInfoOnly ?? false,
      cookies: { keys: ['the key of the cookies'] },
      features: {
        devInteractions: { enabled: false },
        rpInitiatedLogout: {
          enabled: true,
          logoutSource: (ctx, form) => {
            const button =
              '<button form="op.logoutForm" name="logout" value="yes">Sign out</button>';
            ctx.body = `<!DOCTYPE html><title>Sign out</title>${form}${button}`;
          },
          postLogoutSuccessSource: (ctx) => {
            ctx.body = '<!DOCTYPE html><title>Signed out</title>';
          },
        },
      },
      findAccount: (_ctx, sub) => {
        const claims = this.#accounts.get(sub);
        return claims && { accountId: sub, claims: () => ({ ...claims, sub }) };
      },
      interactions: { policy, url: (_ctx, { uid }) => `/interaction/${uid}` },
      jwks: { keys: [this.#key] },
      pkce: { required: () => true },
      renderError: (ctx, out) => {
        ctx.body = out;
      },
      rotateRefreshToken: true,
      ttl: {
        AccessToken: 600,
        AuthorizationCode: 60,
        Grant: DAY,
        IdToken: 600,
        Interaction: 600,
        RefreshToken: DAY,
        Session: DAY,
      },
    };
  }
}

/** Starts a provider on a free port. */
export async function startProvider(options: ProviderOptions = {}): Promise<OidcProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const provider = new OidcProvider(server, options);
  await provider.rotateKeys();
  return provider;
}
