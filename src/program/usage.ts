/** The notes of a node on what was used last when: its file, and what the others know. */
import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterNode } from '../node/types.js';
import { HOUR_MS, methodOfUse, UsageBook } from '../service/usage/book.js';
import { EXCHANGE_MS, UsageExchange } from '../service/usage/exchange.js';
import { keys } from '../state/keys.js';

const FILE = 'token-usage';
/** Milliseconds after the start at which the others are asked first. */
const FIRST_MS = 1000;

/** Keeps the notes of a node. */
export class TokenUsage {
  readonly book = new UsageBook(Date.now);
  /** Notes that a token is used now. */
  readonly note = (accessor: string): void => this.book.note(accessor);
  readonly #file: string;
  #exchange: UsageExchange | undefined;
  #node: ClusterNode | undefined;
  #timers: NodeJS.Timeout[] = [];
  #saving: Promise<void> | undefined;

  constructor(dataDir: string) {
    this.#file = join(dataDir, FILE);
    try {
      this.book.load(readFileSync(this.#file, 'utf8'));
    } catch {
      // The notes begin anew: nothing rests on them but advice.
    }
  }

  /** Whether every member has told what it has noted lately. */
  get isComplete(): boolean {
    return this.#exchange?.isComplete === true;
  }

  /** Returns what other members are answered. */
  answer(from: string): string | undefined {
    return this.#exchange?.answer(from);
  }

  /** Begins to ask the others, and to write the file every hour. */
  start(node: ClusterNode): void {
    this.#node = node;
    const exchange = new UsageExchange(node, this.book, () => performance.now());
    this.#exchange = exchange;
    // a round never fails: a member that does not answer is asked again
    const ask = (): void => void exchange.round();
    this.#timers = [
      setTimeout(ask, FIRST_MS),
      setInterval(ask, EXCHANGE_MS),
      setInterval(() => void this.#save(), HOUR_MS),
    ];
    for (const timer of this.#timers) timer.unref();
  }

  /** Writes the file for the last time. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#saving;
    await this.#save();
  }

  /** Writes the file. A disk that fails loses notes, and nothing else. */
  #save(): Promise<void> {
    const { view } = this.#node!;
    this.book.keep((used) => {
      const method = methodOfUse(used);
      const key = method === undefined ? keys.tokenAccessor(used) : keys.method(...method);
      return view.get(key) !== undefined;
    });
    const next = `${this.#file}.new`;
    this.#saving = writeFile(next, this.book.text, { mode: 0o600 })
      .then(() => rename(next, this.#file))
      .catch(() => {});
    return this.#saving;
  }
}
