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

/** Keys of a set: a JWT without kid is held against each. */
const KEYS_OF_SET_MAX = 256;
/** Renewals of a key set at once: an issuer may rotate its keys in steps. */
const RENEWALS_MAX = 5;

/** The key set of an issuer. It is fetched again for JWTs that no key fits, but not for each. */
class KeySet {
  readonly jwks: RemoteJWKSet;
  readonly #renewalMs: number;
  #renewals = 0;
  /** When all renewals so far are made up for, in Unix milliseconds. */
  #paidMs = 0;

  /** `renewalMs`: milliseconds between two renewals, on average. */
  constructor(jwks: RemoteJWKSet, renewalMs: number) {
    this.jwks = jwks;
    this.#renewalMs = renewalMs;
  }

  /**
   * Verifies with the keys, and once more with new ones where none fits. Rejects as `verify` does,
   * and with FetchFault.
   */
  async verify<T>(verify: () => Promise<T>, isUnfit: (error: unknown) => boolean): Promise<T> {
    const { fresh: isCached } = this.jwks;
    const renewals = this.#renewals;
    try {
      return await verify();
    } catch (error) {
      // Keys that were not cached have just been fetched.
      if (!isCached || !isUnfit(error)) throw error;
      const isNewer = this.#renewals > renewals || (await this.#renew());
      if (!isNewer) throw error;
      return verify();
    }
  }

  /** Fetches the keys, unless that was done too often: anyone can send a JWT. */
  async #renew(): Promise<boolean> {
    if (this.jwks.reloading) {
      await this.jwks.reload();
      return true;
    }
    const nowMs = Date.now();
    const paidMs = Math.max(nowMs, this.#paidMs) + this.#renewalMs;
    if (paidMs - nowMs > RENEWALS_MAX * this.#renewalMs) return false;
    await this.jwks.reload();
    this.#paidMs = paidMs;
    this.#renewals += 1;
    return true;
  }
}

/** The keys of one issuer. */
export interface IssuerKeys {
  readonly keySet: KeySet;
  /** Signature algorithms that the discovery document lists; empty for a plain key set. */
  readonly algorithms: readonly string[];
  /** The discovery document; empty for a plain key set. */
  readonly document: Readonly<Record<string, unknown>>;
}

export interface KeyCacheOptions {
  readonly outbound: Outbound;
  /** Milliseconds for which fetched keys and discovery documents are used. */
  readonly ageMsMax: number;
  /** Milliseconds between two fetches of a key set for JWTs that no key fits, on average. */
  readonly renewalMs: number;
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
    await keys.keySet.jwks.reload();
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
      return { keySet: this.#keySet({ url, ca }, namespace), algorithms: [], document: {} };
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
    return { keySet: this.#keySet({ url: keysAt, ca }, namespace), algorithms, document };
  }

  #keySet(what: Exchange, namespace: string): KeySet {
    const jwks = createRemoteJWKSet(what.url, {
      cacheMaxAge: this.#options.ageMsMax,
      // KeySet decides when they are fetched again.
      cooldownDuration: Number.POSITIVE_INFINITY,
      timeoutDuration: this.#options.outbound.limits.timeoutMs,
      [customFetch]: async () => {
        const reply = await this.#fetch(what, namespace);
        const { keys } = jsonObject(reply, what.url.host);
        if (Array.isArray(keys) && keys.length > KEYS_OF_SET_MAX)
          throw new FetchFault(`the key set has more than ${KEYS_OF_SET_MAX} keys`);
        return new Response(reply.text, { status: 200 });
      },
    });
    return new KeySet(jwks, this.#options.renewalMs);
  }

  #fetch(what: Exchange, namespace: string): Promise<Reply> {
    return this.#options.outbound.exchange(what, namespace);
  }
}
