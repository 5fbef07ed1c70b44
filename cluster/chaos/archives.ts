/** Snapshots and restores under load, recorded as operations on all registers at once (sweeps). */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { readArchive } from '../../src/storage/archive.js';
import type { Operation, Sweep, Value } from '../checker/history.js';
import type { Random } from '../checker/random.js';
import { Connection } from './client.js';
import { tokenKey } from './workload.js';

/** Longer than any restore may take on the server, so that an attempt without an answer is over. */
const ANSWER_MS = 30_000;
/** Maximum state of an archive. */
const STATE_BYTES = 2 ** 30;
/** Number of archives kept for restores. */
const ARCHIVES_MAX = 4;
/** Time in which a restore must succeed; otherwise the cluster does not recover. */
const RESTORE_MS = 180_000;

/** An archive and its content. */
interface Archive {
  readonly bytes: Buffer;
  readonly index: number;
  /** The registers, by name. */
  readonly values: ReadonlyMap<string, Value>;
  /** Digest of all records that must be equal on all members. */
  readonly digest: string;
}

/** The numbers of snapshots and restores. */
export interface ArchiveCounts {
  saved: number;
  /** Snapshots that a node refused or did not complete. */
  notSaved: number;
  restored: number;
  /** Attempts without effect, and of unknown outcome. Each was retried. */
  restoreFailed: number;
  restoreUnknown: number;
}

/** A client that saves and restores snapshots, and compares the state of the nodes. */
export class ArchiveClient {
  readonly sweeps: Sweep[] = [];
  readonly counts: ArchiveCounts = {
    saved: 0,
    notSaved: 0,
    restored: 0,
    restoreFailed: 0,
    restoreUnknown: 0,
  };
  readonly #connections: readonly Connection[];
  readonly #random: Random;
  readonly #note: (text: string) => void;
  readonly #archives: Archive[] = [];
  #isRestoring = false;
  #restoredMs = Number.NEGATIVE_INFINITY;

  constructor(urls: readonly string[], token: string, random: Random, note: (t: string) => void) {
    this.#connections = urls.map((url) => new Connection(url, token, ANSWER_MS));
    this.#random = random;
    this.#note = note;
  }

  /**
   * Saves snapshots and restores earlier ones until `untilMs` of `performance.now()`. Completes the
   * restore that runs then.
   */
  async run(untilMs: number): Promise<void> {
    const random = this.#random;
    while (performance.now() < untilMs) {
      await sleep(Math.min(random.between(3_000, 15_000), untilMs - performance.now()));
      const archive = await this.#save(random.pick(this.#connections), '');
      if (archive) this.#archives.push(archive);
      if (this.#archives.length > ARCHIVES_MAX) this.#archives.shift();
      if (this.#archives.length > 0 && random.chance(0.4))
        await this.#restore(random.pick(this.#archives));
    }
  }

  /**
   * Reads all registers through each node and compares the states of the nodes. Returns the index
   * at which they are equal. Throws if a node does not answer, if states differ at one index, or if
   * the nodes do not reach the same index.
   */
  async compare(): Promise<number> {
    for (const connection of this.#connections)
      if (!(await this.#save(connection, ''))) throw new Error(`no archive from ${connection.url}`);
    let digests = '';
    for (let tries = 0; tries < 60; tries++) {
      const archives = await Promise.all(
        this.#connections.map((connection) => fetchArchive(connection, '?stale')),
      );
      const [first] = archives;
      digests = archives.map((archive) => `${archive?.index} ${archive?.digest}`).join(', ');
      if (first && archives.every((archive) => archive?.index === first.index)) {
        if (archives.every((archive) => archive?.digest === first.digest)) return first.index;
        throw new Error(`the states differ at the same index: ${digests}`);
      }
      await sleep(500);
    }
    throw new Error(`the nodes do not reach the same index: ${digests}`);
  }

  /** Returns the sweeps, with only those tokens that the history contains. */
  sweepsOf(history: readonly Operation[]): Sweep[] {
    const followed = new Set(history.map(({ key }) => key));
    const isKnown = ([key]: readonly [string, Value]): boolean =>
      followed.has(key) || !key.startsWith(tokenKey(''));
    return this.sweeps.map((sweep) => ({
      ...sweep,
      values: new Map([...sweep.values].filter(isKnown)),
    }));
  }

  /** Whether a restore ran at some time since `sinceMs` of `performance.now()`. */
  restoredSince(sinceMs: number): boolean {
    return this.#isRestoring || this.#restoredMs >= sinceMs;
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
        client: 'archive',
        type: 'read',
        call,
        return: performance.now(),
        outcome: 'ok',
        values: archive.values,
      });
    return archive;
  }

  /**
   * Retries a restore until it is acknowledged. Earlier attempts of unknown outcome can take effect
   * until then, and no longer.
   */
  async #restore(archive: Archive): Promise<void> {
    this.#isRestoring = true;
    await this.#attempt(archive);
    // A failed restore may take effect at any time: it stays one that runs, and the run fails.
    this.#isRestoring = false;
    this.#restoredMs = performance.now();
  }

  async #attempt({ bytes, values, index }: Archive): Promise<void> {
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
        this.#note(`restored the snapshot of index ${index}`);
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
        throw new Error(`no restore succeeded for ${RESTORE_MS / 1000} s`);
      }
      await sleep(this.#random.between(300, 1500));
    }
  }
}

/** Fetches a snapshot. Returns undefined if the answer is not a complete archive. */
async function fetchArchive(connection: Connection, query: string): Promise<Archive | undefined> {
  const reply = await connection.send('GET', `/v1/snapshot${query}`);
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
    // The answer was cut off, because the node ended.
    return undefined;
  }
}
