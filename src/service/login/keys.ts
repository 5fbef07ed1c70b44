/**
 * Keys of issuers: fetched over HTTP, kept for a while, fetched again for a key id that is not
 * among them.
 */
import type { RemoteJWKSet } from 'jose';
import { createRemoteJWKSet, customFetch } from 'jose/jwks/remote';
import { type Exchange, exchange, FetchFault, httpUrl, jsonObject } from './exchange.js';
import type { JwtConfig } from './jwt-config.js';
import type { FetchLimits } from './types.js';

type Remote = Extract<JwtConfig['source'], { kind: 'jwks' | 'oidc' }>;

export interface IssuerKeys {
  readonly jwks: RemoteJWKSet;
  /** Signature algorithms that the issuer's discovery document lists; empty for a plain key set. */
  readonly algorithms: readonly string[];
}

export interface KeyCacheOptions {
  readonly limits: FetchLimits;
  /** How long fetched keys and documents are used, in milliseconds. */
  readonly ageMsMax: number;
  /** An unknown key id fetches the set again, but not more often than this, in milliseconds. */
  readonly refetchMsMin: number;
}

/** Issuers whose keys are kept; far more than one cluster has methods in use. */
const ENTRIES_MAX = 256;

export class KeyCache {
  private readonly options: KeyCacheOptions;
  private readonly entries = new Map<string, { keys: Promise<IssuerKeys>; untilMs: number }>();

  constructor(options: KeyCacheOptions) {
    this.options = options;
  }

  /** The keys of a source, from the cache when they are fresh. Rejects with FetchFault. */
  async of(source: Remote, nowMs: number): Promise<IssuerKeys> {
    const id = JSON.stringify([source.kind, source.text, source.ca]);
    const kept = this.entries.get(id);
    if (kept !== undefined && nowMs < kept.untilMs) return kept.keys;
    const keys = this.open(source);
    this.entries.delete(id);
    this.entries.set(id, { keys, untilMs: nowMs + this.options.ageMsMax });
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= ENTRIES_MAX) break;
      this.entries.delete(oldest);
    }
    // a failure is not kept: the next login tries again
    keys.catch(() => {
      if (this.entries.get(id)?.keys === keys) this.entries.delete(id);
    });
    return keys;
  }

  /**
   * Fetches everything that a login by this source will need, past the cache. Rejects with
   * FetchFault.
   */
  async check(source: Remote): Promise<void> {
    const { jwks } = await this.open(source);
    await jwks.reload();
  }

  private async open(source: Remote): Promise<IssuerKeys> {
    if (source.kind === 'jwks') return { jwks: this.keySet(source.url, source.ca), algorithms: [] };
    const at = httpUrl(`${source.text.replace(/\/$/, '')}/.well-known/openid-configuration`);
    if (at === undefined) throw new FetchFault('not a URL');
    const document = jsonObject(await this.fetch({ url: at, ca: source.ca }), at.host);
    if (document['issuer'] !== source.text) {
      throw new FetchFault(
        `the issuer of the discovery document is not ${JSON.stringify(source.text)}`,
      );
    }
    const keysAt = httpUrl(String(document['jwks_uri']));
    if (keysAt === undefined) throw new FetchFault('the discovery document has no usable jwks_uri');
    const listed = document['id_token_signing_alg_values_supported'];
    const algorithms = Array.isArray(listed) ? listed.map(String) : [];
    return { jwks: this.keySet(keysAt, source.ca), algorithms };
  }

  private keySet(url: URL, ca: string | undefined): RemoteJWKSet {
    return createRemoteJWKSet(url, {
      cacheMaxAge: this.options.ageMsMax,
      cooldownDuration: this.options.refetchMsMin,
      timeoutDuration: this.options.limits.timeoutMs,
      [customFetch]: async () => {
        const reply = await this.fetch({ url, ca });
        jsonObject(reply, url.host);
        return new Response(reply.text, { status: 200 });
      },
    });
  }

  private fetch(what: Exchange): ReturnType<typeof exchange> {
    return exchange(what, this.options.limits);
  }
}
