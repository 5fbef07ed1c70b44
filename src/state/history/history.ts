/**
 * The history: what each entry changed follows from the change itself, in the same commit. From the
 * level of the history on, the machine calls `record` with the objects that a command changed:
 *
 *     role·default·2f6a…   before → after
 *       →  change·…                    … a line
 *          version·role·default·2f6a…·<index of before>   the object as it was
 *          version·role·default·2f6a…·ffff…               who made it what it is
 *
 * A version is as old as the entry that superseded it, so dropping the line of that entry drops the
 * version too: everything is dropped in the order of the rings.
 */
import { type Author, type Identity, SERVER } from '../author.js';
import { type Checksums, tableOf } from '../checksum.js';
import type { Overlay } from '../draft.js';
import { keys } from '../keys.js';
import type { Ownership } from '../owners.js';
import { TYPES } from '../refs.js';
import { loggedIn } from '../tokens.js';
import type { Command, Draft, ManyTokens } from '../types.js';
import { LastChunks } from './chunks.js';
import {
  endedOf,
  hiddenText,
  isComputed,
  isOfLogin,
  modifiedAt,
  nameIn,
  spelledId,
} from './contents.js';
import { Account, Ledger } from './ledger.js';
import {
  type Deed,
  deedOf,
  deedText,
  type Head,
  headOf,
  headText,
  type Line,
  lineText,
  newestKey,
  objectKeyOf,
  type Place,
  placeOf,
  type Ring,
  versionKey,
} from './records.js';
import {
  FLOOR_FACT,
  floorsFrom,
  floorsOf,
  HISTORY_FACT,
  type HistoryBounds,
  historyBounds,
} from './settings.js';
import { trimBytes, trimVersions } from './trim.js';

/** A record of an object, or of what derives from it, that a command changed. */
export interface Changed {
  readonly key: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The table that tells who logged in to get a token. */
const LOGINS = 'token-by-method';

/** The table that tells whose set an object is in. */
const OWNERS = 'owner';

const LOOKED_AT = new Set([...Object.keys(TYPES), LOGINS, OWNERS]);

/** Whether the history looks at a change of a record. */
export const isOfHistory = (key: string): boolean => LOOKED_AT.has(tableOf(key));

/** Writes the history of a state. */
export class History {
  readonly #chunks = new LastChunks();
  /** What is kept and forgotten, as long as its record is this one. */
  #account: Account | undefined;
  /** The bounds, as long as their record has the text. */
  #bounds: HistoryBounds | undefined;
  #boundsText: string | undefined;

  /** Records what a command changed, and drops what the bounds no longer allow. */
  record(
    { draft, index }: { readonly draft: Overlay; readonly index: number },
    command: Command,
    changes: readonly Changed[],
    many?: ManyTokens,
  ): void {
    const account = this.#accountIn(draft, index);
    const ledger = new Ledger(draft, account.floors);
    const bounds = this.#boundsIn(draft);
    const entry = new Entry(ledger, { index, command, bounds, chunks: this.#chunks });
    entry.record(changes, many);
    trimBytes(ledger, bounds);
    draft.put(FLOOR_FACT, account.change());
  }

  #accountIn(draft: Overlay, index: number): Account {
    const present = draft.peek(FLOOR_FACT);
    const known = this.#account;
    if (known !== undefined && (present === known || present === known.text)) return known;
    this.#account = new Account(floorsOf(draft) ?? floorsFrom(index));
    return this.#account;
  }

  #boundsIn(draft: Draft): HistoryBounds {
    const text = draft.get(HISTORY_FACT);
    if (this.#bounds === undefined || text !== this.#boundsText) {
      this.#bounds = historyBounds(draft);
      this.#boundsText = text;
    }
    return this.#bounds;
  }

  /** Adds a change to checksums. */
  count(sums: Checksums, key: string, before: string | undefined, after: string | undefined): void {
    this.#chunks.count(sums, key, before, after);
  }
}

/** What is known of a version from before the history. */
const UNKNOWN: Deed = { operation: 'unknown', timeMs: null, author: null, reason: '' };
/** What commands do to objects, if not what they seem to do. */
const OPERATIONS: Readonly<Record<string, string>> = { undo: 'undo', 'tokens.import': 'import' };

interface EntryParts {
  readonly index: number;
  readonly command: Command;
  readonly bounds: HistoryBounds;
  readonly chunks: LastChunks;
}

/** The records of one entry. */
class Entry {
  readonly #ledger: Ledger;
  readonly #parts: EntryParts;
  readonly #deed: Deed;
  /** What the last operation was, and what `deedText` made of it. */
  #operation: string | undefined;
  #deedText = '';
  #position = 0;
  /** The keys of the objects that changed. */
  readonly #changed = new Set<string>();
  /** Records of owners that changed, by key, those that went included. */
  readonly #owned = new Map<string, string>();
  /** The tokens of logins that ended, by their method. */
  readonly #ended = new Map<string, number>();

  constructor(ledger: Ledger, parts: EntryParts) {
    this.#ledger = ledger;
    this.#parts = parts;
    this.#deed = deedOf(parts.command, '');
  }

  record(changes: readonly Changed[], many: ManyTokens | undefined): void {
    const identities = identitiesIn(changes);
    for (const change of changes) this.#noteOwner(change);
    const gone: { readonly ns: string; readonly name: string }[] = [];
    for (const change of changes) {
      const place = placeOf(change.key);
      if (place === undefined) continue;
      const name = this.#object(place, change, identities);
      if (place.type === 'auth-method' && change.after === undefined)
        gone.push({ ns: place.ns, name });
    }
    for (const key of this.#owned.keys()) this.#owner(key);
    const {
      type,
      ns = '',
      name = '',
    } = this.#parts.command as Command & { ns?: string; name?: string };
    if (type === 'method.reap') gone.push({ ns, name });
    for (const method of gone) {
      const count = this.#ended.get(methodId(method.ns, method.name)) ?? 0;
      if (count > 0)
        this.#many({ operation: 'delete', ns: method.ns, method: method.name, subject: '', count });
    }
    if (many !== undefined) this.#many(many);
  }

  /** Notes who owned an object, if that changed. */
  #noteOwner({ key, before, after }: Changed): void {
    if (tableOf(key) === OWNERS) this.#owned.set(key, after ?? before!);
  }

  /** Records that an object got another owner, whose content stays. */
  #owner(key: string): void {
    const [, type, ns, id] = key.split('\u0000') as [string, Place['type'], string, string];
    const place = { type, ns, id };
    const text = this.#ledger.draft.get(objectKeyOf(place));
    if (text === undefined || this.#changed.has(objectKeyOf(place))) return;
    const name = this.#nameOf(place, text);
    const about = { type, ns, id: spelledId(place, name), name };
    this.#line('change', { ...about, operation: 'update', was: 0 });
  }

  #nameOf(place: Place, text: string): string {
    if (place.type !== 'binding-rule') return nameIn(place, text);
    const key = keys.owner(place.type, place.ns, place.id);
    const owned = this.#owned.get(key) ?? this.#ledger.draft.get(key);
    const { Handle = place.id } = owned === undefined ? {} : (JSON.parse(owned) as Ownership);
    return Handle;
  }

  /** Records a change of one object. Returns its name. */
  #object(
    place: Place,
    { before, after }: Changed,
    identities: ReadonlyMap<string, Identity>,
  ): string {
    const text = (after ?? before)!;
    const name = this.#nameOf(place, text);
    this.#changed.add(objectKeyOf(place));
    const done = before === undefined ? 'create' : after === undefined ? 'delete' : 'update';
    const operation = OPERATIONS[this.#parts.command.type] ?? done;
    const about = { type: place.type, ns: place.ns, id: spelledId(place, name), name };
    if (isComputed(place, before, after)) {
      this.#line('change', { ...about, operation: done, was: 0 }, SERVER);
      return name;
    }
    if (!isOfLogin(place, text) || done === 'update') {
      const was = this.#version(place, operation, before, after);
      this.#line('change', { ...about, operation, was });
      return name;
    }
    const hasVersions = done === 'delete' && this.#ledger.draft.get(newestKey(place)) !== undefined;
    const was = hasVersions ? this.#version(place, operation, before, after) : 0;
    if (done === 'create') {
      this.#line('login-change', { ...about, operation, was });
      return name;
    }
    const more = endedOf(text, identities.get(place.id));
    const { AuthMethod = '', AuthMethodNamespace = place.ns } = more;
    const method = methodId(AuthMethodNamespace, AuthMethod);
    this.#ended.set(method, (this.#ended.get(method) ?? 0) + 1);
    this.#line('login-change', { ...about, operation, was, more });
    return name;
  }

  #many({ operation, ns, method, subject, count }: ManyTokens): void {
    const about = { type: 'login-tokens', ns, id: `${ns}/${method}`, name: subject } as const;
    this.#line('change', { ...about, operation, was: 0, more: count });
  }

  #line(
    ring: Ring,
    about: Pick<Line, 'type' | 'ns' | 'id' | 'name' | 'operation' | 'was' | 'more'>,
    author: Author | null = this.#deed.author,
  ): void {
    const { index, bounds, chunks } = this.#parts;
    const { Bytes, LoginBytes } = bounds;
    if (Bytes > 0 && (ring === 'change' || LoginBytes > 0)) {
      const position = this.#position++;
      const { timeMs } = this.#deed;
      const deed = this.#deedOf(about.operation, author);
      const text = lineText({ index, position, ...about }, deed);
      chunks.add(this.#ledger, ring, { index, position, timeMs, text });
    } else if (ring === 'login-change' && about.operation !== 'create') {
      this.#ledger.forget(index - 1, 'Logins');
    }
  }

  /** Returns what happened as text. */
  #deedOf(operation: string, author = this.#deed.author): string {
    if (author !== this.#deed.author) return deedText({ ...this.#deed, operation, author });
    if (operation !== this.#operation) {
      this.#operation = operation;
      this.#deedText = deedText({ ...this.#deed, operation });
    }
    return this.#deedText;
  }

  /** Keeps what an object was until now. Returns the index of that version; 0 if it has none. */
  #version(
    place: Place,
    operation: string,
    before: string | undefined,
    after: string | undefined,
  ): number {
    const { index, bounds, command } = this.#parts;
    const ledger = this.#ledger;
    const key = newestKey(place);
    const text = ledger.draft.get(key);
    const known = text === undefined ? undefined : headOf(text);
    // What is in a namespace loses its versions with it.
    const isGone = command.type === 'namespace.reap' && place.type !== 'namespace';
    const isKept = bounds.VersionsPerObject > 0 && bounds.Bytes > 0;
    if (isGone || !isKept) {
      if (text !== undefined) ledger.drop(key, text);
      if (!isGone && before !== undefined) ledger.forget(index - 1);
      return 0;
    }
    if (known?.content !== undefined) ledger.drop(key, text!);
    let old: Head | undefined;
    if (before === undefined) old = known;
    else {
      const content = hiddenText(place, before);
      const isKnown = known !== undefined && known.content === undefined;
      old = isKnown ? { ...known, content } : unknownAt(modifiedAt(before), content);
    }
    const { index: was = 0, count = 0, oldest = index } = old ?? {};
    if (old !== undefined) {
      const bytes = Buffer.byteLength(old.content!);
      ledger.put(versionKey(place, was), headText({ ...old, next: index }), bytes);
    }
    const content = after === undefined ? 'null' : undefined;
    const deed = this.#deedOf(operation);
    const newest: Head = { was, next: 0, index, count: count + 1, oldest, deed, content };
    ledger.put(key, headText(newest), content === undefined ? 0 : content.length);
    const most = bounds.VersionsPerObject;
    if (newest.count > most) trimVersions(ledger, place, newest, most);
    return was;
  }
}

const unknownAt = (index: number, content: string): Head => {
  const deed = deedText(UNKNOWN);
  return { was: 0, next: 0, index, count: 1, oldest: index, deed, content };
};

const methodId = (ns: string, name: string): string => `${ns}/${name.toLowerCase()}`;

/** Returns the identities of tokens whose records went, by accessor. */
function identitiesIn(changes: readonly Changed[]): ReadonlyMap<string, Identity> {
  const identities = new Map<string, Identity>();
  for (const { key, before = '', after } of changes) {
    if (after !== undefined || tableOf(key) !== LOGINS) continue;
    const [, Namespace = '', AuthMethod = '', , accessor = ''] = key.split('\u0000');
    const { subject: Subject } = loggedIn(before);
    if (Subject !== undefined) identities.set(accessor, { AuthMethod, Namespace, Subject });
  }
  return identities;
}
