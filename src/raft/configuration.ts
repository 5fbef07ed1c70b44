/**
 * The servers that form the cluster. A configuration takes effect when it is appended (§4.1). If it
 * is truncated, the previous one takes effect again.
 */
import type { Configuration, Entry, Index, LogView, NodeId, SnapshotMeta } from './types.js';

const NONE: Configuration = { members: [] };
/** Bytes read at a time when a start searches the log for configurations. */
const SCAN_BYTES = 1 << 20;

interface Placed {
  readonly index: Index;
  readonly configuration: Configuration;
}

/**
 * The configurations that are in force or may be again: the last committed one and all that follow.
 */
export class Configurations {
  /** Ids of the voters of the configuration in force. */
  voters: readonly NodeId[] = [];
  #placed: Placed[];

  constructor(view: LogView) {
    const meta = view.snapshot();
    this.#placed = [
      { index: meta?.index ?? 0, configuration: meta?.configuration ?? NONE },
      ...configurationsIn(view),
    ];
    this.#changed();
  }

  get current(): Configuration {
    return this.#placed.at(-1)!.configuration;
  }

  /** Index of the configuration in force, or of the snapshot that contains it. */
  get index(): Index {
    return this.#placed.at(-1)!.index;
  }

  isVoter(id: NodeId): boolean {
    return this.voters.includes(id);
  }

  /** Whether the server is the only voter. */
  isLoneVoter(id: NodeId): boolean {
    return this.voters.length === 1 && this.voters[0] === id;
  }

  /**
   * Whether the server may start elections: it is a voter in the last committed configuration or in
   * a later one. A server that has appended its own removal may be the only one whose log is up to
   * date enough to win (§4.2.2).
   */
  mayCampaign(id: NodeId): boolean {
    return this.#placed.some(({ configuration: { members } }) =>
      members.some((member) => member.id === id && member.voter),
    );
  }

  append(index: Index, configuration: Configuration): void {
    this.#placed.push({ index, configuration });
    this.#changed();
  }

  /** Drops configurations from `index` on. Returns true if another one is in force now. */
  truncate(index: Index): boolean {
    if (this.index < index) return false;
    while (this.#placed.length > 1 && this.index >= index) this.#placed.pop();
    this.#changed();
    return true;
  }

  restart(meta: SnapshotMeta): void {
    this.#placed = [{ index: meta.index, configuration: meta.configuration }];
    this.#changed();
  }

  /**
   * Drops the configurations before the last committed one: nothing can fall back behind that.
   * Returns true if there were any.
   */
  settle(commit: Index): boolean {
    let settled = false;
    while (this.#placed.length > 1 && this.#placed[1]!.index <= commit) {
      this.#placed.shift();
      settled = true;
    }
    return settled;
  }

  #changed(): void {
    this.voters = this.current.members.filter((member) => member.voter).map((member) => member.id);
  }
}

/**
 * Whether `after` may follow `before`: exactly one member is added, removed or changed, and at
 * least one voter remains (§4.1).
 */
export function isSingleChange(before: Configuration, after: Configuration): boolean {
  const ids = new Set(after.members.map((member) => member.id));
  if (ids.size !== after.members.length || ids.has('')) return false;
  if (!after.members.some((member) => member.voter)) return false;
  const old = new Map(before.members.map((member) => [member.id, member]));
  let changes = before.members.filter((member) => !ids.has(member.id)).length;
  for (const member of after.members) {
    const was = old.get(member.id);
    const moved =
      was !== undefined &&
      (['name', 'address', 'publicKey'] as const).some((key) => was[key] !== member[key]);
    const turned = was !== undefined && was.voter !== member.voter;
    // A promotion or demotion must not change anything else.
    if (moved && turned) return false;
    if (was === undefined || moved || turned) changes++;
  }
  return changes === 1;
}

function configurationsIn(view: LogView): Placed[] {
  const found: Placed[] = [];
  const last = view.lastIndex();
  for (let from = view.firstIndex(); from <= last; ) {
    const entries: Entry[] = view.entries(from, last, SCAN_BYTES);
    if (entries.length === 0) break;
    for (const entry of entries) {
      if (entry.kind !== 'configuration') continue;
      found.push({ index: entry.index, configuration: entry.configuration });
    }
    from += entries.length;
  }
  return found;
}
