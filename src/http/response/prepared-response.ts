/**
 * Responses that several requests may send. One change wakes all watchers of an entry, thousands
 * perhaps, and their answers are alike: head and body are made once for all of them.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { QueryMeta } from '../../service/common/types.js';
import { packing } from '../limits/concurrency.js';

const compress = promisify(gzip);

/** A status, headers and a whole body. */
export class PreparedResponse {
  readonly status: number;
  readonly length: number;
  /** Names and values of the headers as a flat list, for the body as it is. */
  readonly headers: readonly string[];
  /** Whether the response closes its connection. */
  readonly closes: boolean;
  /** Whether the body is text of ASCII characters. */
  readonly isAscii: boolean;
  #body: string | Uint8Array;
  #packed: Promise<Buffer> | undefined;

  /**
   * `headers` is a flat list of the other headers. The response takes it over. Text that does not
   * end with a newline gets one, unless it is empty; bytes stay as they are. `packed` is the body
   * compressed with gzip, if it is at hand.
   */
  constructor(
    status: number,
    headers: string[],
    body: string | Uint8Array,
    packed?: Promise<Buffer>,
  ) {
    this.status = status;
    const isOpen = typeof body === 'string' && body !== '' && !body.endsWith('\n');
    // counted before the newline is added: V8 copies a joined text to count its bytes
    const bytes = Buffer.byteLength(body);
    this.length = bytes + (isOpen ? 1 : 0);
    this.isAscii = typeof body === 'string' && bytes === body.length;
    this.closes = headers.includes('Connection');
    headers.push('Content-Length', String(this.length));
    this.headers = headers;
    this.#body = isOpen ? `${body}\n` : body;
    this.#packed = packed;
  }

  get body(): string | Uint8Array {
    return this.#body;
  }

  /** Encodes the body, so that no further request encodes it again. */
  encode(): void {
    if (typeof this.#body === 'string') this.#body = Buffer.from(this.#body);
  }

  /**
   * Returns the body compressed, once for all requests; undefined while too many others are being
   * compressed. Rejects with the error of zlib.
   */
  packed(): Promise<Buffer> | undefined {
    if (this.#packed === undefined && packing.tryTake())
      this.#packed = compress(this.#body, { level: 1 }).finally(() => packing.leave());
    return this.#packed;
  }

  /** Names and values of the headers for a body of `length` bytes that is compressed. */
  headersOfPacked(length: number): string[] {
    const headers = this.headers.slice(0, -1);
    headers.push(String(length), 'Content-Encoding', 'gzip');
    return headers;
  }
}

/** The last response to a read. */
export class LastRead {
  #value: string | Uint8Array = '';
  #meta: QueryMeta | undefined;
  #isPretty = false;
  #response: PreparedResponse | undefined;

  /** Returns the response if a read of this value, in this format, has the same one. */
  find(
    value: string | Uint8Array,
    meta: QueryMeta,
    isPretty: boolean,
  ): PreparedResponse | undefined {
    const response = this.#response;
    if (response === undefined || value !== this.#value) return undefined;
    if (isPretty !== this.#isPretty || !haveSameHeaders(meta, this.#meta!)) return undefined;
    response.encode();
    return response;
  }

  /** Returns the encoded body of the response, if a read of this value has the same. */
  bodyOf(value: string | Uint8Array, isPretty: boolean): string | Uint8Array | undefined {
    const response = this.#response;
    if (response === undefined || value !== this.#value || isPretty !== this.#isPretty) return;
    response.encode();
    return response.body;
  }

  /** Keeps the response to a read for those that follow. */
  keep(
    response: PreparedResponse,
    value: string | Uint8Array,
    meta: QueryMeta,
    isPretty: boolean,
  ): void {
    this.#response = response;
    this.#value = value;
    this.#meta = meta;
    this.#isPretty = isPretty;
  }

  /** Forgets the response: the headers that all responses have are others now. */
  forget(): void {
    this.#response = undefined;
  }
}

const haveSameHeaders = (one: QueryMeta, other: QueryMeta): boolean =>
  one.index === other.index &&
  one.filtered === other.filtered &&
  one.knownLeader === other.knownLeader &&
  Math.round(one.lastContactMs) === Math.round(other.lastContactMs);
