/** Snapshots and restores while everything else goes on: as operations on all registers at once. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { readArchive } from '../../src/storage/archive.js';
import type { Operation, Sweep, Value } from '../checker/history.js';
import type { Random } from '../checker/random.js';
import { Connection } from './client.js';
import { tokenKey } from './workload.js';

/**
 * Above everything that a restore may take in the server: an attempt without an answer is over by
 * then.
 */
const ANSWER_MS = 30_000;
const STATE_BYTES = 2 ** 30;
const KEPT = 4;
/** So long a restore is tried again; then the cluster does not recover. */
const RESTORE_MS = 180_000;

/** What one archive holds. */
interface Archive {
  readonly bytes: Buffer;
  readonly index: number;
  /** The registers, by name. */
  readonly values: ReadonlyMap<string, Value>;
  /** Of all records that members must agree on. */
  readonly digest: string;
}

export interface ArchiveCounts {
  saved: number;
  /** Not given, by a node that could not. */
  notSaved: number;
  restored: number;
  /** Attempts without effect, and with an unknown one; each was tried again. */
  restoreFailed: number;
  restoreUnknown: number;
}

export class Archivist {
  readonly sweeps: Sweep[] = [];
  readonly counts: ArchiveCounts = {
    ...{ saved: 0, notSaved: 0, restored: 0, restoreFailed: 0, restoreUnknown: 0 },
  };
  readonly #connections: readonly Connection[];
  readonly #random: Random;
  readonly #note: (text: string) => void;
  readonly #kept: Archive[] = [];

  constructor(urls: readonly string[], token: string, random: Random, note: (t: string) => void) {
    this.#connections = urls.map((url) => new Connection(url, token, ANSWER_MS));
    this.#random = random;
    this.#note = note;
  }

  /**
   * Saves now and then, and restores what was saved before. The last restore that was begun is
   * brought to its end.
   */
  async run(untilMs: number): Promise<void> {
    const random = this.#random;
    while (performance.now() < untilMs) {
      await sleep(Math.min(random.between(3_000, 15_000), untilMs - performance.now()));
      const archive = await this.#save(random.pick(this.#connections), '');
      if (archive) this.#kept.push(archive);
      if (this.#kept.length > KEPT) this.#kept.shift();
      if (this.#kept.length > 0 && random.chance(0.4)) await this.#restore(random.pick(this.#kept));
    }
  }

  /**
   * Reads all registers through each node, and compares the whole state of the nodes. Gives the
   * index at which all are the same. Throws if a node does not answer, or if they are not the same
   * after a while.
   */
  async compare(): Promise<number> {
    for (const connection of this.#connections)
      if (!(await this.#save(connection, ''))) throw new Error(`no archive from ${connection.url}`);
    let said = '';
    for (let tries = 0; tries < 60; tries++) {
      const archives = await Promise.all(
        this.#connections.map((connection) => fetchArchive(connection, '?stale')),
      );
      const [first] = archives;
      said = archives.map((archive) => `${archive?.index} ${archive?.digest}`).join(', ');
      if (first && archives.every((archive) => archive?.index === first.index)) {
        if (archives.every((archive) => archive?.digest === first.digest)) return first.index;
        throw new Error(`the nodes differ at one index: ${said}`);
      }
      await sleep(500);
    }
    throw new Error(`the nodes do not come to one index: ${said}`);
  }

  /** What the archives showed and restored, of the tokens only those that clients followed. */
  sweepsOf(history: readonly Operation[]): Sweep[] {
    const followed = new Set(history.map(({ key }) => key));
    const counts = ([key]: readonly [string, Value]): boolean =>
      followed.has(key) || !key.startsWith(tokenKey(''));
    return this.sweeps.map((sweep) => ({
      ...sweep,
      values: new Map([...sweep.values].filter(counts)),
    }));
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }

  async #save(connection: Connection, query: string): Promise<Archive | undefined> {
    const call = performance.now();
    const archive = await fetchArchive(connection, query);
    this.counts[archive ? 'saved' : 'notSaved']++;
    if (archive)
      this.sweeps.push({
        ...{ client: 'archive', type: 'read', call, return: performance.now(), outcome: 'ok' },
        values: archive.values,
      });
    return archive;
  }

  /**
   * Tries until it is acknowledged; what an attempt before left open can take effect until then,
   * and no longer.
   */
  async #restore({ bytes, values, index }: Archive): Promise<void> {
    const open: (Omit<Sweep, 'return' | 'outcome'> & { client: string })[] = [];
    const until = performance.now() + RESTORE_MS;
    for (;;) {
      const call = performance.now();
      const connection = this.#random.pick(this.#connections);
      const { outcome } = await connection.change('PUT', '/v1/snapshot', bytes);
      const sweep = { client: 'restore', type: 'write', call, values } as const;
      if (outcome === 'ok') {
        const end = performance.now();
        this.counts.restored++;
        this.#note(`restored the archive of index ${index}`);
        this.sweeps.push({ ...sweep, return: end, outcome });
        for (const attempt of open)
          this.sweeps.push({ ...attempt, return: end, until: end, outcome: 'unknown' });
        return;
      }
      this.counts[outcome === 'fail' ? 'restoreFailed' : 'restoreUnknown']++;
      if (outcome === 'unknown') open.push(sweep);
      if (call > until) {
        for (const attempt of open)
          this.sweeps.push({ ...attempt, return: call, outcome: 'unknown' });
        throw new Error(`no restore succeeds for ${RESTORE_MS / 1000} s`);
      }
      await sleep(this.#random.between(300, 1500));
    }
  }
}

/** Undefined if there is no whole archive. */
async function fetchArchive(connection: Connection, query: string): Promise<Archive | undefined> {
  const reply = await connection.ask('GET', `/v1/snapshot${query}`);
  if ('why' in reply || reply.status !== 200) return undefined;
  const values = new Map<string, Value>();
  const hash = createHash('sha256');
  const take = async (records: readonly (readonly [string, string])[]): Promise<void> => {
    for (const [key, value] of records) {
      const [table, ...parts] = key.split('\u0000');
      if (table !== 'local') hash.update(`${key}\n${value}\n`);
      const accessor = parts[1];
      if (table === 'token' && accessor !== undefined) values.set(tokenKey(accessor), accessor);
      if (table !== 'config' || parts[1] !== 'service-defaults') continue;
      const { Name, Meta } = JSON.parse(value) as { Name: string; Meta?: { value?: string } };
      values.set(Name, Meta?.value ?? null);
    }
  };
  try {
    const source = Readable.from([reply.body]);
    const { meta } = await readArchive(source, { stateBytes: STATE_BYTES }, take);
    return { bytes: reply.body, index: meta.Index, values, digest: hash.digest('hex') };
  } catch {
    // cut off: the node ended in the middle of it
    return undefined;
  }
}
