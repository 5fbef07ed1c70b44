/**
 * The state as it was after an entry, as far as it is kept (beyond.md 1.7): objects by their
 * versions, and what code that reads objects needs beside them.
 *
 *     versions of a role   12 create · 40 update · 57 update (present)
 *     at index 45      →   the content of version 40
 *     at index 60      →   the present object
 *     at index 11      →   it did not exist
 */
import { IDENTITY_BLOCK } from '../identity-blocks.js';
import { keys } from '../keys.js';
import type { LinkTarget } from '../links.js';
import { createIndexOf, keysBelow, lastPart } from '../lists.js';
import { recordOf } from '../machine-record.js';
import { DEFAULT_NAMESPACE } from '../object.js';
import type { Ownership } from '../owners.js';
import { HIDDEN } from '../put-form.js';
import { TYPES } from '../refs.js';
import { restoredAt } from '../restore.js';
import { loggedInText } from '../tokens.js';
import { keyOf, type StateRecord, type View } from '../types.js';
import type { Ended } from './contents.js';
import { chunksAfter } from './lines.js';
import {
  chunkOf,
  type Line,
  lineOf,
  NOT_KEPT,
  objectKeyOf,
  type Place,
  placeOf,
  placeOfTrace,
  RINGS,
  traceKey,
  VERSION,
} from './records.js';
import { floorsOf } from './settings.js';
import { newestVersion, versionBefore, versionsOf } from './versions.js';

/** Thrown where it is no longer known what held. */
export class NotKnown extends Error {
  /** The oldest index from which on it is known. */
  readonly oldest: number;

  constructor(oldest: number) {
    super(`known from index ${oldest} on`);
    this.oldest = oldest;
  }
}

/** An object as it was. */
export interface ObjectThen {
  /** Its text as it is stored; undefined if it did not exist. Of a version, without its secrets. */
  readonly text: string | undefined;
  /** The index of the version that it was read from; 0 for the present object. */
  readonly version: number;
}

/** So many revocations came before a login whose line tells when its identity was revoked. */
const ALL = Number.MAX_SAFE_INTEGER;

const NOTHING: ObjectThen = { text: undefined, version: 0 };

/** Returns what an object was after the entry at an index. Throws NotKnown. */
export function objectAt(view: View, place: Place, index: number): ObjectThen {
  // What is restored has the history of its archive, not that of this log.
  const restored = restoredAt(view);
  if (index < restored) throw new NotKnown(restored);
  if (place.ns !== DEFAULT_NAMESPACE) {
    const removed = removedAt(view, place.ns, index);
    if (removed !== undefined) throw new NotKnown(removed);
  }
  const floor = floorsOf(view)?.Index ?? 0;
  const newest = newestVersion(view, place);
  if (newest === undefined && index <= floor) throw new NotKnown(floor + 1);
  let version = newest;
  while (version !== undefined && version.index > index) {
    const { line, text } = version;
    const isMade = line?.was === 0 || (text !== undefined && createIndexOf(text) > index);
    const earlier = versionBefore(view, place, version, index + 1);
    if (earlier === undefined) {
      if (index <= floor || line?.was === NOT_KEPT) throw new NotKnown(version.index);
      // Above the floor only the server changes an object without a line: its Status.
      if (!isMade) break;
    }
    version = earlier;
  }
  if (version === undefined) return NOTHING;
  return { text: version.text, version: version === newest ? 0 : version.index };
}

/**
 * Returns when a namespace was removed that was there at an index: what was in it is forgotten.
 * Returns undefined if it is still the same or was not there.
 */
export function removedAt(view: View, ns: string, index: number): number | undefined {
  const present = view.get(keys.namespace(ns));
  if (present !== undefined && createIndexOf(present) <= index) return undefined;
  const place: Place = { type: 'namespace', ns: DEFAULT_NAMESPACE, id: ns };
  if (objectAt(view, place, index).text === undefined) return undefined;
  let removed: number | undefined;
  for (const version of versionsOf(view, place)) {
    if (version.index <= index) break;
    if (version.text === undefined) removed = version.index;
  }
  return removed;
}

/**
 * The objects at an index, with the records that lead to tokens by accessor and to the names of
 * links. `get` and `keys` throw NotKnown. All other records are the present ones. Reads of tokens
 * whose logins have ended need `findEnded` first.
 */
export class PastView implements View {
  readonly #view: View;
  /** Who was behind the tokens in `#ended`, by the key of the record that tells it. */
  readonly #subjects = new Map<string, string>();
  readonly index: number;
  /** The versions that were read, by type and ID. */
  readonly versions = new Map<string, number>();
  /** The namespaces of tokens that `findEnded` has found, by accessor. */
  readonly #homes = new Map<string, string>();
  /** Tokens of logins that have ended since, by key. */
  readonly #ended = new Map<string, string>();
  #last: StateRecord | undefined;

  constructor(view: View, index: number) {
    this.#view = view;
    this.index = index;
  }

  get(key: string): string | undefined {
    const place = placeOf(key);
    if (place !== undefined) return this.#object(key, place);
    const [table, id = ''] = key.split('\u0000');
    if (key === keys.machine) {
      const record = recordOf(this.#view);
      return record && JSON.stringify({ ...record, index: this.index });
    }
    if (table === 'token-accessor') return this.#namespaceOf(id);
    if (table === IDENTITY_BLOCK) return this.#revocation(key);
    if (table === 'owner') return this.#view.get(key) ?? this.#lostHandle(key);
    if (table === 'policy-link' || table === 'role-link') return this.#nameOf(table, id);
    return this.#subjects.get(key) ?? this.#view.get(key);
  }

  /** Yields the keys of objects. Those of other records are the present ones. */
  *keys(prefix: string, after = ''): Iterable<string> {
    const type = typeBelow(prefix);
    if (type === undefined) {
      yield* this.#view.keys(prefix, after);
      return;
    }
    for (const key of this.ever(prefix, type)) {
      if (key > after && this.get(key) !== undefined) yield key;
    }
  }

  /** Yields the keys of objects that are there now, or of which something is kept. */
  *ever(prefix: string, type = typeBelow(prefix)!): Iterable<string> {
    const [, ...parts] = prefix.split('\u0000');
    const [ns, kind] = type === 'namespace' ? ['default'] : parts.slice(0, -1);
    const traced = this.#traced(
      keyOf(VERSION, type, ...(ns === undefined ? [] : [ns]), kind === undefined ? '' : `${kind}/`),
    );
    const ended = [...this.#ended.keys()].filter((key) => key.startsWith(prefix)).sort();
    // The kind of a config entry sorts otherwise in the key of a trace.
    const old = type === 'config' ? [...traced].sort() : traced;
    yield* union([this.#view.keys(prefix), old, ended]);
  }

  /**
   * Finds the tokens of logins that were alive at the index and have ended since, or the one with
   * an accessor. Yields between chunks.
   */
  *findEnded(accessor?: string): Generator<void> {
    // Other tokens that are gone have versions, unless these went with their namespace.
    for (const ring of accessor === undefined ? (['login-change'] as const) : RINGS) {
      for (const text of chunksAfter(this.#view, ring, this.index)) {
        if (accessor === undefined || text.includes(accessor)) {
          for (const line of chunkOf(text).lines) this.#noteEnded(lineOf(line));
        }
        yield;
      }
    }
  }

  /** Returns the namespace of a token that `findEnded` has found; undefined if there is none. */
  endedIn(accessor: string): string | undefined {
    return this.#homes.get(accessor);
  }

  #noteEnded({ index, type, ns, id, name, operation, was, more }: Line): void {
    if (type !== 'token' || operation === 'create' || index <= this.index) return;
    this.#homes.set(id, ns);
    if (was > 0 || more === undefined) return;
    const { Identity: by, RevokedAt, ...token } = more as Ended;
    const { CreateIndex = 0 } = token;
    if (CreateIndex > this.index || (RevokedAt !== undefined && RevokedAt <= this.index)) return;
    const head = { AccessorID: id, SecretID: HIDDEN, Description: name };
    const rest = { Local: true, CreateTime: '', Hash: '', ModifyIndex: CreateIndex, Namespace: ns };
    if (by !== undefined) {
      const key = keys.tokenByMethod(by.Namespace, by.AuthMethod, ns, id);
      this.#subjects.set(key, loggedInText({ identity: '', subject: by.Subject, before: ALL }));
    }
    this.#ended.set(keys.token(ns, id), JSON.stringify({ ...head, ...token, ...rest }));
  }

  #object(key: string, place: Place): string | undefined {
    if (this.#last?.[0] === key) return this.#last[1];
    const ended = this.#ended.get(key);
    const { text, version } =
      ended === undefined ? objectAt(this.#view, place, this.index) : { text: ended, version: 0 };
    if (version > 0) this.versions.set(`${place.type}/${place.id}`, version);
    if (text !== undefined) this.#last = [key, text];
    return text;
  }

  /** Yields the keys of the objects of which there are traces: of all that were deleted. */
  *#traced(prefix: string): Iterable<string> {
    for (const key of this.#view.keys(prefix)) yield objectKeyOf(placeOfTrace(key));
  }

  #namespaceOf(accessor: string): string | undefined {
    const present = this.#view.get(keys.tokenAccessor(accessor));
    const ns = this.endedIn(accessor) ?? present ?? holderOf(this.#view, 'token', accessor);
    if (ns === undefined) {
      // Whether it existed is known only above the floor.
      objectAt(this.#view, { type: 'token', ns: 'default', id: accessor }, this.index);
      return undefined;
    }
    return this.get(keys.token(ns, accessor)) === undefined ? undefined : ns;
  }

  /** Returns what was revoked or blocked by then. */
  #revocation(key: string): string | undefined {
    const text = this.#view.get(key);
    const { Index = 0 } = text === undefined ? {} : (JSON.parse(text) as { Index?: number });
    return Index <= this.index ? text : undefined;
  }

  /** Returns the handle of a binding rule that has been deleted since, without its owner. */
  #lostHandle(key: string): string | undefined {
    const [, type, ns = '', id = ''] = key.split('\u0000');
    if (type !== 'binding-rule') return undefined;
    const { more } = newestVersion(this.#view, { type, ns, id })?.line ?? {};
    const { Handle } = (more ?? {}) as Partial<Ownership>;
    return Handle && JSON.stringify({ Owner: '', Handle } satisfies Ownership);
  }

  #nameOf(table: 'policy-link' | 'role-link', id: string): string | undefined {
    const type: LinkTarget = table === 'policy-link' ? 'policy' : 'role';
    const ns = holderOf(this.#view, type, id);
    const text = ns === undefined ? undefined : this.get(keyOf(type, ns, id));
    if (text === undefined) return undefined;
    const { Name } = JSON.parse(text) as { Name: string };
    return JSON.stringify({ Name, Index: this.index });
  }
}

/** Returns the type of the objects below a prefix; undefined for other records. */
function typeBelow(prefix: string): Place['type'] | undefined {
  const [table = '', ...parts] = prefix.split('\u0000');
  const type = (TYPES as Readonly<Record<string, Place['type']>>)[table];
  return parts.at(-1) === '' ? type : undefined;
}

/** Returns the namespace in which an object is or has left a trace; undefined if there is none. */
export function holderOf(
  view: View,
  type: 'token' | 'policy' | 'role',
  id: string,
): string | undefined {
  for (const key of keysBelow(view, 'namespace')) {
    const ns = lastPart(key);
    const isThere = view.get(keyOf(type, ns, id)) !== undefined;
    if (isThere || view.get(traceKey({ type, ns, id })) !== undefined) return ns;
  }
  return undefined;
}

/** Yields the keys of some sources in order, each once. Each source is in order. */
function* union(sources: readonly Iterable<string>[]): Iterable<string> {
  const iterators = sources.map((source) => source[Symbol.iterator]());
  const heads = iterators.map((iterator) => iterator.next());
  for (;;) {
    let least: string | undefined;
    for (const { done, value } of heads) {
      if (done !== true && (least === undefined || value < least)) least = value;
    }
    if (least === undefined) return;
    yield least;
    for (const [at, { done, value }] of heads.entries()) {
      if (done !== true && value === least) heads[at] = iterators[at]!.next();
    }
  }
}
