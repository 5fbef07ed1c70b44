/** The rights of one token, of whose changes a reader is told. */
import { keys } from '../../state/keys.js';
import { stored } from '../../state/lists.js';
import { recordOf } from '../../state/machine-record.js';
import { isAlive, lifeKeys, type Token } from '../../state/tokens.js';
import type { EntryChanges, HubParts } from './entries.js';

/** Types of objects on which the rights of any token may rest. */
const GRANTING = new Set(['ACLPolicy', 'ACLRole', 'Namespace', 'ACLAuthMethod']);

const NO_KEYS: ReadonlySet<string> = new Set();

/** Watches one token. */
export class RightsWatch {
  readonly accessor: string;
  readonly ns: string;
  /** Whether it is the token of the reader, whose rights it may always see. */
  readonly isOwn: boolean;
  /** The keys on which its rights rest. */
  restsOn: readonly string[] = [];
  /** Whether one of these keys has changed since the reader was told. */
  isChanged = false;
  /** Whether the keys have to be looked up. */
  isStale = true;
  #isGone = false;
  #hasEnded = false;
  /** The keys on which its rights rested before, since the reader was told. */
  #rested: ReadonlySet<string> = NO_KEYS;
  #rests: ReadonlySet<string> = NO_KEYS;
  /** The index up to which the keys of before were all that counted. */
  #changedAfter = 0;
  /** The index up to which the keys were not known when it changed something. */
  #unknownTo = 0;

  constructor({ AccessorID, Namespace }: Pick<Token, 'AccessorID' | 'Namespace'>, isOwn: boolean) {
    this.accessor = AccessorID;
    this.ns = Namespace;
    this.isOwn = isOwn;
  }

  /** Whether the token is gone, by now. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Whether there is nothing more to tell. */
  get isOver(): boolean {
    return this.#hasEnded;
  }

  /**
   * Looks up the keys at the place where the stream begins, as far as that takes no time. What
   * changes until its first turn is found by them, and the keys then are looked up again.
   */
  begin(parts: HubParts): void {
    void this.refresh(parts);
    this.isStale = true;
    if (this.restsOn.length === 0) this.#unknownTo = Number.MAX_SAFE_INTEGER;
  }

  /** Notes that a key has changed in an entry after an index. */
  changed(key: string, after: number): void {
    if (!this.#rests.has(key)) return;
    if (!this.isChanged) this.#changedAfter = after;
    this.isChanged = true;
    this.isStale = true;
  }

  /**
   * Looks up the keys on which the rights rest now. Returns a promise while they are compiled,
   * after which this is called again.
   */
  refresh({ view, authorizers, nowMs }: HubParts): Promise<void> | undefined {
    const own = keys.token(this.ns, this.accessor);
    const token = stored<Token>(view, own);
    const isAlone = token === undefined || !isAlive(view, token, nowMs());
    const rights = isAlone ? undefined : authorizers.rightsOf(token);
    if (rights instanceof Promise) return rights;
    if (this.#unknownTo === Number.MAX_SAFE_INTEGER) this.#unknownTo = recordOf(view)?.index ?? 0;
    this.#rested = new Set([...this.#rested, ...this.#rests]);
    this.restsOn = isAlone ? [own] : [own, ...lifeKeys(token), ...rights!.dependsOn];
    this.#rests = new Set(this.restsOn);
    this.#isGone = isAlone;
    this.isStale = false;
    return undefined;
  }

  /** Whether an entry changed something on which the rights rest, or rested before. */
  isTouchedBy(entry: EntryChanges): boolean {
    const { index, changes, isOfTokens } = entry;
    if (index <= this.#unknownTo) return this.mayBeTouchedBy(entry);
    if (isOfTokens && this.isChanged) return true;
    const mayBeNew = index > this.#changedAfter;
    return changes.some(
      ({ stateKey }) => this.#rested.has(stateKey) || (mayBeNew && this.#rests.has(stateKey)),
    );
  }

  /** Whether an entry from before this was watched may have changed the rights. */
  mayBeTouchedBy({ changes, isOfTokens }: EntryChanges): boolean {
    const own = keys.token(this.ns, this.accessor);
    return (
      isOfTokens || changes.some(({ topic, stateKey }) => GRANTING.has(topic) || stateKey === own)
    );
  }

  /** Notes that the reader knows all that has happened. */
  told(): void {
    this.isChanged = false;
    this.#rested = NO_KEYS;
  }

  /** Whether an entry may be the one by which a token that is gone ended. */
  mayEndBy({ changes, isOfTokens }: EntryChanges): boolean {
    const own = keys.token(this.ns, this.accessor);
    return isOfTokens || changes.some(({ stateKey }) => stateKey === own);
  }

  /** Returns the event of a change at an index, by which the token may have ended. */
  eventAt(index: number, mayEnd = true): string {
    this.#hasEnded = this.#isGone && mayEnd;
    const Type = this.#hasEnded ? 'RightsEnded' : 'RightsChanged';
    return JSON.stringify({ Topic: 'Rights', Type, Key: this.accessor, Index: index });
  }
}
