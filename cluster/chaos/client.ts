/** The connection of a client to one node. Registers are service-defaults entries. */
import { Agent, request as httpRequest } from 'node:http';
import type { Value } from '../checker/history.js';

/**
 * The result of a request. `fail`: it had no effect. `unknown`: it may have taken effect, or still
 * may.
 */
export type Result<T> =
  | { readonly outcome: 'ok'; readonly value: T }
  | { readonly outcome: 'fail' | 'unknown'; readonly why: string };

/** A register with its ModifyIndex, for a compare-and-set. Index 0: it does not exist. */
export interface Reading {
  readonly value: Value;
  readonly createIndex: number;
  readonly index: number;
  /** The index header of the answer. */
  readonly answerIndex: number;
}
/** The consistency mode of a read. */
export type ReadMode = 'default' | 'consistent' | 'stale';

interface Reply {
  readonly status: number;
  readonly body: Buffer;
  /** The index header; 0 if there is none. */
  readonly index: number;
}
/** A request without an answer. */
export interface NoAnswer {
  readonly outcome: 'fail' | 'unknown';
  readonly why: string;
}

/** A connection to one node, with one request at a time. */
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
   * Writes a register, with `cas` only if it is still at that index. The value is whether it was
   * written.
   */
  async write(key: string, value: string, cas?: number): Promise<Result<boolean>> {
    const body = JSON.stringify({ Kind: 'service-defaults', Name: key, Meta: { value } });
    return this.#change('PUT', `/v1/config${cas === undefined ? '' : `?cas=${cas}`}`, body);
  }

  /**
   * Writes a register as `write` with `cas` does, but by preconditions: PATCH with If-Match, or PUT
   * with If-None-Match where it does not exist.
   */
  async writeIf(key: string, value: string, index: number): Promise<Result<boolean>> {
    const Meta = { value };
    const entry = { Kind: 'service-defaults', Name: key, Meta };
    const reply =
      index === 0
        ? await this.send('PUT', '/v1/config', JSON.stringify(entry), { 'If-None-Match': '*' })
        : await this.send('PATCH', `/v1/config/service-defaults/${key}`, JSON.stringify({ Meta }), {
            'If-Match': `"${index}"`,
            'Content-Type': 'application/merge-patch+json',
          });
    // 404: nothing is there to patch
    const isRefused = 'status' in reply && [404, 412].includes(reply.status);
    return isRefused ? { outcome: 'ok', value: false } : resultOf(reply, () => true);
  }

  /** Deletes a register. */
  async remove(key: string): Promise<Result<boolean>> {
    return this.#change('DELETE', `/v1/config/service-defaults/${key}`);
  }

  /** Reads a register. */
  async read(key: string, mode: ReadMode): Promise<Result<Reading>> {
    const path = `/v1/config/service-defaults/${key}${mode === 'default' ? '' : `?${mode}`}`;
    const reply = await this.send('GET', path);
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

  /** Returns the Raft address of the leader, `host:port`, as this node knows it. */
  async leader(): Promise<string | undefined> {
    const reply = await this.send('GET', '/v1/status/leader');
    if ('why' in reply || reply.status !== 200) return undefined;
    const address = JSON.parse(reply.body.toString()) as string;
    return address === '' ? undefined : address;
  }

  async #change(method: string, path: string, body?: string): Promise<Result<boolean>> {
    const reply = await this.change(method, path, body);
    if (reply.outcome !== 'ok') return reply;
    return { outcome: 'ok', value: reply.value.trim() !== 'false' };
  }

  /** Sends a request that changes the state. The value is the text of the answer. */
  async change(method: string, path: string, body?: string | Buffer): Promise<Result<string>> {
    return resultOf(await this.send(method, path, body), String);
  }

  /** Sends a request. Resolves with the reply, or with why there is none. */
  send(
    method: string,
    path: string,
    body?: string | Buffer,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply | NoAnswer> {
    return new Promise((resolve) => {
      const broken = (error: NodeJS.ErrnoException): void => {
        // without a connection nothing was sent
        const outcome = error.syscall === 'connect' ? 'fail' : 'unknown';
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
          ...headers,
        },
      });
      request.on('timeout', () => request.destroy(new Error('no answer within the timeout')));
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

/** Returns the result of a change. `take`: its value, from the body of the answer. */
function resultOf<T>(reply: Reply | NoAnswer, take: (body: Buffer) => T): Result<T> {
  if ('why' in reply) return reply;
  const { status, body } = reply;
  if (status === 200) return { outcome: 'ok', value: take(body) };
  // By the contract only 504 leaves the outcome open. 500 is a bug, so nothing is certain.
  const outcome = status === 504 || status === 500 ? 'unknown' : 'fail';
  return { outcome, why: `${status} ${body}` };
}
