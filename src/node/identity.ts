/**
 * The identity of a node, kept in its data folder. The members of an initial cluster derive their
 * ids from the list of members, which they all have, so that each can write the same first
 * configuration. A node that joins draws a random id.
 */
import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Configuration, NodeId } from '../raft/types.js';
import { type Identity, type IdentityPort, nextStart } from '../replica/members/identity.js';
import type { Disk } from '../storage/disk.js';
import { StorageError } from '../storage/errors.js';
import { LEVEL_DISK } from '../storage/level-disk.js';
import { readSealed, writeSealed } from '../storage/sealed-file.js';

/** A member of a new cluster. */
export interface InitialMember {
  readonly name: string;
  readonly address: string;
}

/** Where ids come from. Simulations have their own. */
export interface IdSource {
  /** The id of a member of a new cluster, the same on all of them. */
  initial(name: string, initial: readonly InitialMember[]): NodeId;
  /** The id of a server that is to join a cluster. */
  joining(): NodeId;
  /** The id of a data folder, or of a start. */
  random(): string;
}

/** The ids of real servers. */
export const IDS: IdSource = {
  initial: (name, initial) => derived(['node', name], initial),
  joining: randomUUID,
  random: randomUUID,
};

/** In the data folder from its first use on. */
export const IDENTITY_FILE = 'node.json';
/** The identity in a data folder; undefined when there is none. Throws StorageError when it cannot be read. */
export async function readIdentity(
  dir: string,
  disk: Disk = LEVEL_DISK,
): Promise<Identity | undefined> {
  const content = await readSealed(disk.folder(dir), IDENTITY_FILE);
  if (content === undefined) return undefined;
  // A folder of an earlier build names neither its starts nor removed servers.
  if (content['v'] === 2) {
    const present = content as unknown as Omit<Identity, 'earlier' | 'removed'>;
    return { earlier: [], removed: [], ...present };
  }
  if (content['v'] === 1) return withoutStarts(content as unknown as FirstIdentity);
  throw new StorageError('foreign', `${join(dir, IDENTITY_FILE)} was written by another version`);
}

/** What the first release wrote. */
interface FirstIdentity
  extends Omit<Identity, 'v' | 'starts' | 'startId' | 'earlier' | 'seen' | 'removed'> {
  readonly seen: Readonly<Record<NodeId, string>>;
}

/** Nothing was counted yet: every start that peers show is news. */
function withoutStarts(first: FirstIdentity): Identity {
  const nothing = { starts: 0, startId: '' };
  const earlier: string[] = [];
  const seen = Object.entries(first.seen).map(([id, incarnation]) => [
    id,
    { incarnation, ...nothing },
  ]);
  return { ...first, v: 2, ...nothing, earlier, seen: Object.fromEntries(seen), removed: [] };
}

/** The same of a folder that this server may use: its own, or an empty one, which is made. */
export async function claimIdentity(
  dir: string,
  disk: Disk = LEVEL_DISK,
): Promise<Identity | undefined> {
  await disk.claim(dir, IDENTITY_FILE);
  return readIdentity(dir, disk);
}

/** Writes it whole or not at all, synced. */
export function writeIdentity(
  dir: string,
  identity: Identity,
  disk: Disk = LEVEL_DISK,
): Promise<void> {
  return writeSealed(disk.folder(dir), IDENTITY_FILE, identity);
}

/**
 * Counts a start, durably: before the server says anything. Only the one who holds the folder's databases open may count.
 */
export async function countStart(
  dir: string,
  identity: Identity,
  { disk, ids }: { readonly disk: Disk; readonly ids: IdSource },
): Promise<Identity> {
  const counted = nextStart(identity, ids.random());
  await writeIdentity(dir, counted, disk);
  return counted;
}

/** The identity of a running node. A change shows at once; changes are written in order. */
export class StoredIdentity implements IdentityPort {
  #identity: Identity;
  #saving: Promise<void> = Promise.resolve();
  readonly #write: (identity: Identity) => Promise<void>;
  readonly #onFatal: (error: Error) => void;

  /** `onFatal` is called when a write fails. */
  constructor(
    identity: Identity,
    write: (identity: Identity) => Promise<void>,
    onFatal: (error: Error) => void,
  ) {
    this.#identity = identity;
    this.#write = write;
    this.#onFatal = onFatal;
  }

  get(): Identity {
    return this.#identity;
  }

  /** Resolves once the change is durable, or has failed. */
  save(change: Partial<Identity>): Promise<void> {
    this.#identity = { ...this.#identity, ...change };
    const save = (): Promise<void> => this.#write(this.#identity);
    this.#saving = this.#saving.then(save).catch(this.#onFatal);
    return this.#saving;
  }

  /** Resolves once all changes are written. */
  settled(): Promise<void> {
    return this.#saving;
  }
}

/** The identity of a new data folder: of a member of the initial cluster, or of a node that will join. */
export function newIdentity(
  name: string,
  initial: readonly InitialMember[],
  ids: IdSource,
): Identity {
  const member = initialConfiguration(initial, ids).members.find((each) => each.name === name);
  return {
    v: 2,
    nodeId: member?.id ?? ids.joining(),
    incarnation: ids.random(),
    begun: false,
    ...{ starts: 0, startId: '', earlier: [] },
    clusterId: member === undefined ? null : initialClusterId(initial),
    seen: {},
    removed: [],
  };
}

/** The first configuration, the same on every initial member. */
export function initialConfiguration(
  initial: readonly InitialMember[],
  ids: IdSource,
): Configuration {
  const members = sorted(initial).map(({ name, address }) => ({
    ...{ id: ids.initial(name, initial), name, address, voter: true },
  }));
  return { members };
}

export const initialClusterId = (initial: readonly InitialMember[]): string =>
  derived(['cluster'], initial);

const sorted = (initial: readonly InitialMember[]): InitialMember[] =>
  [...initial].sort((a, b) => (a.name < b.name ? -1 : 1));

/** A UUID (version 8, RFC 9562) from the list of members. */
export function derived(what: readonly unknown[], initial: readonly InitialMember[]): string {
  const list = sorted(initial).map((member) => [member.name, member.address]);
  const hex = createHash('sha256')
    .update(JSON.stringify([what, list]))
    .digest('hex');
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
