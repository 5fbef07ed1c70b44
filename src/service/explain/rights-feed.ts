/** The feed of rights: all that decides for one token, as data (docs/rights.md). */
import { createHash } from 'node:crypto';
import { compileRights } from '../../acl/authorizer.js';
import { ANONYMOUS_ACCESSOR } from '../../acl/builtin.js';
import { decidingText, FEED_VERSION, type From, writeLayers } from '../../acl/feed.js';
import type { Rights } from '../../acl/layer.js';
import { Statements } from '../../acl/origins.js';
import { atOnce, type Steps } from '../../acl/steps.js';
import { reject } from '../../base/errors.js';
import { escapeHtml } from '../../languages/json.js';
import { expiryOf } from '../../state/tokens.js';
import { inSlices, inThisTurn } from '../common/event-loop.js';
import type { ReadOptions, ReadOutcome } from '../common/types.js';
import { ownerOf } from '../reads/long-work.js';
import type { Collected } from '../rights/origins.js';
import { type FoundRights, MadeFromRights, rightsFinder } from './found-rights.js';
import { withoutSecrets } from './secrets.js';
import { again, type ExplainParts, identityIn, type Whose } from './subject.js';

/** What feeds are made from, and their largest size. */
export interface FeedParts extends ExplainParts {
  readonly rightsFeedBytes: number;
  /** Makes a feed without sources in one turn of the event loop, however long. Default: false. */
  readonly inOneTurn?: boolean;
}

/** A feed as one reader gets it. */
export interface Feed {
  readonly etag: string;
  /** Returns it as JSON with a newline at the end. */
  readonly bytes: () => Uint8Array;
}

/** The end of feeds: the layers, which readers with equal rights share. */
interface Layers {
  /** Bytes of it; `text` is absent if these are too many. */
  readonly length: number;
  readonly text?: Uint8Array;
  /** The last head that it was hashed with, and the entity tag of both. */
  hashed?: { readonly head: string; readonly etag: string };
}

/** Bytes of the layers with sources that are kept: those of some large tokens. */
const KEPT_BYTES = 16 * 2 ** 20;

/** Makes feeds, once for each change and set of equal rights. */
export class RightsFeed {
  readonly #parts: FeedParts;
  /** Without sources: as long as the compiled rights, whose size is about the same. */
  readonly #plain = new WeakMap<Rights, Promise<Layers>>();
  /** How rules decide on this node, for the anonymous token and for all others. */
  readonly #deciding = new Map<boolean, string>();
  readonly #sourced = new MadeFromRights<Layers | undefined>(
    KEPT_BYTES,
    (made) => made?.length ?? 0,
  );

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  /**
   * Reads the feed of a token. The value is undefined if there is no such token. Throws ApiError
   * 413 if it is too large.
   */
  async read(
    whose: Whose,
    options: ReadOptions,
    withSources: boolean,
  ): Promise<ReadOutcome<Feed | undefined>> {
    const { service, nowMs } = this.#parts;
    const find = rightsFinder(this.#parts, whose);
    const { value: found, ...meta } = await service.read(whose.caller, options, (context) => {
      const answer = find(context);
      const { value } = answer;
      if (value === undefined) return answer;
      return { ...answer, digest: async () => (await this.#made(value, whose, withSources))?.etag };
    });
    const made = found && (await this.#made(found, whose, withSources));
    if (made === undefined) return { ...meta, value: undefined };
    const expiryMs = expiryOf(found!.token);
    const expiresInMs = expiryMs && Math.max(0, expiryMs - nowMs());
    const bytes = (): Uint8Array => made.bytes(meta.index, expiresInMs);
    return { ...meta, expiresInMs, value: { etag: made.etag, bytes } };
  }

  async #made(found: FoundRights, whose: Whose, withSources: boolean) {
    const layers = await (withSources ? this.#withSources(found, whose) : this.#plainOf(found));
    return layers && this.#joined(found, layers);
  }

  #plainOf({ rights: { rights } }: FoundRights): Promise<Layers> {
    let made = this.#plain.get(rights);
    if (made === undefined) {
      const { rightsFeedBytes, inOneTurn } = this.#parts;
      const steps = plainLayers(rights, rightsFeedBytes);
      if (inOneTurn === true) made = Promise.resolve(atOnce(steps));
      else {
        const first = inThisTurn(steps, 'explain');
        made = first.done ? Promise.resolve(first.value) : inSlices(steps, 'explain');
      }
      this.#plain.set(rights, made);
      made.catch(() => this.#plain.delete(rights));
    }
    return made;
  }

  #withSources(found: FoundRights, { caller }: Whose): Promise<Layers | undefined> {
    const { longWork, service } = this.#parts;
    const steps = () => sourcedLayers(this.#parts, again(this.#parts, found.token));
    return this.#sourced.of(found, () =>
      longWork.runSoon(ownerOf(service, caller), 'explain', steps()),
    );
  }

  /** Joins what is of one token and the layers, which may be of many. */
  #joined({ token, rights: { rights } }: FoundRights, layers: Layers) {
    const { AccessorID, Namespace, ExpirationTime } = token;
    const { rightsFeedBytes: Limit, service } = this.#parts;
    const Anonymous = AccessorID === ANONYMOUS_ACCESSOR;
    const identity = identityIn(service.view, token);
    const who = { Version: FEED_VERSION, AccessorID, Namespace, ...identity, Anonymous };
    const begin = escapeHtml(JSON.stringify(who).slice(0, -1));
    const expires = ExpirationTime === undefined ? '' : `,"ExpirationTime":"${ExpirationTime}"`;
    let deciding = this.#deciding.get(Anonymous);
    if (deciding === undefined) {
      deciding = decidingText(rights, Anonymous);
      this.#deciding.set(Anonymous, deciding);
    }
    const head = (index = '', left = '') => `${begin}${index}${expires}${left},${deciding},`;
    const lasting = head();
    const Bytes = Buffer.byteLength(lasting) + layers.length;
    if (layers.text === undefined || Bytes > Limit) refuseSize({ Bytes, Limit });
    const { text } = layers;
    if (layers.hashed?.head !== lasting)
      layers.hashed = { head: lasting, etag: etagOf(lasting, text) };
    const bytes = (index: number, expiresInMs: number | undefined): Uint8Array => {
      const left = expiresInMs === undefined ? '' : `,"ExpiresInMs":${expiresInMs}`;
      return Buffer.concat([Buffer.from(head(`,"Index":${index}`, left)), text]);
    };
    return { etag: layers.hashed.etag, bytes };
  }
}

/** Hashes a feed without its newline. */
function etagOf(head: string, text: Uint8Array): string {
  const hash = createHash('sha256').update(head).update(text.subarray(0, -1)).digest('hex');
  return `"${hash.slice(0, 32)}"`;
}

function refuseSize(members: { readonly Bytes: number; readonly Limit: number }): never {
  const { Bytes, Limit } = members;
  reject('too_large', `The rights of this token take ${Bytes} bytes, and the limit is ${Limit}`, {
    hint: 'ask /access/v1/evaluation for this token',
    members,
  });
}

function* plainLayers(rights: Rights, bytesMax: number): Steps<Layers> {
  const { write, end } = collector(bytesMax);
  write('"Layers":');
  yield* writeLayers(rights, write);
  return end();
}

/** Makes the layers with their sources. Returns undefined if `find` finds no token. */
function* sourcedLayers(
  { authorizers, defaultPolicy, rightsFeedBytes, service }: FeedParts,
  find: () => Collected | undefined,
): Steps<Layers | undefined> {
  const collected = yield* authorizers.origins(find);
  if (collected === undefined) return undefined;
  const { own, defaults } = collected.origins;
  const rights = yield* compileRights(own, { defaultPolicy, defaults });
  const statements = {
    own: yield* Statements.of(own),
    namespace_default: yield* Statements.of(defaults),
  };
  const paths = [...own, ...defaults].map(({ path }) => path);
  const places = new Map(paths.map((path, place) => [path, place]));
  const { write, end } = collector(rightsFeedBytes);
  // names of policies and descriptions of tokens, which people write
  const shown = withoutSecrets(service.view, JSON.stringify(paths));
  write(`"Origins":${shown},"Layers":`);
  const from: From = (rule) =>
    Array.from(statements[rule.layer].linesOf(rule), ([path, line]) => [places.get(path)!, line]);
  yield* writeLayers(rights, write, from);
  return end();
}

/** Collects the layers. Beyond a maximum it only counts their bytes. */
function collector(max: number) {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const write = (piece: string): void => {
    const bytes = Buffer.from(escapeHtml(piece));
    length += bytes.length;
    if (length <= max) pieces.push(bytes);
  };
  const end = (): Layers => {
    write('}\n');
    return length > max ? { length } : { length, text: Buffer.concat(pieces) };
  };
  return { write, end };
}
