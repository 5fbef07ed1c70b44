/** The process, its disk and its files. */
import { readdir, readFile, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { byLabel, counter, type Family, gauge } from './families.js';

/** Bytes of a block, the unit in which a file system counts what a file occupies. */
const BLOCK_BYTES = 512;
/** Folders of the data folder whose size is shown. */
const PARTS = ['log', 'state'];

/** What a look at the disk found. What cannot be read is absent. */
interface Found {
  readonly disk?: { readonly freeBytes: number; readonly sizeBytes: number };
  readonly data: readonly (readonly [part: string, bytes: number])[];
  readonly openFiles?: number;
  readonly openFilesMax?: number;
}

/**
 * The figures that have to be asked of the file system. They are those of the last look, and each
 * reading begins the next one: a disk that hangs delays no scrape.
 */
export class MachineFigures {
  readonly #dataDir: string;
  readonly #reserveBytes: number;
  #found: Found = { data: [] };
  #looking: Promise<void> | undefined;

  constructor(dataDir: string, reserveBytes: number) {
    this.#dataDir = dataDir;
    this.#reserveBytes = reserveBytes;
  }

  /** Looks at the disk, unless a look is under way. Resolves at its end. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Free bytes of the disk at the last look; undefined if they could not be read. */
  get freeBytes(): number | undefined {
    return this.#found.disk?.freeBytes;
  }

  /** Returns the figures of the last look, and begins another one. */
  families(): readonly Family[] {
    void this.look();
    const { disk, data, openFiles, openFilesMax } = this.#found;
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed } = process.memoryUsage();
    const since = performance.timeOrigin / 1000;
    const optional = (value: number | undefined) => (value === undefined ? [] : value);
    return [
      counter('process_cpu_seconds_total', 'CPU time used', (user + system) / 1e6),
      gauge('process_resident_memory_bytes', 'resident memory', rss),
      gauge('process_start_time_seconds', 'when the process started, in Unix time', since),
      gauge('process_open_fds', 'open file descriptors', optional(openFiles)),
      gauge('process_max_fds', 'maximum number of open file descriptors', optional(openFilesMax)),
      gauge('nodejs_heap_size_used_bytes', 'JavaScript heap in use', heapUsed),
      gauge(
        'conclave_disk_free_bytes',
        'free space of the file system of the data folder',
        optional(disk?.freeBytes),
      ),
      gauge(
        'conclave_disk_size_bytes',
        'size of the file system of the data folder',
        optional(disk?.sizeBytes),
      ),
      gauge(
        'conclave_disk_reserve_bytes',
        'free space below which only deletes are accepted (limits.diskReserveBytes)',
        this.#reserveBytes,
      ),
      gauge('conclave_data_bytes', 'space that the data folder occupies', byLabel('part', data)),
    ];
  }

  async #look(): Promise<void> {
    const disk = await orNothing(async () => {
      const { bavail, blocks, bsize } = await statfs(this.#dataDir);
      return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
    });
    const openFiles = await orNothing(async () => (await readdir('/proc/self/fd')).length);
    const openFilesMax = await orNothing(readMaxFiles);
    const data: [string, number][] = [];
    for (const part of PARTS) {
      const bytes = await orNothing(() => folderBytes(join(this.#dataDir, part)));
      if (bytes !== undefined) data.push([part, bytes]);
    }
    this.#found = {
      data,
      ...(disk !== undefined && { disk }),
      ...(openFiles !== undefined && { openFiles }),
      ...(openFilesMax !== undefined && { openFilesMax }),
    };
  }
}

async function orNothing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch {
    return undefined;
  }
}

/** Returns the bytes that files occupy, one after the other: other work needs the threads too. */
async function folderBytes(dir: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(dir)) {
    // LevelDB may have removed the file meanwhile.
    const file = await stat(join(dir, name)).catch(() => undefined);
    bytes += (file?.blocks ?? 0) * BLOCK_BYTES;
  }
  return bytes;
}

/** Returns the limit of open files on Linux; undefined if there is none. */
export async function readMaxFiles(): Promise<number | undefined> {
  const limits = await readFile('/proc/self/limits', 'utf8');
  const found = /^Max open files +(\d+)/m.exec(limits);
  return found === null ? undefined : Number(found[1]);
}
