/**
 * Keys of issuers: fetched over HTTP, kept for a while, fetched again for a key id that is not
 * among them.
 */
import type { RemoteJWKSet } from 'jose';
import { createRemoteJWKSet, customFetch } from 'jose/jwks/remote';
import {
  type Exchange,
  FetchFault,
  httpUrl,
  jsonObject,
  type Outbound,
  type Reply,
} from './exchange.js';
import type { JwtConfig } from './jwt-config.js';

type Remote = Extract<JwtConfig['source'], { kind: 'jwks' | 'oidc' }>;

export interface IssuerKeys {
  readonly jwks: RemoteJWKSet;
  /** Signature algorithms that the issuer's discovery document lists; empty for a plain key set. */
  readonly algorithms: readonly string[];
}

export interface KeyCacheOptions {
  readonly outbound: Outbound;
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
  async of(source: Remote, namespace: string, nowMs: number): Promise<IssuerKeys> {
    // by namespace too: what one may fetch, another may not
    const id = JSON.stringify([namespace, source.kind, source.text, source.ca]);
    const kept = this.entries.get(id);
    if (kept !== undefined && nowMs < kept.untilMs) return kept.keys;
    const keys = this.open(source, namespace);
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
  async check(source: Remote, namespace: string): Promise<void> {
    const { jwks } = await this.open(source, namespace);
    await jwks.reload();
  }

  /** Why a method of a namespace may not name a source; undefined when it may. */
  problem({ url }: Remote, namespace: string): string | undefined {
    return this.options.outbound.problem(url, namespace);
  }

  private async open({ kind, url, text, ca }: Remote, namespace: string): Promise<IssuerKeys> {
    if (kind === 'jwks') return { jwks: this.keySet({ url, ca }, namespace), algorithms: [] };
    const at = httpUrl(`${text.replace(/\/$/, '')}/.well-known/openid-configuration`);
    if (at === undefined) throw new FetchFault('not a URL');
    const document = jsonObject(await this.fetch({ url: at, ca }, namespace), at.host);
    if (document['issuer'] !== text) {
      throw new FetchFault(`the issuer of the discovery document is not ${JSON.stringify(text)}`);
    }
    const keysAt = httpUrl(String(document['jwks_uri']));
    if (keysAt === undefined) throw new FetchFault('the discovery document has no usable jwks_uri');
    const listed = document['id_token_signing_alg_values_supported'];
    const algorithms = Array.isArray(listed) ? listed.map(String) : [];
    return { jwks: this.keySet({ url: keysAt, ca }, namespace), algorithms };
  }

  private keySet(what: Exchange, namespace: string): RemoteJWKSet {
    return createRemoteJWKSet(what.url, {
      cacheMaxAge: this.options.ageMsMax,
      cooldownDuration: this.options.refetchMsMin,
      timeoutDuration: this.options.outbound.limits.timeoutMs,
      [customFetch]: async () => {
        const reply = await this.fetch(what, namespace);
        jsonObject(reply, what.url.host);
        return new Response(reply.text, { status: 200 });
      },
    });
  }

  private fetch(what: Exchange, namespace: string): Promise<Reply> {
    return this.options.outbound.exchange(what, namespace);
  }
}
