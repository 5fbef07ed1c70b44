/**
 * Who a node is, kept in its data folder. The members of an initial cluster derive their ids from the list of members,
 * which they all have, so that each can write the same first configuration; a node that joins draws its id by lot.
 */
import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Configuration, NodeId } from '../raft/types.js';
import { StorageError } from '../storage/errors.js';
import { claimFolder, readSealed, writeSealed } from '../storage/folder.js';

export interface Identity {
  readonly v: 1;
  readonly nodeId: NodeId;
  /** Drawn when the data folder was made: a node whose disk was wiped comes back with another one. */
  readonly incarnation: string;
  /**
   * Set before the first batch of the log counts as stored: if the log is gone then, the votes are forgotten and the node
   * must not go on.
   */
  readonly begun: boolean;
  /** Null until the node is in a cluster. A recovered cluster gets a new one (see recover.ts). */
  readonly clusterId: string | null;
  /** Incarnations last seen of the other members. */
  readonly seen: Readonly<Record<NodeId, string>>;
}

/** The incarnations by which a node knows the members, itself included. */
export const introductions = (own: Identity): Identity['seen'] => ({
  ...own.seen,
  [own.nodeId]: own.incarnation,
});

/** What a node knows of the members once another has introduced them to it: its own acquaintance counts first. */
export function introduced(own: Identity, by: Identity['seen']): Identity['seen'] {
  return Object.fromEntries(
    Object.entries({ ...by, ...own.seen }).filter(([id]) => id !== own.nodeId),
  );
}

export interface InitialMember {
  readonly name: string;
  readonly address: string;
}

const FILE = 'node.json';

/** The identity in a data folder; undefined when there is none. Throws StorageError when it cannot be read. */
export async function readIdentity(dir: string): Promise<Identity | undefined> {
  const content = await readSealed(join(dir, FILE));
  if (content === undefined) return undefined;
  if (content['v'] === 1) return content as unknown as Identity;
  throw new StorageError('foreign', `${join(dir, FILE)} was written by another version`);
}

/** The same of a folder that this server may use: its own, or an empty one, which is made. */
export async function claimIdentity(dir: string): Promise<Identity | undefined> {
  await claimFolder(dir, FILE);
  return readIdentity(dir);
}

/** Writes it whole or not at all, synced. */
export function writeIdentity(dir: string, identity: Identity): Promise<void> {
  return writeSealed(join(dir, FILE), identity);
}

/** The identity of a new data folder: of a member of the initial cluster, or of a node that will join. */
export function newIdentity(name: string, initial: readonly InitialMember[]): Identity {
  const member = initialConfiguration(initial).members.find((each) => each.name === name);
  return {
    v: 1,
    nodeId: member?.id ?? randomUUID(),
    incarnation: randomUUID(),
    begun: false,
    clusterId: member === undefined ? null : initialClusterId(initial),
    seen: {},
  };
}

/** The first configuration, the same on every initial member. */
export function initialConfiguration(initial: readonly InitialMember[]): Configuration {
  const members = sorted(initial).map(({ name, address }) => ({
    ...{ id: derived(['node', name], initial), name, address, voter: true },
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
