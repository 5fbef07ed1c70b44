/** The rights of one token, of whose changes a reader is told. */
import { keys } from '../../state/keys.js';
import { stored } from '../../state/lists.js';
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
  #touching: ReadonlySet<string> = NO_KEYS;

  constructor({ AccessorID, Namespace }: Pick<Token, 'AccessorID' | 'Namespace'>, isOwn: boolean) {
    this.accessor = AccessorID;
    this.ns = Namespace;
    this.isOwn = isOwn;
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
  }

  /** Notes that a key has changed. */
  changed(key: string): void {
    if (!this.restsOn.includes(key)) return;
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
    const before = this.restsOn;
    this.restsOn = isAlone ? [own] : [own, ...lifeKeys(token), ...rights!.dependsOn];
    this.#touching = new Set([...this.#touching, ...before, ...this.restsOn]);
    this.#isGone = isAlone;
    this.isStale = false;
    return undefined;
  }

  /** Whether an entry changed something on which the rights rest, or rested before. */
  isTouchedBy({ changes, isOfTokens }: EntryChanges): boolean {
    if (isOfTokens && this.isChanged) return true;
    return changes.some(({ stateKey }) => this.#touching.has(stateKey));
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
    this.#touching = NO_KEYS;
  }

  /** Returns the event of a change at an index. */
  eventAt(index: number): string {
    const Type = this.#isGone ? 'RightsEnded' : 'RightsChanged';
    this.#hasEnded = this.#isGone;
    return JSON.stringify({ Topic: 'Rights', Type, Key: this.accessor, Index: index });
  }
}
