/**
 * One client's connection to one node: registers kept in service-defaults entries, over the public
 * API.
 */
import { Agent, request as httpRequest } from 'node:http';
import type { Value } from '../checker/history.js';

/** `fail`: certainly without effect. `unknown`: it may have taken effect, or still do. */
export type Answer<T> =
  | { readonly outcome: 'ok'; readonly value: T }
  | { readonly outcome: 'fail' | 'unknown'; readonly why: string };

/** A register with the index by which it can be compared. Index 0: it does not exist. */
export interface Reading {
  readonly value: Value;
  readonly createIndex: number;
  readonly index: number;
  /** The index of the whole answer. */
  readonly answerIndex: number;
}
export type ReadMode = 'default' | 'consistent' | 'stale';

interface Reply {
  readonly status: number;
  readonly body: Buffer;
  /** The index header; 0 where there is none. */
  readonly index: number;
}
/** What became of a request that was not answered. */
export interface Broken {
  readonly outcome: 'fail' | 'unknown';
  readonly why: string;
}

/** Errors that come before a byte of the request has left. */
const NEVER_SENT = new Set(['ECONNREFUSED']);

export class Connection {
  readonly url: string;
  readonly #token: string;
  readonly #timeoutMs: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(url: string, token: string, timeoutMs: number) {
    this.url = url;
    this.#token = token;
    this.#timeoutMs = timeoutMs;
  }

  close(): void {
    this.#agent.destroy();
  }

  /**
   * Writes a register; with `cas` only if it is still at that index. The value tells whether it was
   * written.
   */
  async write(key: string, value: string, cas?: number): Promise<Answer<boolean>> {
    const body = JSON.stringify({ Kind: 'service-defaults', Name: key, Meta: { value } });
    return this.#change('PUT', `/v1/config${cas === undefined ? '' : `?cas=${cas}`}`, body);
  }

  async remove(key: string): Promise<Answer<boolean>> {
    return this.#change('DELETE', `/v1/config/service-defaults/${key}`);
  }

  async read(key: string, mode: ReadMode): Promise<Answer<Reading>> {
    const path = `/v1/config/service-defaults/${key}${mode === 'default' ? '' : `?${mode}`}`;
    const reply = await this.ask('GET', path);
    if ('why' in reply) return reply;
    const answerIndex = reply.index;
    if (reply.status === 404)
      return { outcome: 'ok', value: { value: null, createIndex: 0, index: 0, answerIndex } };
    if (reply.status !== 200) return { outcome: 'fail', why: `${reply.status} ${reply.body}` };
    const entry = JSON.parse(reply.body.toString()) as {
      Meta?: { value?: string };
      CreateIndex: number;
      ModifyIndex: number;
    };
    const { CreateIndex: createIndex, ModifyIndex: index } = entry;
    const value = entry.Meta?.value ?? null;
    return { outcome: 'ok', value: { value, createIndex, index, answerIndex } };
  }

  /** `host:port` of the Raft listener that leads, as this node knows it. */
  async leader(): Promise<string | undefined> {
    const reply = await this.ask('GET', '/v1/status/leader');
    if ('why' in reply || reply.status !== 200) return undefined;
    const address = JSON.parse(reply.body.toString()) as string;
    return address === '' ? undefined : address;
  }

  async #change(method: string, path: string, body?: string): Promise<Answer<boolean>> {
    const reply = await this.change(method, path, body);
    if (reply.outcome !== 'ok') return reply;
    return { outcome: 'ok', value: reply.value.trim() !== 'false' };
  }

  /** A request that changes something; gives the answer's text. */
  async change(method: string, path: string, body?: string | Buffer): Promise<Answer<string>> {
    const reply = await this.ask(method, path, body);
    if ('why' in reply) return reply;
    const { status } = reply;
    if (status === 200) return { outcome: 'ok', value: reply.body.toString() };
    // the contract: 504 is the only answer that leaves the outcome open
    const outcome = status === 504 || status === 500 ? 'unknown' : 'fail';
    return { outcome, why: `${status} ${reply.body}` };
  }

  ask(method: string, path: string, body?: string | Buffer): Promise<Reply | Broken> {
    return new Promise((resolve) => {
      const broken = (error: NodeJS.ErrnoException): void => {
        const outcome = NEVER_SENT.has(error.code ?? '') ? 'fail' : 'unknown';
        resolve({ outcome, why: error.code ?? error.message });
      };
      const request = httpRequest(`${this.url}${path}`, {
        method,
        agent: this.#agent,
        timeout: this.#timeoutMs,
        headers: {
          'X-Service-Token': this.#token,
          ...(body !== undefined && {
            'Content-Type': 'application/json',
            'Content-Length': Buffer.byteLength(body),
          }),
        },
      });
      request.on('timeout', () => request.destroy(new Error('no answer in time')));
      request.on('error', broken);
      request.on('response', (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', broken);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            body: Buffer.concat(parts),
            index: Number(response.headers['x-service-index'] ?? 0),
          }),
        );
      });
      request.end(body);
    });
  }
}
