/**
 * A node's data folder: who the node is, and where its databases are.
 *
 *   identity.json      format, node id, cluster id, incarnation (random, made with the folder)
 *   peers.json         the incarnation last seen of each other node
 *   log/  state/       the databases; their locks make sure that one process at a time uses them
 */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { StorageError } from './errors.js';

const FORMAT = 1;

export interface NodeIdentity {
  readonly nodeId: string;
  /** Null until the node has made or joined a cluster. */
  readonly clusterId: string | null;
  readonly incarnation: string;
}

/** Opens the folder of a node, or makes it. `nodeId` names the node when it is new, else it must be the same. */
export async function openDataFolder(
  dir: string,
  options: { nodeId?: string },
): Promise<DataFolder> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, 'identity.json');
  let identity = await readSealed<NodeIdentity>(path);
  if (identity === undefined) {
    const others = (await readdir(dir)).filter(
      (name) => name !== 'lost+found' && !name.endsWith('.tmp'),
    );
    if (others.length > 0) {
      throw new StorageError(
        'foreign',
        `${dir} holds other files (${others[0]}) and no identity.json: it is not a data folder of this server. ` +
          'Configure an empty folder',
      );
    }
    identity = {
      nodeId: options.nodeId ?? randomUUID(),
      clusterId: null,
      incarnation: randomUUID(),
    };
    await writeSealed(path, identity);
  }
  if (options.nodeId !== undefined && options.nodeId !== identity.nodeId) {
    throw new StorageError(
      'foreign',
      `${dir} belongs to node "${identity.nodeId}", but this node is configured as "${options.nodeId}"`,
    );
  }
  await chmod(dir, 0o700);
  const peers = (await readSealed<Record<string, string>>(join(dir, 'peers.json'))) ?? {};
  return new DataFolder(dir, identity, new Map(Object.entries(peers)));
}

export class DataFolder {
  readonly dir: string;
  readonly logDir: string;
  readonly stateDir: string;
  private current: NodeIdentity;
  private readonly known: Map<string, string>;
  private writing: Promise<void> = Promise.resolve();

  constructor(dir: string, identity: NodeIdentity, known: Map<string, string>) {
    this.dir = dir;
    this.logDir = join(dir, 'log');
    this.stateDir = join(dir, 'state');
    this.current = identity;
    this.known = known;
  }

  get identity(): NodeIdentity {
    return this.current;
  }

  /** Keeps the cluster this node belongs to from now on. It cannot be changed. */
  async setClusterId(clusterId: string): Promise<void> {
    if (this.current.clusterId === clusterId) return;
    if (this.current.clusterId !== null) {
      throw new StorageError(
        'foreign',
        `${this.dir} belongs to cluster "${this.current.clusterId}" and cannot join "${clusterId}"`,
      );
    }
    this.current = { ...this.current, clusterId };
    await this.write('identity.json', () => this.current);
  }

  /** What the wire asks and tells about other nodes' incarnations. */
  readonly incarnations = {
    get: (id: string): string | undefined => this.known.get(id),
    set: (id: string, incarnation: string): void => {
      this.known.set(id, incarnation);
      void this.write('peers.json', () => Object.fromEntries(this.known));
    },
    /** After a node was removed from the cluster: it may be added again with a new disk. */
    forget: (id: string): void => {
      if (this.known.delete(id))
        void this.write('peers.json', () => Object.fromEntries(this.known));
    },
  };

  /** Resolves when everything told is on disk. */
  async close(): Promise<void> {
    await this.writing;
  }

  private write(name: string, content: () => unknown): Promise<void> {
    this.writing = this.writing.then(() => writeSealed(join(this.dir, name), content()));
    return this.writing;
  }
}

interface Sealed {
  readonly format: number;
  readonly content: unknown;
  readonly crc32: number;
}

async function readSealed<T>(path: string): Promise<T | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new StorageError('failed', `${path} cannot be read: ${error.message}`, error);
  });
  if (text === undefined) return undefined;
  let sealed: Sealed | undefined;
  try {
    sealed = JSON.parse(text) as Sealed;
  } catch {
    sealed = undefined;
  }
  if (sealed?.format !== FORMAT && Number.isSafeInteger(sealed?.format)) {
    throw new StorageError('foreign', `${path} has format ${sealed?.format}; this version knows 1`);
  }
  if (sealed?.crc32 !== crc32(JSON.stringify(sealed?.content) ?? '')) {
    throw new StorageError('damaged', `${path} is damaged: its checksum does not match`);
  }
  return sealed.content as T;
}

/** Replaces a file as a whole: after a crash it is the old one or the new one. */
async function writeSealed(path: string, content: unknown): Promise<void> {
  const sealed: Sealed = { format: FORMAT, content, crc32: crc32(JSON.stringify(content)) };
  const temporary = `${path}.tmp`;
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(sealed, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
