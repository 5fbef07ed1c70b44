/**
 * One reader of events. It goes through the indexes in order, and sends what it may see of each. It
 * holds nothing but its place: while its connection takes no more, it stands still.
 */
import type { Authorizer } from '../../acl/types.js';
import { UNKNOWN_TOKEN } from '../../base/errors.js';
import { keys } from '../../state/keys.js';
import { restoredAt } from '../../state/restore.js';
import { expiryOf, isAlive, lifeKeys } from '../../state/tokens.js';
import type { View } from '../../state/types.js';
import { ownToken } from '../explain/subject.js';
import { type EntryChanges, entriesAfter, forgottenTo, type HubStream } from './entries.js';
import type { EventHub } from './hub.js';
import {
  changeData,
  eventsOf,
  frameTexts,
  PIECE_BYTES,
  type Selection,
  selectionId,
} from './pieces.js';
import type { RightsWatch } from './rights-watch.js';
import type { TopicFilter } from './topics.js';

/** Where the frames of a stream go. */
export interface EventSink {
  /** Takes a part. Returns whether it takes more at once; otherwise `drained` is called. */
  write(part: string | Uint8Array): boolean;
  /** Ends the response. */
  end(): void;
  /** Closes the connection without an end. */
  cut(): void;
}

/** What a reader asks for. */
export interface EventQuery extends Selection {
  readonly filter: TopicFilter;
  /** The index after which it begins. */
  readonly after: number;
}

/** Indexes, and milliseconds, after which a reader without a frame is told how far it is. */
const PROGRESS_INDEXES = 1000;
const PROGRESS_MS = 15_000;
/** Changes in one step of a reader that reads the rings. */
const STEP_CHANGES = 64;

/** The number of streams so far. */
let made = 0;
/** Characters that are written at once of frames that no other reader shares. */
const PIECE_CHARS = 16_384;

/** A stream. The hub calls `pump` whenever there may be something to send. */
export class EventStream implements HubStream {
  readonly id: string;
  readonly items: ReadonlySet<string>;
  readonly logins: boolean;
  isQueued = false;
  restsOn: readonly string[] = [];
  readonly #hub: EventHub;
  readonly #query: EventQuery;
  readonly #sink: EventSink;
  readonly #watches: readonly RightsWatch[];
  /** By what it shares its frames with other readers; undefined if it watches rights. */
  readonly #selectionId: string | undefined;
  #own: readonly string[] = [];
  /** When its token expires, in Unix milliseconds. */
  #expiresMs = Number.POSITIVE_INFINITY;
  #isLifeDue = true;
  /** Everything up to this index is sent. */
  #at: number;
  /** The index of the last frame, and when that was. */
  #sent: number;
  #sentMs = performance.now();
  /** Whether the reader is told how far it is if there is nothing else to send. */
  #isProgressDue = false;
  /** The frames of a turn that are not written yet: together they cost as much as one. */
  #piece = '';
  /** What is left of long frames, which the connection did not take at once. */
  #left: (string | Uint8Array)[] = [];
  /** When the connection stopped taking more; undefined while it takes. */
  #blockedMs: number | undefined;
  /** Since when this node has not applied what the reader has. */
  #aheadMs: number | undefined;
  /** Whether rights are being compiled, after which it goes on. */
  #isWaiting = false;
  /** Whether it has all that there is, so that it is told of whatever comes. */
  #isIdle = false;
  /** Whether it has once had all that there was. */
  #hasBegun = false;
  #isOver = false;

  constructor(hub: EventHub, query: EventQuery, watches: readonly RightsWatch[], sink: EventSink) {
    made += 1;
    this.id = String(made);
    this.#hub = hub;
    this.#query = query;
    this.#sink = sink;
    this.#watches = watches;
    this.items = query.filter.items;
    this.logins = query.logins;
    this.#selectionId = watches.length === 0 ? selectionId(query) : undefined;
    this.restsOn = watches.flatMap(({ restsOn }) => restsOn);
    this.#at = query.after;
    this.#sent = query.after;
  }

  keyChanged(key: string, after: number): void {
    if (this.#own.includes(key)) this.#isLifeDue = true;
    for (const watch of this.#watches) watch.changed(key, after);
  }

  stateReplaced(): void {
    this.#isLifeDue = true;
    for (const watch of this.#watches) {
      watch.isChanged = true;
      watch.isStale = true;
    }
  }

  /** The connection takes more. */
  drained(): void {
    this.#blockedMs = undefined;
    this.#hub.wake(this);
  }

  /** The connection is closed. */
  closed(): void {
    this.#isOver = true;
    this.#hub.remove(this);
  }

  end(Reason: string): void {
    if (this.#isOver) return;
    this.closed();
    // what is half sent cannot be ended by another frame
    this.#flush();
    if (this.#left.length > 0) {
      this.#sink.cut();
      return;
    }
    this.#sink.write(`event: end\ndata: ${JSON.stringify({ Reason })}\n\n`);
    this.#sink.end();
  }

  woken(index: number): void {
    if (this.#isIdle) this.#at = Math.max(this.#at, index);
    this.#isIdle = false;
  }

  pump(): void {
    if (this.#isOver || this.#isWaiting || !this.#flush()) return;
    this.#send();
    this.#flush();
  }

  /** Makes the frames of all that there is, until the connection takes no more. */
  #send(): void {
    if (this.#isLifeDue && !this.#isAlive()) return;
    if (!this.#isReady() || this.#skips()) return;
    const { latest } = this.#hub;
    const isFar = this.#at < this.#hub.from;
    const isShared = !isFar && this.#selectionId !== undefined;
    if (!(isShared ? this.#sendShared(this.#selectionId) : this.#sendOwn(isFar))) return;
    this.#at = latest;
    this.#hasBegun = true;
    const events = this.#missed(latest);
    this.#isIdle = this.#sendChanges(latest, events) && this.#sendProgress(latest);
  }

  /** Sends the frames that it shares with others. Returns whether it has come to the end. */
  #sendShared(id: string): boolean {
    while (this.#at < this.#hub.latest) {
      const authorizer = this.#authorizer();
      if (authorizer === undefined) return false;
      const { bytes, last, to } = this.#hub.pieces.after(this.#at, id, this.#query, authorizer);
      this.#at = to;
      if (last === 0) continue;
      if (this.#piece !== '') this.#cutPiece();
      for (let from = 0; from < bytes.length; from += PIECE_BYTES)
        this.#left.push(bytes.subarray(from, from + PIECE_BYTES));
      if (!this.#sentUpTo(last)) return false;
    }
    return true;
  }

  /** Sends frames that are made for it alone. Returns whether it has come to the end. */
  #sendOwn(isFar: boolean): boolean {
    let left = STEP_CHANGES;
    const entries = isFar ? entriesAfter(this.#view, this.#at) : this.#hub.after(this.#at);
    for (const entry of entries) {
      if (isFar && left <= 0) {
        this.#hub.wake(this);
        return false;
      }
      left -= entry.changes.length;
      if (!this.#entry(entry, isFar)) return false;
    }
    return true;
  }

  tick(nowMs: number): void {
    const { parts, latest } = this.#hub;
    if (this.#blockedMs !== undefined) {
      if (nowMs - this.#blockedMs < parts.stallMs) return;
      this.closed();
      this.#sink.cut();
      return;
    }
    if (this.isQueued || this.#isWaiting) return;
    if (parts.nowMs() >= this.#expiresMs) this.#isLifeDue = true;
    if (this.#isLifeDue || this.#aheadMs !== undefined) {
      this.#hub.wake(this);
      return;
    }
    const isDue = nowMs - this.#sentMs >= PROGRESS_MS || latest - this.#sent >= PROGRESS_INDEXES;
    if (!isDue) return;
    this.#isProgressDue = true;
    this.#hub.wake(this);
  }

  get #view(): View {
    return this.#hub.parts.view;
  }

  /** Ends the stream if its token is gone. */
  #isAlive(): boolean {
    const { nowMs, view } = this.#hub.parts;
    const { tokenKey } = this.#query;
    const token = ownToken(view, { tokenKey });
    if (tokenKey !== null && (token === undefined || !isAlive(view, token, nowMs()))) {
      const ended = this.#watches.filter(({ isOwn, isOver }) => isOwn && !isOver);
      for (const watch of ended) void watch.refresh(this.#hub.parts);
      const index = this.#hub.latest;
      const events = ended.map((watch) => watch.eventAt(index));
      if (this.#sendChanges(index, events)) this.end(UNKNOWN_TOKEN.message);
      else {
        this.closed();
        this.#sink.cut();
      }
      return false;
    }
    this.#own = token === undefined ? [] : [keys.token(token.Namespace, token.AccessorID)];
    if (token !== undefined) this.#own = [...this.#own, ...lifeKeys(token)];
    this.#expiresMs = (token && expiryOf(token)) ?? Number.POSITIVE_INFINITY;
    this.#isLifeDue = false;
    this.#rest();
    return true;
  }

  /** Looks up on what rights rest, and what the reader may see. Returns whether that is known. */
  #isReady(): boolean {
    const { parts } = this.#hub;
    let hasMoved = false;
    for (const watch of this.#watches) {
      if (!watch.isStale) continue;
      const compiling = watch.refresh(parts);
      if (compiling !== undefined) return this.#await(compiling);
      hasMoved = true;
    }
    if (hasMoved) this.#rest();
    const hasNews = this.#at < this.#hub.latest || this.#watches.some((each) => each.isChanged);
    const preparing =
      hasNews && this.#needsRights ? parts.authorizers.prepare(this.#query.tokenKey) : undefined;
    return preparing === undefined || this.#await(preparing);
  }

  #await(promise: Promise<void>): false {
    this.#isWaiting = true;
    const go = (): void => {
      this.#isWaiting = false;
      this.#hub.wake(this);
    };
    promise.then(go, go);
    return false;
  }

  get #needsRights(): boolean {
    return this.items.size > 0 || this.#watches.some(({ isOwn }) => !isOwn);
  }

  /** Notes on which keys it rests. */
  #rest(): void {
    const before = this.restsOn;
    this.restsOn = [...this.#own, ...this.#watches.flatMap(({ restsOn }) => restsOn)];
    this.#hub.restOn(this, before, this.restsOn);
  }

  /** Goes to the next index that is known, if the reader's is not. Returns whether it waits. */
  #skips(): boolean {
    const { latest, from, parts } = this.#hub;
    if (this.#at > latest) {
      this.#aheadMs ??= performance.now();
      if (performance.now() - this.#aheadMs < parts.aheadMs) return true;
      this.#aheadMs = undefined;
      return !this.#gap(latest, 'ahead');
    }
    this.#aheadMs = undefined;
    if (this.#at >= from) return false;
    const restored = restoredAt(this.#view);
    if (this.#at < restored && !this.#gap(restored, 'restored')) return true;
    const forgotten = forgottenTo(this.#view, this.#at, this.logins);
    if (forgotten <= this.#at) return false;
    return !this.#gap(forgotten, this.#hasBegun ? 'slow' : 'forgotten');
  }

  #gap(To: number, Reason: string): boolean {
    const gap = JSON.stringify({ From: this.#at, To, Reason });
    this.#at = To;
    for (const watch of this.#watches) watch.told();
    return this.#sendFrame('gap', To, [gap]);
  }

  /** Sends what the reader sees of an entry. Returns whether the connection takes more. */
  #entry(entry: EntryChanges, isFar: boolean): boolean {
    const { index } = entry;
    const authorizer = this.#needsRights ? this.#authorizer() : undefined;
    if (this.#needsRights && authorizer === undefined) return false;
    this.#at = index;
    const events = authorizer === undefined ? [] : eventsOf(entry, this.#query, authorizer);
    for (const watch of this.#watches) {
      const isTouched = isFar ? watch.mayBeTouchedBy(entry) : watch.isTouchedBy(entry);
      if (watch.isOver || !isTouched || !this.#maySee(watch)) continue;
      const isLast = index >= this.#hub.latest;
      events.push(watch.eventAt(index, isLast || watch.mayEndBy(entry)));
      watch.isChanged = watch.isGone && !watch.isOver;
    }
    return events.length === 0 || this.#sendChanges(index, events);
  }

  /** Returns what decides what it may see; undefined, and it looks why, if its token is gone. */
  #authorizer(): Authorizer | undefined {
    const authorizer = this.#hub.parts.authorizers.of(this.#query.tokenKey);
    if (authorizer !== undefined) return authorizer;
    this.#isLifeDue = true;
    this.#hub.wake(this);
    return undefined;
  }

  #maySee({ isOwn, ns }: RightsWatch): boolean {
    if (isOwn) return true;
    const authorizer = this.#hub.parts.authorizers.of(this.#query.tokenKey);
    return authorizer?.allowed('acl', 'read', undefined, ns) === true;
  }

  /** Returns the events of changes of rights that no line of the history tells. */
  #missed(index: number): string[] {
    const events: string[] = [];
    for (const watch of this.#watches) {
      const isMissed = watch.isChanged && !watch.isOver && this.#maySee(watch);
      if (isMissed) events.push(watch.eventAt(index));
      watch.told();
    }
    return events;
  }

  #sendChanges(index: number, events: readonly string[]): boolean {
    return events.length === 0 || this.#sendFrame('change', index, changeData(index, events));
  }

  #sendProgress(Index: number): boolean {
    return !this.#isProgressDue || this.#sendFrame('progress', Index, [JSON.stringify({ Index })]);
  }

  #sendFrame(event: string, index: number, data: readonly string[]): boolean {
    for (const text of frameTexts(event, index, data)) {
      if (this.#piece !== '' && this.#piece.length + text.length > PIECE_CHARS) this.#cutPiece();
      this.#piece += text;
    }
    return this.#sentUpTo(index);
  }

  /** Notes the last frame. Returns whether the connection takes more. */
  #sentUpTo(index: number): boolean {
    this.#isProgressDue = false;
    this.#sent = index;
    this.#sentMs = performance.now();
    return this.#left.length === 0 || this.#writeLeft();
  }

  #cutPiece(): void {
    this.#left.push(this.#piece);
    this.#piece = '';
  }

  /** Writes the frames that wait. Returns whether the connection takes more. */
  #flush(): boolean {
    if (this.#piece !== '') this.#cutPiece();
    return this.#writeLeft();
  }

  #writeLeft(): boolean {
    while (this.#blockedMs === undefined && this.#left.length > 0) {
      if (!this.#sink.write(this.#left.shift()!)) this.#blockedMs = performance.now();
    }
    return this.#blockedMs === undefined;
  }
}
