/** Clients of a real cluster. Each sends requests to random nodes and records them in a history. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Action, Operation, Value } from '../checker/history.js';
import type { Random } from '../checker/random.js';
import { Connection, type Reading, type ReadMode, type Result } from './client.js';

/** Operations on a register before a new one replaces it, which bounds its unknown outcomes. */
const OPERATIONS_PER_KEY = 120;
const KEYS_AT_ONCE = 5;
const ANSWER_MS = 8_000;
/** Timeout of a probe: shorter than a hang, so that the gaps of other nodes are seen. */
const PROBE_MS = 500;
const PROBE_PAUSE_MS = 100;
/**
 * Shortest gap between acknowledged writes that is logged, to find its cause in the nodes' logs.
 */
const LONG_GAP_MS = 5_000;
/** Maximum number of tokens of a run. Each is read at the end, and is in every archive. */
const TOKENS_MAX = 300;
/** Lifetime of a token beyond the run. The largest clock jumps exceed it. */
const TOKEN_MORE_MS = 3_600_000;

/** The register of a token. It contains the accessor while the token exists. */
export const tokenKey = (accessor: string): string => `token:${accessor}`;

/** The numbers of requests by outcome. */
export interface WorkloadCounts {
  acknowledged: number;
  failed: number;
  unknown: number;
  reads: number;
  staleReads: number;
  /** Writes with If-Match or If-None-Match that were done, and that were refused with 412. */
  conditionsMet: number;
  conditionsFailed: number;
  /** Tokens with a TTL that were created. They exist at the end unless a restore removed them. */
  tokens: number;
}

/** The clients of a run and their history. */
export class ChaosWorkload {
  readonly history: Operation[] = [];
  readonly counts: WorkloadCounts = {
    acknowledged: 0,
    failed: 0,
    unknown: 0,
    reads: 0,
    staleReads: 0,
    conditionsMet: 0,
    conditionsFailed: 0,
    tokens: 0,
  };
  /** Longest time without an acknowledged write of any client or probe, in milliseconds. */
  longestGapMs = 0;
  /** The reasons of failed requests and unknown outcomes, without numbers, and their counts. */
  readonly reasons = new Map<string, number>();
  /** Results that no history explains: indexes that change or go back, values never written. */
  readonly anomalies: string[] = [];
  readonly #urls: readonly string[];
  readonly #token: string;
  readonly #random: Random;
  readonly #runMs: number;
  readonly #keys: { name: string; left: number }[] = [];
  /** The log index of each value. */
  readonly #indexOf = new Map<string, number>();
  readonly #attempted = new Set<string>();
  /** The highest index that reads of a register returned so far. */
  readonly #answered = new Map<string, number>();
  #beganAt = 0;
  #tokensTried = 0;
  #acknowledgedAt = 0;
  #keyCount = 0;
  #valueCount = 0;
  #stopped = false;
  #running: Promise<void>[] = [];

  readonly #log: (text: string) => void;

  /** `runMs` is the approximate duration of the run. */
  constructor(
    urls: readonly string[],
    token: string,
    random: Random,
    runMs: number,
    note: (text: string) => void,
  ) {
    this.#log = note;
    this.#runMs = runMs;
    this.#urls = urls;
    this.#token = token;
    this.#random = random;
  }

  /** Starts the clients and the probes. */
  start(clients: number, pauseMs: number): void {
    this.#beganAt = performance.now();
    this.#acknowledgedAt = this.#beganAt;
    for (let i = 0; i < KEYS_AT_ONCE; i++) this.#keys.push(this.#newKey());
    this.#running = [
      ...Array.from({ length: clients }, (_, i) => this.#client(`client${i}`, pauseMs)),
      ...this.#urls.map((url, i) => this.#probe(url, `probe${i}`)),
    ];
  }

  /** Stops the clients and waits for their last requests. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
    this.#noteGap();
  }

  /** Reads every token when all clocks are right again. Throws if a node does not answer. */
  async readTokens(): Promise<void> {
    const connections = this.#urls.map((url) => new Connection(url, this.#token, ANSWER_MS));
    const made = this.history.filter(({ key }) => key.startsWith(tokenKey('')));
    for (const { key } of made) {
      const accessor = key.slice(tokenKey('').length);
      const call = performance.now();
      const connection = this.#random.pick(connections);
      const reply = await connection.send('GET', `/v1/acl/token/${accessor}?consistent`);
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
      // on a slow machine the registers need their share too
      const isDue = this.#tokensTried < TOKENS_MAX * Math.min(elapsed, 1);
      if (isDue && random.chance(0.5)) await this.#makeToken(name, connection);
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
   * Writes to one node repeatedly, outside the history, to measure gaps. Clients wait long for an
   * answer, so that hanging nodes may block all of them while other nodes accept writes.
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
      this.anomalies.push(`a read of ${key} returned index ${atLeast}, a later one ${answerIndex}`);
    this.#answered.set(key, Math.max(answerIndex, this.#answered.get(key) ?? 0));
    this.#note({ client, key, action: { type: 'read' }, call, outcome: 'ok', seen: value });
    return answer.value;
  }

  /** Checks the index of a value. A value is written once, so all nodes return the same index. */
  #checkPlace(key: string, value: string, index: number): void {
    const known = this.#indexOf.get(value);
    if (known === undefined) this.#indexOf.set(value, index);
    else if (known !== index)
      this.anomalies.push(`${key}=${value} had index ${known}, then ${index}`);
    if (!this.#attempted.has(value)) this.anomalies.push(`${key}=${value} was never written`);
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
    const isConditional = compares && random.chance(0.5);
    const answer = await (isConditional
      ? connection.writeIf(key, value, seen.index)
      : connection.write(key, value, compares ? seen.index : undefined));
    if (isConditional && answer.outcome === 'ok')
      this.counts[answer.value ? 'conditionsMet' : 'conditionsFailed']++;
    const action: Action = compares
      ? { type: 'cas', expected: seen.value, value }
      : { type: 'write', value };
    this.#noteWrite({ client, key, action, call }, answer);
  }

  /**
   * Creates a token. Ignores one that is not acknowledged or may expire before the end of the run.
   */
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
    answer: Result<boolean>,
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
    if (gapMs >= LONG_GAP_MS) this.#log(`no write was acknowledged for ${gapMs} ms`);
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
