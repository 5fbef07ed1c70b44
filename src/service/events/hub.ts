/**
 * The event streams of one node (beyond.md 6). Readers pull from the rings of the history at their
 * own speed. What has just been applied is parsed and rendered once for all of them:
 *
 *     apply     →  the keys that changed            which readers rest on them: Rights, the token
 *     process   →  the new lines of the rings       which readers have asked for them
 *     pump      →  a frame for each index           as the reader may see it now (`pieces.ts`)
 *
 * Without readers, nothing of this is done.
 */
import { HISTORY_FACT } from '../../state/history/settings.js';
import { recordOf } from '../../state/machine-record.js';
import { Slice } from '../common/event-loop.js';
import { Queue } from '../common/queue.js';
import { Dependants } from '../rights/dependants.js';
import {
  type EntryChanges,
  entriesAfter,
  type HubParts,
  type HubStream,
  isKeptFor,
} from './entries.js';
import { Pieces } from './pieces.js';

/** Changes that are kept parsed. Readers that are further behind read the rings. */
const TAIL_CHANGES = 8192;
/** So much longer than it served streams, the hub rests: what comes meanwhile is sent together. */
const REST = 4;
/** The same while that is no longer than `FEW_REST_MS`: the fewer streams, the less they cost. */
const FEW_REST = 24;
/** Milliseconds by which an event comes later than it could, while readers are few. */
const FEW_REST_MS = 100;
/** Entries that are read at once at the latest, before the machine forgets the newest lines. */
const CATCH_UP = 256;
/** Milliseconds between two looks at readers that get nothing. */
const TICK_MS = 1000;

/** The streams of a node. */
export class EventHub {
  readonly parts: HubParts;
  /** What streams share in one run. */
  readonly pieces = new Pieces(this);
  readonly #streams = new Set<HubStream>();
  /** Streams by the topics and objects that they ask for. */
  readonly #byItem = new Map<string, Set<HubStream>>();
  /** The ids of streams by the state keys on which they rest. */
  readonly #byKey = new Dependants();
  readonly #byId = new Map<string, HubStream>();
  readonly #queue = new Queue<HubStream>();
  /** Streams that the next run serves: what comes during a run is sent together after it. */
  readonly #touched = new Set<HubStream>();
  readonly #entries: EntryChanges[] = [];
  #kept = 0;
  /** The entries after this index are in memory. */
  #from = 0;
  /** The index up to which entries are in memory. */
  #latest = 0;
  /** The index up to which keys have changed. */
  #applied = 0;
  #isRunning = false;
  #isDue = false;
  /** When streams may be served again, by the clock of `performance.now`. */
  #restsUntilMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(parts: HubParts) {
    this.parts = parts;
  }

  /** The number of streams. */
  get size(): number {
    return this.#streams.size;
  }

  /** The index up to which streams can be served now. */
  get latest(): number {
    return this.#latest;
  }

  /** The entries after this index are in memory. */
  get from(): number {
    return this.#from;
  }

  /** Called by the machine in each apply with the keys that changed. */
  changed(keys: readonly string[]): void {
    if (this.#streams.size === 0) return;
    const after = this.#applied;
    this.#applied = recordOf(this.parts.view)?.index ?? 0;
    for (const key of keys) {
      for (const id of this.#byKey.of(key)) {
        const stream = this.#byId.get(id);
        if (stream === undefined) continue;
        stream.keyChanged(key, after);
        this.wake(stream);
      }
      if (key === HISTORY_FACT) this.#reread();
    }
    if (this.#applied - this.#latest >= CATCH_UP) this.catchUp();
    this.#due();
  }

  /** Called after the whole state was replaced. */
  reset(): void {
    for (const stream of this.#streams) stream.stateReplaced();
    this.#reread();
  }

  /** Lets streams go on in the rings, and ends those for which these are not kept any more. */
  #reread(): void {
    if (this.#streams.size === 0) return;
    for (const stream of [...this.#streams]) {
      if (isKeptFor(this.parts.view, stream)) this.wake(stream);
      else stream.end('stopping');
    }
    // only now: what idle streams have not seen begins where the rings were known up to
    this.#forget();
  }

  /** Ends every stream: the node stops. */
  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
    for (const stream of [...this.#streams]) stream.end('stopping');
  }

  add(stream: HubStream): void {
    if (this.#stopped || !isKeptFor(this.parts.view, stream)) {
      stream.end('stopping');
      return;
    }
    if (this.#streams.size === 0) {
      this.#forget();
      this.#timer = setInterval(() => this.#tick(), TICK_MS);
      this.#timer.unref();
    }
    this.#streams.add(stream);
    this.#byId.set(stream.id, stream);
    this.restOn(stream, [], stream.restsOn);
    for (const item of stream.items) {
      const same = this.#byItem.get(item);
      if (same === undefined) this.#byItem.set(item, new Set([stream]));
      else same.add(stream);
    }
    this.wake(stream);
  }

  remove(stream: HubStream): void {
    if (!this.#streams.delete(stream)) return;
    this.#byId.delete(stream.id);
    for (const item of stream.items) {
      const same = this.#byItem.get(item);
      same?.delete(stream);
      if (same?.size === 0) this.#byItem.delete(item);
    }
    this.restOn(stream, stream.restsOn, []);
    if (this.#streams.size === 0) clearInterval(this.#timer);
  }

  /** Notes on which keys a stream rests now. */
  restOn({ id }: HubStream, before: readonly string[], after: readonly string[]): void {
    this.#byKey.remove(id, before);
    this.#byKey.add(id, after);
  }

  /** Lets a stream look for what it has not sent yet, in a turn of its own. */
  wake(stream: HubStream): void {
    if (stream.isQueued || !this.#streams.has(stream)) return;
    stream.woken(this.#latest);
    stream.isQueued = true;
    this.#queue.add(stream);
    this.#due();
  }

  /** Returns the entries in memory after an index. */
  *after(index: number): Iterable<EntryChanges> {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#entries[middle]!.index <= index) low = middle + 1;
      else high = middle;
    }
    for (let at = low; at < this.#entries.length; at += 1) yield this.#entries[at]!;
  }

  /** Reads what has been applied since, which the next run sends to those who asked for it. */
  catchUp(): void {
    const { view, recent } = this.parts;
    const applied = recordOf(view)?.index ?? 0;
    if (applied === this.#latest) return;
    const touched = new Set<string>();
    for (const entry of entriesAfter(view, this.#latest, recent.after(this.#latest))) {
      this.#entries.push(entry);
      this.#kept += entry.changes.length;
      for (const { items } of entry.changes) for (const item of items) touched.add(item);
    }
    for (const item of touched) {
      for (const stream of this.#byItem.get(item) ?? []) {
        stream.woken(this.#latest);
        this.#touched.add(stream);
      }
    }
    if (this.#touched.size > 0) this.#due();
    this.#latest = applied;
    let dropped = 0;
    while (this.#kept > TAIL_CHANGES && dropped < this.#entries.length - 1) {
      const { index, changes } = this.#entries[dropped]!;
      this.#kept -= changes.length;
      this.#from = index;
      dropped += 1;
    }
    this.#entries.splice(0, dropped);
  }

  #forget(): void {
    this.#entries.length = 0;
    this.pieces.clear();
    this.#kept = 0;
    this.#latest = recordOf(this.parts.view)?.index ?? 0;
    this.#from = this.#latest;
    this.#applied = this.#latest;
  }

  #due(): void {
    this.#isDue = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    const restMs = this.#restsUntilMs - performance.now();
    if (restMs < 1) setImmediate(() => void this.#run());
    else setTimeout(() => void this.#run(), restMs);
  }

  /** Serves the streams that wait, in slices. */
  async #run(): Promise<void> {
    const slice = new Slice();
    let takenMs = 0;
    try {
      await slice.renew();
      let sinceMs = performance.now();
      const pause = async (): Promise<void> => {
        // connections are written to at the end of a turn, which is most of the work
        await new Promise<void>((resolve) => process.nextTick(resolve));
        takenMs += performance.now() - sinceMs;
      };
      this.catchUp();
      for (const stream of this.#touched) this.wake(stream);
      this.#touched.clear();
      this.#isDue = false;
      while (!this.#queue.isEmpty) {
        for (let stream = this.#queue.take(); stream !== undefined; stream = this.#queue.take()) {
          stream.isQueued = false;
          stream.pump();
          if (!slice.isOver) continue;
          await pause();
          await slice.renew();
          sinceMs = performance.now();
          this.catchUp();
        }
        // connections that take more wake their streams
        await pause();
        sinceMs = performance.now();
        this.catchUp();
      }
    } catch (error) {
      this.#isDue = false;
      this.parts.onFault(error);
    } finally {
      this.#isRunning = false;
      this.pieces.clear();
      this.#restsUntilMs = performance.now() + restMs(takenMs);
      if (this.#isDue) this.#due();
    }
  }

  #tick(): void {
    if (this.parts.isClosed()) {
      // its readers find another node
      for (const stream of [...this.#streams]) stream.end('stopping');
      return;
    }
    this.catchUp();
    const beganMs = performance.now();
    for (const stream of [...this.#streams]) stream.tick(beganMs);
  }
}

/** Returns for how long the hub rests after it served streams, in milliseconds. */
export const restMs = (takenMs: number): number =>
  Math.max(takenMs * REST, Math.min(takenMs * FEW_REST, FEW_REST_MS));
