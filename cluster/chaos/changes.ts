/**
 * Clients that change objects by sets, and undo them. Each set writes one mark into several objects
 * or deletes them all, so that every reader sees the objects of one set together, or none of them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../checker/random.js';
import { Connection, type Result } from './client.js';

const ANSWER_MS = 8_000;
/** The policies of the set, which it makes, changes and deletes together. */
const POLICIES = ['chaos-a', 'chaos-b', 'chaos-c'] as const;
/** The numbers of changes, by outcome. */
export interface ChangeCounts {
  setsApplied: number;
  setsRefused: number;
  setsUnknown: number;
  /** Answers in which the objects of the set were compared. */
  setsSeen: number;
  undone: number;
  undosRefused: number;
}

interface Policy {
  readonly Name: string;
  readonly Description: string;
  readonly ModifyIndex: number;
}

/** See the head of this file. */
export class ChangeWorkload {
  readonly counts: ChangeCounts = {
    setsApplied: 0,
    setsRefused: 0,
    setsUnknown: 0,
    setsSeen: 0,
    undone: 0,
    undosRefused: 0,
  };
  readonly anomalies: string[] = [];
  readonly #urls: readonly string[];
  readonly #token: string;
  readonly #random: Random;
  /** The index of each set that was acknowledged, by its mark. */
  readonly #indexOf = new Map<string, number>();
  #marks = 0;
  #stopped = false;
  #running: Promise<void>[] = [];

  constructor(urls: readonly string[], token: string, random: Random) {
    this.#urls = urls;
    this.#token = token;
    this.#random = random;
  }

  /** Starts clients. */
  start(clients: number, pauseMs: number): void {
    this.#running = Array.from({ length: clients }, () => this.#client(pauseMs));
  }

  /** Stops the clients and waits for their last requests. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
  }

  async #client(pauseMs: number): Promise<void> {
    const random = this.#random;
    const connections = this.#urls.map((url) => new Connection(url, this.#token, ANSWER_MS));
    const acts = [this.#apply, this.#apply, this.#look, this.#look, this.#undo];
    while (!this.#stopped) {
      await random.pick(acts)(random.pick(connections));
      await sleep(random.next() * pauseMs);
    }
    for (const connection of connections) connection.close();
  }

  /** Writes a new mark into all objects of the set, or deletes all of them. */
  #apply = async (connection: Connection): Promise<void> => {
    const mark = `mark ${++this.#marks}`;
    const isDelete = this.#random.chance(0.1);
    const policies = POLICIES.map((Name) => ({
      Type: 'policy',
      Object: { Name, Description: mark },
    }));
    const gone = POLICIES.map((Name) => ({ Type: 'policy', Name }));
    const body = isDelete
      ? { Owner: 'chaos', Delete: gone }
      : { Owner: 'chaos', Objects: this.#random.shuffle(policies) };
    const answer = await connection.change('POST', '/v1/apply', JSON.stringify(body));
    this.#note(answer, 'setsApplied', 'setsRefused', 'setsUnknown');
    if (answer.outcome !== 'ok' || isDelete) return;
    const { Index, Changes } = JSON.parse(answer.value) as {
      Index: number;
      Changes: { ModifyIndex: number }[];
    };
    if (Changes.length !== POLICIES.length || Changes.some((one) => one.ModifyIndex !== Index))
      this.anomalies.push(`the set of ${mark} is answered by ${answer.value}`);
    else this.#indexOf.set(mark, Index);
  };

  /** A list is of one moment: all objects of the set have one mark, or none exists. */
  #look = async (connection: Connection): Promise<void> => {
    const query = this.#random.pick(['', '?consistent', '?stale']);
    const reply = await connection.send('GET', `/v1/acl/policies${query}`);
    if ('why' in reply || reply.status !== 200) return;
    const all = JSON.parse(reply.body.toString()) as Policy[];
    this.#checkSet(all, connection.url);
  };

  /** Compares the objects of the set with each other, as one answer shows them. */
  #checkSet(all: readonly Policy[], where: string): void {
    const names: readonly string[] = POLICIES;
    const found = all.filter(({ Name }) => names.includes(Name));
    this.counts.setsSeen++;
    const marks = new Set(
      found.map(({ Description, ModifyIndex }) => `${Description} @${ModifyIndex}`),
    );
    const isWhole = [0, POLICIES.length].includes(found.length) && marks.size <= 1;
    if (!isWhole) this.anomalies.push(`${where} shows a part of a set: ${[...marks].join(', ')}`);
  }

  /** Undoes the newest set that was acknowledged, unless others have changed its objects since. */
  #undo = async (connection: Connection): Promise<void> => {
    const Index = [...this.#indexOf.values()].at(-1);
    if (Index === undefined) return;
    const answer = await connection.change('POST', '/v1/undo', JSON.stringify({ Index }));
    if (answer.outcome === 'ok') this.counts.undone++;
    else if (answer.outcome === 'fail') this.counts.undosRefused++;
  };

  #note(
    { outcome }: Result<string>,
    ok: keyof ChangeCounts,
    fail: keyof ChangeCounts,
    unknown: keyof ChangeCounts,
  ): void {
    this.counts[outcome === 'ok' ? ok : outcome === 'fail' ? fail : unknown]++;
  }
}
