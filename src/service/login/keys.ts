/**
 * The keys of issuers. They are fetched over HTTP, cached for a while, and fetched again for a JWT
 * that none of them fits.
 */
import type { RemoteJWKSet } from 'jose';
import { createRemoteJWKSet, customFetch } from 'jose/jwks/remote';
import { WeightedCache } from '../common/weighted-cache.js';
import {
  type Exchange,
  FetchFault,
  httpUrl,
  jsonObject,
  type Outbound,
  type Reply,
} from './exchange.js';
import type { Remote } from './jwt-config.js';

/** The keys of one issuer. */
export interface IssuerKeys {
  readonly jwks: RemoteJWKSet;
  /** Signature algorithms that the discovery document lists; empty for a plain key set. */
  readonly algorithms: readonly string[];
  /** The discovery document; empty for a plain key set. */
  readonly document: Readonly<Record<string, unknown>>;
}

export interface KeyCacheOptions {
  readonly outbound: Outbound;
  /** Milliseconds for which fetched keys and discovery documents are used. */
  readonly ageMsMax: number;
  /** Milliseconds between two fetches of a key set for JWTs that no key fits, at least. */
  readonly refetchMsMin: number;
}

/** Issuers in the cache: far more than a cluster has methods in use. */
const ENTRIES_MAX = 256;

/** The namespace is part of it, because not every namespace may fetch from every source. */
const idOf = ({ kind, text, ca }: Remote, namespace: string): string =>
  JSON.stringify([namespace, kind, text, ca]);

/** Caches the keys of issuers. */
export class KeyCache {
  readonly #options: KeyCacheOptions;
  readonly #entries = new WeightedCache<{ keys: Promise<IssuerKeys>; untilMs: number }>(
    ENTRIES_MAX,
  );

  constructor(options: KeyCacheOptions) {
    this.#options = options;
  }

  /** Returns the keys of a source, from the cache if they are fresh. Rejects with FetchFault. */
  async of(source: Remote, namespace: string, nowMs: number): Promise<IssuerKeys> {
    const id = idOf(source, namespace);
    const cached = this.#entries.get(id);
    if (cached !== undefined && nowMs < cached.untilMs) return cached.keys;
    const keys = this.#open(source, namespace);
    this.#entries.set(id, { keys, untilMs: nowMs + this.#options.ageMsMax }, 1);
    // A failure is not cached, so the next login tries again.
    keys.catch(() => {
      if (this.#entries.get(id)?.keys === keys) this.#entries.delete(id);
    });
    return keys;
  }

  /**
   * Fetches and returns everything that a login with this source needs, which replaces what is
   * cached. Rejects with FetchFault, and leaves the cache then.
   */
  async check(source: Remote, namespace: string): Promise<IssuerKeys> {
    const keys = await this.#open(source, namespace);
    await keys.jwks.reload();
    this.#entries.delete(idOf(source, namespace));
    return keys;
  }

  /** Returns why a method of a namespace may not use a source; undefined if it may. */
  problem({ url }: Remote, namespace: string): string | undefined {
    return this.#options.outbound.problem(url, namespace);
  }

  /** Finds the key set of a source. With discovery, this fetches the discovery document. */
  async #open({ kind, url, text, ca }: Remote, namespace: string): Promise<IssuerKeys> {
    if (kind === 'jwks')
      return { jwks: this.#keySet({ url, ca }, namespace), algorithms: [], document: {} };
    const at = httpUrl(`${text.replace(/\/$/, '')}/.well-known/openid-configuration`);
    if (at === undefined) throw new FetchFault('not a URL');
    const document = jsonObject(await this.#fetch({ url: at, ca }, namespace), at.host);
    if (document['issuer'] !== text) {
      throw new FetchFault(`the issuer of the discovery document is not ${JSON.stringify(text)}`);
    }
    const keysAt = httpUrl(String(document['jwks_uri']));
    if (keysAt === undefined) throw new FetchFault('the discovery document has no usable jwks_uri');
    const listed = document['id_token_signing_alg_values_supported'];
    const algorithms = Array.isArray(listed) ? listed.map(String) : [];
    return { jwks: this.#keySet({ url: keysAt, ca }, namespace), algorithms, document };
  }

  #keySet(what: Exchange, namespace: string): RemoteJWKSet {
    return createRemoteJWKSet(what.url, {
      cacheMaxAge: this.#options.ageMsMax,
      cooldownDuration: this.#options.refetchMsMin,
      timeoutDuration: this.#options.outbound.limits.timeoutMs,
      [customFetch]: async () => {
        const reply = await this.#fetch(what, namespace);
        jsonObject(reply, what.url.host);
        return new Response(reply.text, { status: 200 });
      },
    });
  }

  #fetch(what: Exchange, namespace: string): Promise<Reply> {
    return this.#options.outbound.exchange(what, namespace);
  }
}
