/** Clients of a real cluster: each sends one request after another to any node and writes down what it saw. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Action, Operation, Value } from '../checker/history.js';
import type { Random } from '../checker/random.js';
import { type Answer, Connection, type Reading, type ReadMode } from './client.js';

/** A register is left for a new one after so many operations: unknown outcomes must not pile up on one. */
const OPERATIONS_PER_KEY = 120;
const KEYS_AT_ONCE = 5;
const ANSWER_MS = 8_000;
/** Of the probes: a node that hangs must not keep the next one waiting. */
const PROBE_MS = 500;
const PROBE_PAUSE_MS = 100;
/** A gap between two acknowledged writes that is told when it ends, so that the nodes' logs can be searched. */
const LONG_GAP_MS = 5_000;
/** Tokens in all: each is read again at the end, and is in every archive. */
const TOKENS_MAX = 300;
/** A token lives for so long beyond the run: less than the clocks jump at most. */
const TOKEN_MORE_MS = 3_600_000;

/** The register of a token: it holds the accessor as long as the token exists. */
export const tokenKey = (accessor: string): string => `token:${accessor}`;

export interface WorkloadCounts {
  acknowledged: number;
  failed: number;
  unknown: number;
  reads: number;
  staleReads: number;
  /** Tokens with a TTL that were made, and must be there in the end unless a restore took them back. */
  tokens: number;
}

export class ChaosWorkload {
  readonly history: Operation[] = [];
  readonly counts: WorkloadCounts = {
    acknowledged: 0,
    failed: 0,
    unknown: 0,
    reads: 0,
    staleReads: 0,
    tokens: 0,
  };
  /** Longest time without an acknowledged write at any node, in milliseconds, as the clients and a probe of each node saw it. */
  longestGapMs = 0;
  /** Why requests failed or were left open, without numbers, and how often. */
  readonly reasons = new Map<string, number>();
  /** What was seen that no history explains: indexes that moved or went back, values that nobody wrote. */
  readonly oddities: string[] = [];
  readonly #urls: readonly string[];
  readonly #token: string;
  readonly #random: Random;
  readonly #runMs: number;
  readonly #keys: { name: string; left: number }[] = [];
  /** The one place of each value in the log. */
  readonly #indexOf = new Map<string, number>();
  readonly #attempted = new Set<string>();
  /** The highest index with which a read of the register was answered so far. */
  readonly #answered = new Map<string, number>();
  #beganAt = 0;
  #tokensTried = 0;
  #acknowledgedAt = 0;
  #keyCount = 0;
  #valueCount = 0;
  #stopped = false;
  #running: Promise<void>[] = [];

  readonly #say: (text: string) => void;

  /** `runMs`: for how long clients work, about. */
  constructor(
    urls: readonly string[],
    token: string,
    random: Random,
    runMs: number,
    note: (text: string) => void,
  ) {
    this.#say = note;
    this.#runMs = runMs;
    this.#urls = urls;
    this.#token = token;
    this.#random = random;
  }

  start(clients: number, pauseMs: number): void {
    this.#beganAt = performance.now();
    this.#acknowledgedAt = this.#beganAt;
    for (let i = 0; i < KEYS_AT_ONCE; i++) this.#keys.push(this.#newKey());
    this.#running = [
      ...Array.from({ length: clients }, (_, i) => this.#client(`client${i}`, pauseMs)),
      ...this.#urls.map((url, i) => this.#probe(url, `probe${i}`)),
    ];
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
    this.#noteGap();
  }

  /** Reads every token that was made, once no clock is off any more. Throws if a node does not tell. */
  async readTokens(): Promise<void> {
    const connections = this.#urls.map((url) => new Connection(url, this.#token, ANSWER_MS));
    const made = this.history.filter(({ key }) => key.startsWith(tokenKey('')));
    for (const { key } of made) {
      const accessor = key.slice(tokenKey('').length);
      const call = performance.now();
      const connection = this.#random.pick(connections);
      const reply = await connection.ask('GET', `/v1/acl/token/${accessor}?consistent`);
      if ('why' in reply || ![200, 403, 404].includes(reply.status))
        throw new Error(`no answer about a token: ${'why' in reply ? reply.why : reply.body}`);
      const seen = reply.status === 200 ? accessor : null;
      this.#note({ client: 'tokens', key, action: { type: 'read' }, call, outcome: 'ok', seen });
    }
    for (const connection of connections) connection.close();
  }

  #newKey(): { name: string; left: number } {
    return { name: `k${this.#keyCount++}`, left: OPERATIONS_PER_KEY };
  }

  #pickKey(): string {
    const at = this.#random.int(this.#keys.length);
    const key = this.#keys[at]!;
    key.left--;
    if (key.left <= 0) this.#keys[at] = this.#newKey();
    return key.name;
  }

  async #client(name: string, pauseMs: number): Promise<void> {
    const random = this.#random;
    const connections = this.#urls.map((url) => new Connection(url, this.#token, ANSWER_MS));
    const seen = new Map<string, Reading>();
    while (!this.#stopped) {
      const connection = random.pick(connections);
      const key = this.#pickKey();
      const elapsed = (performance.now() - this.#beganAt) / this.#runMs;
      if (this.#tokensTried < TOKENS_MAX * Math.min(elapsed, 1))
        await this.#makeToken(name, connection);
      else if (random.chance(0.5)) {
        const mode = random.pick(['default', 'default', 'consistent', 'stale'] as const);
        const reading = await this.#read(name, connection, key, mode);
        if (reading) seen.set(key, reading);
      } else await this.#write(name, connection, key, seen.get(key));
      await sleep(random.next() * pauseMs);
    }
    for (const connection of connections) connection.close();
  }

  /**
   * Writes to one node again and again, outside the history. Clients wait long for an answer, so some hanging nodes can hold
   * all of them while the others take writes.
   */
  async #probe(url: string, name: string): Promise<void> {
    const connection = new Connection(url, this.#token, PROBE_MS);
    const body = JSON.stringify({ Kind: 'service-resolver', Name: name });
    while (!this.#stopped) {
      const { outcome } = await connection.change('PUT', '/v1/config', body);
      if (outcome === 'ok') this.#noteGap();
      await sleep(PROBE_PAUSE_MS);
    }
    connection.close();
  }

  async #read(
    client: string,
    connection: Connection,
    key: string,
    mode: ReadMode,
  ): Promise<Reading | undefined> {
    const call = performance.now();
    const atLeast = this.#answered.get(key) ?? 0;
    const answer = await connection.read(key, mode);
    if (answer.outcome !== 'ok') {
      this.#noteReason(`${mode} read`, answer.why);
      return undefined;
    }
    const { value, index, answerIndex } = answer.value;
    if (value !== null) this.#checkPlace(key, value, index);
    if (mode === 'stale') {
      this.counts.staleReads++;
      return undefined;
    }
    this.counts.reads++;
    if (answerIndex < atLeast)
      this.oddities.push(`${key} was answered with index ${atLeast}, later with ${answerIndex}`);
    this.#answered.set(key, Math.max(answerIndex, this.#answered.get(key) ?? 0));
    this.#note({ client, key, action: { type: 'read' }, call, outcome: 'ok', seen: value });
    return answer.value;
  }

  /** A value is written once, so it has one index for ever, on whichever node it is read. */
  #checkPlace(key: string, value: string, index: number): void {
    const known = this.#indexOf.get(value);
    if (known === undefined) this.#indexOf.set(value, index);
    else if (known !== index)
      this.oddities.push(`${key}=${value} was at index ${known}, and is seen at ${index}`);
    if (!this.#attempted.has(value)) this.oddities.push(`${key}=${value} was never written`);
  }

  async #write(
    client: string,
    connection: Connection,
    key: string,
    seen: Reading | undefined,
  ): Promise<void> {
    const random = this.#random;
    const call = performance.now();
    if (random.chance(0.06)) {
      const answer = await connection.remove(key);
      this.#noteWrite({ client, key, action: { type: 'write', value: null }, call }, answer);
      return;
    }
    const value = `v${this.#valueCount++}`;
    this.#attempted.add(value);
    const compares = seen !== undefined && random.chance(0.4);
    const answer = await connection.write(key, value, compares ? seen.index : undefined);
    const action: Action = compares
      ? { type: 'cas', expected: seen.value, value }
      : { type: 'write', value };
    this.#noteWrite({ client, key, action, call }, answer);
  }

  /** One whose making was not acknowledged, or that may be over before the run is, is not followed. */
  async #makeToken(client: string, connection: Connection): Promise<void> {
    this.#tokensTried++;
    const accessor = randomUUID();
    const ttlMs = this.#runMs + TOKEN_MORE_MS;
    const call = performance.now();
    const body = JSON.stringify({ AccessorID: accessor, ExpirationTTL: `${ttlMs}ms` });
    const answer = await connection.change('PUT', '/v1/acl/token', body);
    if (answer.outcome !== 'ok') {
      this.#noteReason('token', answer.why);
      return;
    }
    const { ExpirationTime } = JSON.parse(answer.value) as { ExpirationTime: string };
    if (Date.parse(ExpirationTime) < Date.now() + ttlMs - TOKEN_MORE_MS / 2) return;
    this.counts.tokens++;
    const action: Action = { type: 'write', value: accessor };
    this.#note({ client, key: tokenKey(accessor), action, call, outcome: 'ok' });
  }

  #noteWrite(
    operation: { client: string; key: string; action: Action; call: number },
    answer: Answer<boolean>,
  ): void {
    const { outcome } = answer;
    this.counts[outcome === 'ok' ? 'acknowledged' : outcome === 'fail' ? 'failed' : 'unknown']++;
    if (answer.outcome === 'ok') this.#noteGap();
    else this.#noteReason('write', answer.why);
    this.#note({
      ...operation,
      outcome,
      ...(answer.outcome === 'ok' && { matched: answer.value }),
    });
  }

  #noteGap(): void {
    const now = performance.now();
    const gapMs = Math.round(now - this.#acknowledgedAt);
    if (gapMs >= LONG_GAP_MS) this.#say(`no write was acknowledged for ${gapMs} ms`);
    this.longestGapMs = Math.max(this.longestGapMs, gapMs);
    this.#acknowledgedAt = now;
  }

  #noteReason(what: string, why: string): void {
    const reason = `${what}: ${why}`
      .trim()
      .replace(/\bk\d+\b|\d{4,}/g, '…')
      .slice(0, 100);
    this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + 1);
  }

  #note(operation: Omit<Operation, 'return'> & { seen?: Value }): void {
    this.history.push({ ...operation, return: performance.now() });
  }
}
