/**
 * Clients that decide by cached rights, with the libraries of both languages. A cache that calls
 * itself fresh must not allow what was taken more than `FRESH_MS` before (decisions.md 8, P2), and
 * no cache must allow it after `STALE_MS`.
 */
import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRights } from '../../clients/typescript/src/cache.js';

/** The caches of one token in each library: 100 while each of the clients follows a token. */
const CACHES = 25;
const FRESH_MS = 4_000;
const STALE_MS = 6_000;
/** Between two looks, in milliseconds. */
const LOOK_MS = 20;
/** How long caches may take to hear of a new token, before it is taken away all the same. */
const READY_MS = 3_000;
const GO_MODULE = 'clients/go';

/** The numbers of what was judged. */
export interface CacheCounts {
  /** Caches that allowed something before it was taken, by their library. */
  readonly allowed: { [library: string]: number };
  /** The longest time that a fresh cache allowed what was taken, in milliseconds. */
  worstMs: number;
}

/** How many caches of a token allow what it could do, by whether they call themselves fresh. */
interface Look {
  readonly fresh: number;
  readonly others: number;
}

/** The caches of one token in one library. */
interface Followed {
  look(service: string): Promise<Look>;
  close(): void;
}

/** A token, and the service that it may write. */
export interface FollowedToken {
  readonly name: string;
  readonly secret: string;
}

/** Caches of tokens, in all libraries that there are. */
export class Caches {
  readonly counts: CacheCounts = { allowed: {}, worstMs: 0 };
  readonly #urls: readonly string[];
  readonly #go: GoCaches | undefined;

  /** `dir`: where the Go program is built. */
  constructor(urls: readonly string[], dir: string) {
    this.#urls = urls;
    this.#go = GoCaches.start(urls, dir);
  }

  /** Follows a token until all caches allow what it may, if they come to it in time. */
  async follow(token: FollowedToken): Promise<FollowedCaches> {
    const libraries = [['typescript', this.#inThisProcess(token)] as const];
    const go = this.#go?.follow(token);
    const all = go === undefined ? libraries : [...libraries, ['go', go] as const];
    for (const [library, followed] of all) {
      const untilMs = performance.now() + READY_MS;
      let look = await followed.look(token.name);
      while (look.fresh < CACHES && performance.now() < untilMs) {
        await sleep(LOOK_MS);
        look = await followed.look(token.name);
      }
      this.counts.allowed[library] = (this.counts.allowed[library] ?? 0) + look.fresh;
    }
    return new FollowedCaches(token.name, all, this.counts);
  }

  close(): void {
    this.#go?.close();
  }

  #inThisProcess({ secret }: FollowedToken): Followed {
    const options = {
      addresses: this.#urls,
      token: secret,
      freshFor: FRESH_MS,
      maxStale: STALE_MS,
    };
    const caches = Array.from({ length: CACHES }, () => openRights(options));
    return {
      async look(service) {
        const allowing = caches
          .map((cache) => [cache.state(), cache.can('service', 'write', service)] as const)
          .filter(([, isAllowed]) => isAllowed);
        const fresh = allowing.filter(([state]) => state === 'fresh').length;
        return { fresh, others: allowing.length - fresh };
      },
      close: () => {
        for (const cache of caches) cache.close();
      },
    };
  }
}

/** The caches of one token. */
class FollowedCaches {
  readonly #name: string;
  readonly #all: readonly (readonly [library: string, followed: Followed])[];
  readonly #counts: CacheCounts;

  constructor(
    name: string,
    all: readonly (readonly [library: string, followed: Followed])[],
    counts: CacheCounts,
  ) {
    this.#name = name;
    this.#all = all;
    this.#counts = counts;
  }

  /**
   * Looks until no cache allows what was taken. Returns what is wrong, one sentence for each
   * library. `takenMs`: when that was acknowledged.
   */
  async judge(takenMs: number): Promise<readonly string[]> {
    const wrong = await Promise.all(
      this.#all.map(([library, followed]) => this.#judge(library, followed, takenMs)),
    );
    return wrong.filter((sentence) => sentence !== undefined);
  }

  async #judge(library: string, followed: Followed, takenMs: number): Promise<string | undefined> {
    for (;;) {
      const ageMs = performance.now() - takenMs;
      const { fresh, others } = await followed.look(this.#name);
      if (fresh + others === 0) return undefined;
      if (fresh > 0) this.#counts.worstMs = Math.max(this.#counts.worstMs, Math.round(ageMs));
      const isTooLong = ageMs > STALE_MS || (fresh > 0 && ageMs > FRESH_MS);
      if (isTooLong)
        return (
          `${fresh} fresh caches and ${others} others of ${library} allow ${this.#name} ` +
          `${Math.round(ageMs)} ms after it was taken`
        );
      await sleep(LOOK_MS);
    }
  }

  close(): void {
    for (const [, followed] of this.#all) followed.close();
  }
}

/** The Go library, in a process of its own that answers each line with one line. */
class GoCaches {
  readonly #urls: readonly string[];
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: Interface;
  readonly #waiting: ((line: string) => void)[] = [];
  #made = 0;

  constructor(urls: readonly string[], program: string) {
    this.#urls = urls;
    this.#process = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface(this.#process.stdout);
    this.#lines.on('line', (line) => this.#waiting.shift()?.(line));
  }

  /** Builds and starts the program. Returns undefined where there is no Go. */
  static start(urls: readonly string[], dir: string): GoCaches | undefined {
    const program = join(dir, 'follow');
    const build = ['build', '-o', program, './internal/follow'];
    const { error, status } = spawnSync('go', build, { cwd: GO_MODULE, stdio: 'inherit' });
    if (error !== undefined) {
      console.log('no go was found in PATH: there are no caches of the Go library');
      return undefined;
    }
    if (status !== 0) throw new Error('the Go program does not build');
    return new GoCaches(urls, program);
  }

  follow({ secret }: FollowedToken): Followed {
    const id = String(this.#made++);
    const words = [CACHES, FRESH_MS, STALE_MS, secret, this.#urls.join(',')];
    void this.#ask(`open ${id} ${words.join(' ')}`);
    return {
      look: async (service) => {
        const [fresh, others] = (await this.#ask(`look ${id} ${service}`)).split(' ').map(Number);
        return { fresh: fresh!, others: others! };
      },
      close: () => void this.#ask(`close ${id}`),
    };
  }

  close(): void {
    this.#process.stdin.end();
  }

  #ask(line: string): Promise<string> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#process.stdin.write(`${line}\n`);
    });
  }
}
