/** `migrate --watch`: writes what changes at the source until it is interrupted. */
import { setMaxListeners } from 'node:events';
import { rename, writeFile } from 'node:fs/promises';
import { refusedWith } from '../../migrate/source/asking.js';
import { SourceError } from '../../migrate/source/types.js';
import type { Call } from '../cli.js';
import { WAIT } from '../client/watch.js';
import { CliError, EXIT } from '../print/error.js';
import { counted } from '../print/text.js';
import type { Migration, Written } from './migration.js';
import { HEARD_OF_OURS } from './of-ours.js';
import type { MigrateOptions } from './options.js';
import { Others } from './others.js';
import type { Round } from './round.js';
import type { Way } from './source-connection.js';

/** The pause between two lines that say the same. */
const MINUTE_MS = 60_000;
/** The pause after a failure. */
const LOST_MS = 1000;
/** An answer that comes sooner was not held. */
const HELD_MS = 500;
/** Lists that are held at once: more are polled. */
const HELD_MAX = 128;

/** What follows a source. */
export interface FollowParts {
  readonly call: Call<MigrateOptions>;
  readonly migration: Migration;
  readonly source: Way;
  /** The round that was written before. */
  readonly first: Round;
  /** The exit code of it. */
  readonly exit: number;
  /** The pause between two lines that say the same: a minute by default. */
  readonly everyMs?: number;
}

/** Follows a source until the user interrupts it. */
export class Follower {
  readonly #parts: FollowParts;
  #round: Round;
  /** The lists that are listened to. */
  readonly #heard = new Set<string>();
  readonly #conflicts = new Set<string>();
  readonly #others: Others;
  #hasOthers = false;
  /** When the first change was heard that is not written yet; undefined: there is none. */
  #sinceMs: number | undefined;
  /** Since when lists cannot be heard: what changes in them is not known. */
  readonly #lostMs = new Map<string, number>();
  readonly #everyMs: number;
  #isMeasured = true;
  #wake = (): void => {};
  #changes = 0;
  #index = 0;
  #saidMs = Number.NEGATIVE_INFINITY;

  constructor(parts: FollowParts) {
    this.#parts = parts;
    this.#everyMs = parts.everyMs ?? MINUTE_MS;
    this.#others = new Others(parts.call.api, parts.migration);
    this.#round = parts.first;
    for (const { Ref } of parts.first.problems) this.#conflicts.add(Ref);
  }

  async run(): Promise<number> {
    const { call, exit } = this.#parts;
    const { signal } = call.io;
    call.io.endWithReader();
    // Each held query listens to it.
    setMaxListeners(0, signal);
    if (call.print.isForPrograms) call.print.startSeries();
    signal.addEventListener('abort', () => this.#wake());
    this.#listen();
    while (!signal.aborted) {
      if (await this.#isWoken()) await this.#follow();
      else if (!signal.aborted)
        await this.#say({ changed: 0, index: 0, entries: 0 }, this.#behindMs);
    }
    if (exit === EXIT.differs) return exit;
    if (this.#conflicts.size > 0) return EXIT.incomplete;
    return exit === EXIT.done && this.#sinceMs !== undefined ? EXIT.changes : exit;
  }

  /** For how long there may be changes that are not written. */
  get #behindMs(): number {
    const nowMs = performance.now();
    return nowMs - Math.min(nowMs, this.#sinceMs ?? nowMs, ...this.#lostMs.values());
  }

  /** Waits for a change, a minute at most. Returns whether there is one. */
  async #isWoken(): Promise<boolean> {
    if (this.#sinceMs !== undefined) return true;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#everyMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => {};
    return this.#sinceMs !== undefined;
  }

  async #follow(): Promise<void> {
    const { migration } = this.#parts;
    const sinceMs = this.#sinceMs ?? performance.now();
    this.#sinceMs = undefined;
    try {
      const round = await migration.round(this.#round.state);
      this.#tellConflicts(round);
      const written = round.isIdle ? undefined : await migration.write(round);
      this.#round = round;
      this.#listen();
      if (written !== undefined) await this.#say(written, performance.now() - sinceMs);
      await this.#tellOthers();
    } catch (error) {
      this.#sinceMs ??= sinceMs;
      await this.#failed(error);
    }
  }

  /** Listens to the lists of the source that it did not know before. */
  #listen(): void {
    const { Indexes, isOurs } = this.#round.state.info;
    for (const [key, isPolled] of isOurs ? HEARD_OF_OURS : []) {
      if (this.#heard.has(key)) continue;
      this.#heard.add(key);
      void this.#hear(key, 0, isPolled);
    }
    for (const [key, index] of Object.entries(Indexes)) {
      if (index === 0 || this.#heard.has(key)) continue;
      this.#heard.add(key);
      void this.#hear(key, index, this.#heard.size > HELD_MAX);
    }
  }

  /** The shortest pause between two polls of a list: they take half of the rate at most. */
  get #pollMs(): number {
    return (2000 * this.#heard.size) / this.#parts.source.pace.rate;
  }

  /** Notes each change of a list, by held queries, or by polling where the source holds none. */
  async #hear(key: string, known: number, isPolled: boolean): Promise<void> {
    const { call, source } = this.#parts;
    const { signal } = call.io;
    const { clock } = source.pace;
    const { pathname, searchParams } = new URL(`http://source/v1/${key}`);
    let index = known;
    let quick = isPolled ? 2 : 0;
    while (!signal.aborted) {
      let askedMs = 0;
      // One that was lost answers at once when it is there again.
      const isHeld = quick < 2 && !this.#lostMs.has(key);
      const held = isHeld ? { index: String(index), wait: WAIT } : {};
      try {
        if (quick >= 2) await clock.sleep(Math.max(call.options.poll, this.#pollMs));
        const query = { ...Object.fromEntries(searchParams), ...held };
        const answer = await source.asking.patiently(() => {
          askedMs = performance.now();
          return source.get(pathname, query);
        });
        // An older release of ours does not have each list.
        if (answer.status !== 200 && answer.status !== 404) throw refusedWith(key, answer);
        this.#lostMs.delete(key);
        const now = Number(answer.header('x-consul-index') ?? 0);
        if (answer.status === 404) await clock.sleep(LOST_MS);
        else if (now !== index) {
          index = now;
          this.#sinceMs ??= performance.now();
          this.#wake();
        } else if (isHeld && performance.now() - askedMs < HELD_MS) quick += 1;
      } catch (error) {
        if (!this.#lostMs.has(key)) this.#lostMs.set(key, performance.now());
        await this.#failed(error);
      }
    }
  }

  /** Reports a failure at most once a minute, and waits. Throws what is not a server's failure. */
  async #failed(error: unknown): Promise<void> {
    const { call, source } = this.#parts;
    if (call.io.signal.aborted) return;
    if (!(error instanceof SourceError || error instanceof CliError)) throw error;
    if (performance.now() - this.#saidMs > this.#everyMs) {
      this.#saidMs = performance.now();
      call.print.note(`${error.message}: trying again`);
      await this.#measure(this.#behindMs);
    }
    await source.pace.clock.sleep(LOST_MS).catch(() => {});
  }

  /** Says once that another command writes for the same source, which is harmless. */
  async #tellOthers(): Promise<void> {
    if (this.#hasOthers) return;
    const found = await this.#others.change();
    if (found === undefined) return;
    this.#hasOthers = true;
    const what = `${found.Ref} at index ${found.Index}`;
    this.#parts.call.print.note(`another command moves from this source too: it wrote ${what}`);
  }

  #tellConflicts({ problems }: Round): void {
    const { print } = this.#parts.call;
    for (const { Ref, Code, Message } of problems) {
      if (this.#conflicts.has(Ref)) continue;
      this.#conflicts.add(Ref);
      print.note(`conflict: ${Ref} is no longer followed: ${Code}: ${Message}`);
    }
  }

  async #say({ changed, index, entries }: Written, behindMs: number): Promise<void> {
    const { call } = this.#parts;
    const { print } = call;
    this.#changes += changed;
    this.#index = Math.max(this.#index, index);
    const seconds = (behindMs / 1000).toFixed(1).replace(/\.0$/, '');
    if (print.isForPrograms)
      await print.value({
        Time: new Date().toISOString(),
        SourceIndexes: this.#round.state.info.Indexes,
        Index: this.#index,
        Changed: changed,
        Conflicts: [...this.#conflicts],
        BehindMs: Math.round(behindMs),
      });
    else if (entries === 0) print.say(`behind ${seconds} s`);
    else print.say(`${counted(changed, 'change')} at index ${index}, behind ${seconds} s`);
    await this.#measure(behindMs);
  }

  /** Writes the metrics whole, so that nobody reads half of them. Says once that it cannot. */
  async #measure(behindMs: number): Promise<void> {
    const { options, print } = this.#parts.call;
    const { metricsFile: file } = options;
    if (file === undefined) return;
    const metrics = {
      conclave_migrate_behind_seconds: behindMs / 1000,
      conclave_migrate_changes_total: this.#changes,
      conclave_migrate_conflicts: this.#conflicts.size,
      conclave_migrate_index: this.#index,
      conclave_migrate_time_seconds: Date.now() / 1000,
    };
    const lines = Object.entries(metrics).map(([name, value]) => `${name} ${value}\n`);
    try {
      await writeFile(`${file}.part`, lines.join(''));
      await rename(`${file}.part`, file);
      this.#isMeasured = true;
    } catch (error) {
      if (this.#isMeasured) print.note(`the metrics are not written: ${(error as Error).message}`);
      this.#isMeasured = false;
    }
  }
}
