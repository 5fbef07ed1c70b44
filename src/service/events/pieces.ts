/**
 * Frames of changes as bytes. Readers that ask for the same with the same token, and stand at the
 * same place, are sent the same piece, which is made once for all of them:
 *
 *     ask, rights, place   →   one frame for each entry from there on, up to 64 KiB
 *
 * Rights are the object that enforcement decides by: another one, and the piece is made anew.
 */
import { hash } from 'node:crypto';
import type { Authorizer } from '../../acl/types.js';
import type { EventForm, ObjectChange } from './changes.js';
import type { EntryChanges } from './entries.js';
import type { TopicFilter } from './topics.js';

/** Which changes of objects a reader asks for, and how. */
export interface Selection extends EventForm {
  readonly tokenKey: string | null;
  readonly filter: Pick<TopicFilter, 'items'>;
  /** A namespace, or `*`. */
  readonly ns: string;
  /** Whether the tokens of logins are among them. */
  readonly logins: boolean;
}

/** Bytes that are written to a connection at once. A piece is longer only if one frame is. */
export const PIECE_BYTES = 65_536;
/** Bytes of pieces in memory, beyond which they are made again: readers may ask for much. */
const PIECES_BYTES = 4 * 2 ** 20;

/** Frames of some entries in a row. */
interface Piece {
  readonly authorizer: Authorizer;
  readonly bytes: Buffer;
  /** The index of the last frame; 0 if there is none. */
  readonly last: number;
  /** Everything up to this index is in it. */
  readonly to: number;
}

/** Entries from which pieces are made. */
interface Entries {
  readonly latest: number;
  after(index: number): Iterable<EntryChanges>;
}

/** The pieces of one run of the hub. */
export class Pieces {
  readonly #entries: Entries;
  readonly #kept = new Map<string, Piece>();
  #bytes = 0;

  constructor(entries: Entries) {
    this.#entries = entries;
  }

  clear(): void {
    if (this.#kept.size > 0) this.#kept.clear();
    this.#bytes = 0;
  }

  /** Returns what follows an index. `id` is that of the selection. */
  after(index: number, id: string, selection: Selection, authorizer: Authorizer): Piece {
    const key = `${id} ${index}`;
    const known = this.#kept.get(key);
    if (known?.authorizer === authorizer) return known;
    const piece = this.#made(index, selection, authorizer);
    if (this.#bytes + piece.bytes.length > PIECES_BYTES) this.clear();
    this.#bytes += piece.bytes.length;
    this.#kept.set(key, piece);
    return piece;
  }

  #made(index: number, selection: Selection, authorizer: Authorizer): Piece {
    const { latest } = this.#entries;
    let [text, bytes, last, to] = ['', 0, 0, index];
    const piece = (end: number): Piece => ({
      authorizer,
      bytes: Buffer.from(text),
      last,
      to: end,
    });
    for (const entry of this.#entries.after(index)) {
      const events = eventsOf(entry, selection, authorizer);
      if (events.length > 0) {
        const frame = frameTexts('change', entry.index, changeData(entry.index, events)).join('');
        bytes += Buffer.byteLength(frame);
        if (bytes > PIECE_BYTES && last > 0) return piece(to);
        text += frame;
        last = entry.index;
      }
      to = entry.index;
    }
    return piece(latest);
  }
}

/** Returns a text that is the same for selections that are the same. */
export function selectionId({ tokenKey, filter, ns, hasPayload, logins }: Selection): string {
  const items = [...filter.items].sort();
  return hash('sha256', JSON.stringify([tokenKey, ns, hasPayload, logins, items]));
}

/** Returns the events of an entry as JSON, in the order of plans, as a reader may see them. */
export function eventsOf(
  { changes }: EntryChanges,
  selection: Selection,
  authorizer: Authorizer,
): string[] {
  const events: string[] = [];
  const wanted = changes.filter((change) => isWanted(change, selection));
  for (const change of wanted.sort((a, b) => a.order - b.order)) {
    const text = change.textFor(authorizer, selection);
    if (text !== undefined) events.push(text);
  }
  return events;
}

function isWanted(change: ObjectChange, { filter, ns, logins }: Selection): boolean {
  if (change.isOfLogin && !logins) return false;
  return change.isIn(ns) && change.items.some((item) => filter.items.has(item));
}

/** Returns the data of a frame of changes, in parts. */
export const changeData = (index: number, events: readonly string[]): string[] => {
  const texts = events.map((text, at) => (at === 0 ? text : `,${text}`));
  return [`{"Index":${index},"Events":[`, ...texts, ']}'];
};

/** Returns a frame, in parts. */
export const frameTexts = (event: string, index: number, data: readonly string[]): string[] => [
  `id: ${index}\nevent: ${event}\ndata: `,
  ...data,
  '\n\n',
];
