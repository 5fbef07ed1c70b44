/**
 * Who a node is, kept in its data folder. The members of an initial cluster derive their ids from the list of members,
 * which they all have, so that each can write the same first configuration; a node that joins draws its id by lot.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Configuration, NodeId } from '../raft/types.js';

export interface Identity {
  readonly v: 1;
  readonly nodeId: NodeId;
  /** Drawn when the data folder was made: a node whose disk was wiped comes back with another one. */
  readonly incarnation: string;
  /** Set once the log was begun: if it is gone then, the votes are forgotten and the node must not go on. */
  readonly begun: boolean;
  /** Null until the node is in a cluster. A recovered cluster gets a new one (see recover.ts). */
  readonly clusterId: string | null;
  /** Incarnations last seen of the other members. */
  readonly seen: Readonly<Record<NodeId, string>>;
}

export interface InitialMember {
  readonly name: string;
  readonly address: string;
}

const FILE = 'node.json';

/** The identity in a data folder; undefined when there is none. Throws when it cannot be read. */
export async function readIdentity(dir: string): Promise<Identity | undefined> {
  let text: string;
  try {
    text = await readFile(join(dir, FILE), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const identity = parse(text);
  if (identity === undefined) {
    throw new Error(
      `${join(dir, FILE)} is damaged or of another version; it says who this server is`,
    );
  }
  return identity;
}

function parse(text: string): Identity | undefined {
  try {
    const value = JSON.parse(text) as Identity | null;
    return value?.v === 1 && typeof value.nodeId === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Writes it whole or not at all, synced. */
export async function writeIdentity(dir: string, identity: Identity): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, FILE);
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(JSON.stringify(identity, undefined, 2) + '\n');
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  const folder = await open(dir, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
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
