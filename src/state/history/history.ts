/**
 * The history: what each entry changed follows from the change itself, in the same commit. From the
 * level of the history on, the machine calls `record` with the objects that a command changed:
 *
 *     role·default·2f6a…   before → after
 *       →  change·…        … a line, which has the object as it was before
 *
 * A version is as old as the entry that superseded it, so dropping the line of that entry drops the
 * version too: everything is dropped in the order of the rings.
 */
import { type Author, SERVER } from '../author.js';
import { type Checksums, tableOf } from '../checksum.js';
import type { Overlay } from '../draft.js';
import { mayHaveBlocks, revokedAt } from '../identity-blocks.js';
import { keys } from '../keys.js';
import { createIndexOf, modifyIndexOf } from '../lists.js';
import type { Ownership } from '../owners.js';
import { TYPES } from '../refs.js';
import { loggedIn } from '../tokens.js';
import type { Command, Draft, ManyTokens } from '../types.js';
import { LastChunks } from './chunks.js';
import {
  type EndedLogin,
  endedOf,
  hiddenText,
  isComputed,
  isOfLogin,
  nameIn,
  spelledId,
} from './contents.js';
import { Account, Ledger } from './ledger.js';
import { NewestVersions, type Subject } from './newest.js';
import { type RecentLines, recentLine } from './recent.js';
import {
  type About,
  type Deed,
  deedOf,
  deedText,
  type Link,
  lineText,
  MARK_EVERY,
  NO_TRACE,
  NOT_KEPT,
  objectKeyOf,
  type Place,
  placeOf,
  type Ring,
  type Trace,
  traceKey,
  traceOf,
  VERSION,
} from './records.js';
import {
  FLOOR_FACT,
  floorsFrom,
  floorsOf,
  HISTORY_FACT,
  type HistoryBounds,
  hasLines,
  historyBounds,
} from './settings.js';
import { trimBytes } from './trim.js';

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
  readonly #newest = new NewestVersions();
  /** What is kept and forgotten, as long as its record is this one. */
  #account: Account | undefined;
  /** The bounds, as long as their record has the text. */
  #bounds: HistoryBounds | undefined;
  #boundsText: string | undefined;
  readonly #recent: RecentLines;

  /** Lines after `index` are added to `recent`. */
  constructor(recent: RecentLines, index: number) {
    this.#recent = recent;
    recent.begin(index);
  }

  /** Records what a command changed, and drops what the bounds no longer allow. */
  record(
    { draft, index }: { readonly draft: Overlay; readonly index: number },
    command: Command,
    changes: readonly Changed[],
    many: readonly ManyTokens[] = [],
  ): void {
    const account = this.#accountIn(draft, index);
    const ledger = new Ledger(draft, account.floors);
    const bounds = this.#boundsIn(draft);
    const entry = new Entry(ledger, {
      index,
      command,
      bounds,
      chunks: this.#chunks,
      newest: this.#newest,
      recent: this.#recent,
    });
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

/** Of a line that makes no version and supersedes none. */
const NO_VERSION: Link = { was: 0, count: 0, mark: 0 };

/** What commands do to objects, if not what they seem to do. */
const OPERATIONS: Readonly<Record<string, string>> = { undo: 'undo', 'tokens.import': 'import' };

interface EntryParts {
  readonly index: number;
  readonly command: Command;
  readonly bounds: HistoryBounds;
  readonly chunks: LastChunks;
  readonly newest: NewestVersions;
  readonly recent: RecentLines;
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
  /** Records of owners that changed, by key, those that went included. Most entries have none. */
  #owned: Map<string, string> | undefined;
  /** The tokens of logins that ended, by their method. */
  #ended: Map<string, number> | undefined;

  constructor(ledger: Ledger, parts: EntryParts) {
    this.#ledger = ledger;
    this.#parts = parts;
    this.#deed = deedOf(parts.command, '');
  }

  record(changes: readonly Changed[], many: readonly ManyTokens[]): void {
    for (const each of many) this.#many(each);
    const logins = loginsIn(changes, this.#ledger.draft);
    for (const change of changes) this.#noteOwner(change);
    const gone: { readonly ns: string; readonly name: string }[] = [];
    for (const change of changes) {
      const place = placeOf(change.key);
      if (place === undefined) continue;
      const name = this.#object(place, change, logins);
      if (place.type === 'auth-method' && change.after === undefined)
        gone.push({ ns: place.ns, name });
    }
    if (this.#owned !== undefined) {
      const changed = new Set(changes.map(({ key }) => key));
      for (const key of this.#owned.keys()) this.#owner(key, changed);
    }
    const {
      type,
      ns = '',
      name = '',
    } = this.#parts.command as Command & { ns?: string; name?: string };
    if (type === 'method.reap') gone.push({ ns, name });
    for (const method of gone) {
      const count = this.#ended?.get(methodId(method.ns, method.name)) ?? 0;
      if (count > 0)
        this.#many({ operation: 'delete', ns: method.ns, method: method.name, subject: '', count });
    }
  }

  /** Notes who owned an object, if that changed. */
  #noteOwner({ key, before, after }: Changed): void {
    if (tableOf(key) !== OWNERS) return;
    this.#owned ??= new Map();
    this.#owned.set(key, after ?? before!);
  }

  /** Records that an object got another owner, whose content stays. */
  #owner(key: string, changed: ReadonlySet<string>): void {
    const [, type, ns, id] = key.split('\u0000') as [string, Place['type'], string, string];
    const place = { type, ns, id };
    const object = objectKeyOf(place);
    if (changed.has(object)) return;
    const text = this.#ledger.draft.get(object);
    if (text === undefined) return;
    const name = this.#nameOf(place, text);
    const about = { type, ns, id: spelledId(place, name), name, after: text };
    this.#line('change', about, 'update', NO_VERSION);
  }

  #nameOf(place: Place, text: string): string {
    if (place.type !== 'binding-rule') return nameIn(place, text);
    return this.#ownershipOf(place)?.Handle ?? place.id;
  }

  /** Returns whose an object is, or was until this entry removed it. */
  #ownershipOf(place: Place): Ownership | undefined {
    const key = keys.owner(place.type, place.ns, place.id);
    const owned = this.#owned?.get(key) ?? this.#ledger.draft.get(key);
    return owned === undefined ? undefined : (JSON.parse(owned) as Ownership);
  }

  /** Records a change of one object. Returns its name. */
  #object(place: Place, change: Changed, logins: ReadonlyMap<string, EndedLogin>): string {
    const { key, before, after } = change;
    const text = (after ?? before)!;
    const name = this.#nameOf(place, text);
    const done = before === undefined ? 'create' : after === undefined ? 'delete' : 'update';
    const operation = OPERATIONS[this.#parts.command.type] ?? done;
    const id = spelledId(place, name);
    const about = { type: place.type, ns: place.ns, id, name, after: after ?? null };
    if (isComputed(place, before, after)) {
      this.#line('change', about, done, this.#kept({ key, place }, before), SERVER);
      return name;
    }
    if (!isOfLogin(place, text) || done === 'update') {
      const link = this.#version(place, change);
      const isGone = done === 'delete' && link.content !== undefined;
      const more = isGone ? this.#ownershipOf(place) : undefined;
      this.#line('change', { ...about, more }, operation, link);
      return name;
    }
    const hasVersions = done === 'delete' && createIndexOf(text) !== modifyIndexOf(text);
    const link = hasVersions ? this.#version(place, change, 'login-change') : NO_VERSION;
    if (done === 'create') {
      this.#line('login-change', about, operation, link);
      return name;
    }
    const more = endedOf(text, logins.get(place.id) ?? {});
    const { AuthMethod = '', AuthMethodNamespace = place.ns } = more;
    const method = methodId(AuthMethodNamespace, AuthMethod);
    this.#ended ??= new Map();
    this.#ended.set(method, (this.#ended.get(method) ?? 0) + 1);
    this.#line('login-change', { ...about, more }, operation, link);
    return name;
  }

  #many({ operation, ns, method, subject, count }: ManyTokens): void {
    const id = `${ns}/${method}`;
    const about = {
      type: 'login-tokens',
      ns,
      id,
      name: subject,
      more: count,
      after: null,
    } as const;
    this.#line('change', about, operation, NO_VERSION);
  }

  #line(
    ring: Ring,
    about: About & { readonly after: string | null },
    operation: string,
    link: Link,
    author: Author | null = this.#deed.author,
  ): void {
    const { index, bounds, chunks, recent } = this.#parts;
    if (hasLines(ring, bounds)) {
      const position = this.#position++;
      const { timeMs, reason } = this.#deed;
      const at = { index, position };
      const text = lineText(at, about, link, this.#deedOf(operation, author));
      chunks.add(this.#ledger, ring, { index, position, timeMs, text });
      recent.add(recentLine(ring, at, about, link, { operation, timeMs, author, reason }));
    } else if (ring === 'login-change' && operation !== 'create') {
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

  /** Returns the link of a change that only the server makes: the version stays in force. */
  #kept(subject: Subject, before: string | undefined): Link {
    if (before === undefined) return NO_VERSION;
    const { newest, index, bounds } = this.#parts;
    const kept = newest.of(this.#ledger, subject, modifyIndexOf(before));
    if (hasLines('change', bounds)) newest.note(subject, index, kept);
    return { was: kept.index, count: 0, mark: 0 };
  }

  /** Returns the link to the version that a change supersedes, with what it was. */
  #version(place: Place, { key, before, after }: Changed, ring: Ring = 'change'): Link {
    const { index, bounds, command, newest } = this.#parts;
    const ledger = this.#ledger;
    // What is in a namespace loses its versions with it.
    const isGone = command.type === 'namespace.reap' && place.type !== 'namespace';
    const isKept = bounds.Bytes > 0 && (before === undefined || bounds.VersionsPerObject > 0);
    const trace = before === undefined || after === undefined ? this.#trace(place) : NO_TRACE;
    if (isGone || !isKept) {
      if (!isGone && (before !== undefined || trace.gone > 0)) ledger.forget(index - 1);
      if (trace.gone > 0 || after === undefined) ledger.trace(place, NO_TRACE);
      return before === undefined
        ? { was: 0, count: 1, mark: 0 }
        : { was: NOT_KEPT, count: 0, mark: 0 };
    }
    const at = before === undefined ? trace.gone : modifyIndexOf(before);
    const superseded = at === 0 ? undefined : newest.of(ledger, { key, place }, at);
    const { index: was = 0, count = 0, mark = 0 } = superseded ?? {};
    const isMark = count > 0 && count % MARK_EVERY === 0;
    const made = { index, count: count + 1, mark: isMark ? was : mark };
    if (hasLines(ring, bounds)) newest.note({ key, place }, index, made);
    if (after === undefined) ledger.trace(place, { ...trace, gone: index });
    else if (trace.gone > 0) ledger.trace(place, { ...trace, gone: 0 });
    const content = before === undefined ? undefined : hiddenText(place, before);
    if (made.count > bounds.VersionsPerObject)
      ledger.floors.Excess = (ledger.floors.Excess ?? 0) + Buffer.byteLength(content ?? '');
    return { was, count: made.count, mark: made.mark, content };
  }

  #trace(place: Place): Trace {
    const { draft } = this.#ledger;
    return draft.mayHave?.(VERSION) === false ? NO_TRACE : traceOf(draft.get(traceKey(place)));
  }
}

const methodId = (ns: string, name: string): string => `${ns}/${name.toLowerCase()}`;

const NO_LOGINS: ReadonlyMap<string, EndedLogin> = new Map();

/** Returns whose the tokens were whose logins ended, and when that was revoked, by accessor. */
function loginsIn(changes: readonly Changed[], draft: Draft): ReadonlyMap<string, EndedLogin> {
  const ended = changes.filter(({ key, after }) => after === undefined && tableOf(key) === LOGINS);
  if (ended.length === 0) return NO_LOGINS;
  const logins = new Map<string, EndedLogin>();
  for (const { key, before = '' } of ended) {
    const [, Namespace = '', AuthMethod = '', , accessor = ''] = key.split('\u0000');
    const login = loggedIn(before);
    if (login.subject === undefined) continue;
    const method = { ns: Namespace, name: AuthMethod };
    logins.set(accessor, {
      identity: { AuthMethod, Namespace, Subject: login.subject },
      revokedAt: mayHaveBlocks(draft)
        ? revokedAt(draft, method, { subject: login.subject, before: login.before })
        : undefined,
    });
  }
  return logins;
}
