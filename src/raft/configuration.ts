/** Which servers form the cluster: in force when appended (§4.1), back to the one before when truncated. */
import type { Configuration, Entry, Index, LogView, NodeId, SnapshotMeta } from './types.js';

const NONE: Configuration = { members: [] };
/** Bytes read at a time when the log is searched for configurations at start. */
const SCAN_BYTES = 1 << 20;

interface Placed {
  readonly index: Index;
  readonly configuration: Configuration;
}

/** The configurations that may still come into force or back: the last committed one and all after it. */
export class Configurations {
  /** Ids of the voters in force. */
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

  /** Where the configuration in force stands in the log (or the snapshot that brought it). */
  get index(): Index {
    return this.#placed.at(-1)!.index;
  }

  isVoter(id: NodeId): boolean {
    return this.voters.includes(id);
  }

  append(index: Index, configuration: Configuration): void {
    this.#placed.push({ index, configuration });
    this.#changed();
  }

  /** Entries from `index` on are gone; true when another configuration is in force now. */
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

  /** What is committed stays: only the last committed configuration is needed to fall back to. */
  settle(commit: Index): void {
    while (this.#placed.length > 1 && this.#placed[1]!.index <= commit) this.#placed.shift();
  }

  #changed(): void {
    this.voters = this.current.members.filter((member) => member.voter).map((member) => member.id);
  }
}

/** Whether `after` may follow `before`: one member added, removed or altered, and a voter is left (§4.1). */
export function isSingleChange(before: Configuration, after: Configuration): boolean {
  const ids = new Set(after.members.map((member) => member.id));
  if (ids.size !== after.members.length || ids.has('')) return false;
  if (!after.members.some((member) => member.voter)) return false;
  const old = new Map(before.members.map((member) => [member.id, member]));
  let changes = before.members.filter((member) => !ids.has(member.id)).length;
  for (const member of after.members) {
    const was = old.get(member.id);
    const moved = was !== undefined && (was.name !== member.name || was.address !== member.address);
    const turned = was !== undefined && was.voter !== member.voter;
    // A promotion or demotion says that and nothing else.
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
