/**
 * The identity of a node, stored in its data folder. The initial members of a cluster derive their
 * ids from the list of members, so that each of them writes the same first configuration. A node
 * that joins a cluster draws a random id.
 */
import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { IDENTITY_FILE } from '../base/data-folder.js';
import type { KeyPair } from '../base/peer-record.js';
import type { Configuration, NodeId } from '../raft/types.js';
import { type Identity, type IdentityPort, nextStart } from '../replica/members/identity.js';
import type { Disk } from '../storage/disk.js';
import { StorageError } from '../storage/errors.js';
import { LEVEL_DISK } from '../storage/level-disk.js';
import { readSealed, writeSealed } from '../storage/sealed-file.js';
import { newKeyPair } from '../transport/proof.js';

/** A member of a new cluster. */
export interface InitialMember {
  readonly name: string;
  readonly address: string;
}

/** The source of ids and keys. Simulations have their own. */
export interface IdSource {
  /** Returns the id of a member of a new cluster, the same on every member. */
  initial(name: string, initial: readonly InitialMember[]): NodeId;
  /** Returns the id of a server that will join a cluster. */
  joining(): NodeId;
  /** Returns the id of a data folder, or of a start. */
  random(): string;
  keyPair(): KeyPair;
}

/** The source of ids outside simulations. */
export const IDS: IdSource = {
  initial: (name, initial) => derived(['node', name], initial),
  joining: randomUUID,
  random: randomUUID,
  keyPair: newKeyPair,
};

/**
 * Returns the identity in a data folder; undefined if there is none. Rejects with StorageError if
 * it cannot be read.
 */
export async function readIdentity(
  dir: string,
  disk: Disk = LEVEL_DISK,
): Promise<Identity | undefined> {
  const content = await readSealed(disk.folder(dir), IDENTITY_FILE);
  if (content === undefined) return undefined;
  if (content['v'] === 2) return content as unknown as Identity;
  const what = content['v'] === 1 ? 'release 0.1, which this one cannot read' : 'another version';
  throw new StorageError('foreign', `${join(dir, IDENTITY_FILE)} was written by ${what}`);
}

/**
 * Returns the identity in a data folder, as `readIdentity` does. Creates a missing folder. Rejects
 * with StorageError if the folder contains something else.
 */
export async function claimIdentity(
  dir: string,
  disk: Disk = LEVEL_DISK,
): Promise<Identity | undefined> {
  await disk.claim(dir, IDENTITY_FILE);
  return readIdentity(dir, disk);
}

/** Writes an identity atomically and durably. */
export function writeIdentity(
  dir: string,
  identity: Identity,
  disk: Disk = LEVEL_DISK,
): Promise<void> {
  return writeSealed(disk.folder(dir), IDENTITY_FILE, identity);
}

/**
 * Counts a start, durably, and returns the new identity. The first start draws the key pair; so
 * does the first one of this release on a folder of an older one. The caller must hold the
 * databases of the folder open, and must count before it sends anything.
 */
export async function countStart(
  dir: string,
  identity: Identity,
  { disk, ids }: { readonly disk: Disk; readonly ids: IdSource },
): Promise<Identity> {
  const { keyPair = ids.keyPair() } = identity;
  const counted = nextStart({ ...identity, keyPair }, ids.random());
  await writeIdentity(dir, counted, disk);
  return counted;
}

/** The identity of a running node. A change is visible at once. Changes are written in order. */
export class StoredIdentity implements IdentityPort {
  #identity: Identity;
  #saving: Promise<void> = Promise.resolve();
  readonly #write: (identity: Identity) => Promise<void>;
  readonly #onFatal: (error: Error) => void;

  /** Calls `onFatal` if a write fails. */
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

  /** Changes the identity. Resolves once the change is durable or its write has failed. */
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

/** Returns the identity of a new data folder, of an initial member or of a node that will join. */
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
    starts: 0,
    startId: '',
    earlier: [],
    clusterId: member === undefined ? null : initialClusterId(initial),
    seen: {},
    removed: [],
  };
}

/** Returns the first configuration, the same on every initial member. */
export function initialConfiguration(
  initial: readonly InitialMember[],
  ids: IdSource,
): Configuration {
  const members = sorted(initial).map(({ name, address }) => ({
    id: ids.initial(name, initial),
    name,
    address,
    voter: true,
  }));
  return { members };
}

/** Returns the id of a new cluster, the same on every initial member. */
export const initialClusterId = (initial: readonly InitialMember[]): string =>
  derived(['cluster'], initial);

const sorted = (initial: readonly InitialMember[]): InitialMember[] =>
  [...initial].sort((a, b) => (a.name < b.name ? -1 : 1));

/** Derives a UUID (version 8, RFC 9562) from `what` and a list of members. */
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
