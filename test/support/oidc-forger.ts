/** An OpenID provider that lies as a test tells it to. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { TestServer } from '../login/server.js';
import { type Signer, signer } from '../login/signers.js';

/** In what an answer of the token endpoint differs from an honest one. */
export interface Forgery {
  /** Claims of the ID token beside or instead of the honest ones; undefined leaves one out. */
  readonly claims?: Record<string, unknown>;
  /** Members of the header of the ID token beside or instead of `alg` and `kid`. */
  readonly header?: Record<string, unknown>;
  /** Makes the ID token of the claims; by default the forger's published key signs it. */
  readonly sign?: (claims: object, header: object) => string | Promise<string>;
  /** Members of the answer beside or instead of the honest ones; undefined leaves one out. */
  readonly answer?: Record<string, unknown>;
}

/** What the token endpoint was asked. */
export interface TokenRequest {
  readonly authorization: string | undefined;
  readonly form: URLSearchParams;
}

/** The path of the discovery document. */
export const DISCOVERY = '/.well-known/openid-configuration';
const LIFE = 600;
const HUGE_BYTES = 2 * 1024 * 1024;
const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/** A JWT that nobody has signed. */
export const unsigned = (claims: object): string =>
  `${encoded({ alg: 'none', typ: 'JWT' })}.${encoded(claims)}.`;

/** Answers for `Forger.answers` that no honest provider gives. */
export const lies = {
  redirect: (to: string) => (_: unknown, response: ServerResponse) => {
    response.writeHead(307, { location: to }).end();
  },
  refuse: (status: number, body: object) => (_: unknown, response: ServerResponse) => {
    response.statusCode = status;
    return body;
  },
  /** JSON of more than 1 MiB. */
  huge: () => ({ access_token: 'a'.repeat(HUGE_BYTES), token_type: 'Bearer' }),
  broken: (_: unknown, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"access_token":');
  },
  /** No answer at all, until the client goes. */
  hang: () => undefined,
};

/** A running forger with one account, `eve`. It takes any client. */
export class Forger {
  readonly issuer: string;
  /** Its answers by path, as those of a TestServer. */
  readonly answers: TestServer['answers'];
  /** What the token endpoint was asked so far, while it was honest. */
  readonly tokenRequests: TokenRequest[] = [];
  readonly #server: TestServer;
  readonly #signer: Signer;
  /** The answers of the token endpoint by code or refresh token. */
  readonly #granted = new Map<string, () => Promise<object>>();

  constructor(server: TestServer, key: Signer) {
    this.#server = server;
    this.#signer = key;
    this.issuer = server.url;
    this.answers = server.answers;
    this.reset();
  }

  /** Makes every endpoint honest again. */
  reset(): void {
    this.answers.clear();
    this.answers.set(DISCOVERY, this.discovery());
    this.answers.set('/jwks', { keys: [this.#signer.jwk] });
    this.answers.set('/userinfo', { sub: 'eve' });
    this.answers.set('/token', (request: IncomingMessage, response: ServerResponse, body: string) =>
      this.#token(request, response, new URLSearchParams(body)),
    );
  }

  /** The honest discovery document with changes; undefined leaves a member out. */
  discovery(change: Record<string, unknown> = {}): object {
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/auth`,
      token_endpoint: `${this.issuer}/token`,
      jwks_uri: `${this.issuer}/jwks`,
      userinfo_endpoint: `${this.issuer}/userinfo`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [this.#signer.alg],
      code_challenge_methods_supported: ['S256'],
      ...change,
    };
  }

  /**
   * The redirect to which a login at the authorization URL leads. Its code is good for the forged
   * answer once.
   */
  logIn(authUrl: string, forgery: Forgery = {}): string {
    const query = new URL(authUrl).searchParams;
    const code = `code-${randomUUID()}`;
    const honest = { aud: query.get('client_id'), nonce: query.get('nonce') };
    this.grant(code, { ...forgery, claims: { ...honest, ...forgery.claims } });
    const redirect = new URL(query.get('redirect_uri')!);
    redirect.searchParams.set('code', code);
    redirect.searchParams.set('state', query.get('state')!);
    return redirect.href;
  }

  /** Lets the token endpoint take a code or refresh token once. */
  grant(codeOrRefreshToken: string, { claims, header, sign, answer }: Forgery): void {
    this.#granted.set(codeOrRefreshToken, async () => {
      const now = Math.floor(Date.now() / 1000);
      const all = { iss: this.issuer, sub: 'eve', iat: now, exp: now + LIFE, ...claims };
      const { alg, jwk } = this.#signer;
      const head = { alg, kid: jwk.kid, typ: 'JWT', ...header };
      const id_token = await (sign === undefined ? this.sign(all, head) : sign(all, head));
      return { access_token: 'access', token_type: 'Bearer', id_token, ...answer };
    });
  }

  /** Signs claims with its published key. */
  sign(claims: object, header: object = {}): Promise<string> {
    return this.#signer.sign(claims, header);
  }

  async stop(): Promise<void> {
    await this.#server.stop();
  }

  async #token(
    request: IncomingMessage,
    response: ServerResponse,
    form: URLSearchParams,
  ): Promise<object> {
    this.tokenRequests.push({ authorization: request.headers.authorization, form });
    const key = form.get('code') ?? form.get('refresh_token') ?? '';
    const granted = this.#granted.get(key);
    if (granted === undefined) return lies.refuse(400, { error: 'invalid_grant' })(null, response);
    this.#granted.delete(key);
    return granted();
  }
}

/** Starts a forger on a free port. */
export async function startForger(alg = 'RS256'): Promise<Forger> {
  return new Forger(await TestServer.start(), await signer(alg, 'forged'));
}
