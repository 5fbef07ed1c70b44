/** The HTTP client of all tests. Bytes that no client would send go over a socket of the test. */
import { type Agent, type IncomingHttpHeaders, request } from 'node:http';
import { urlToHttpOptions } from 'node:url';
import { expect } from 'chai';
import { expectDeclared } from '../openapi/declared.js';

/** What a request has beside method and path. */
export interface Ask {
  /** Sent in a header unless it is empty. */
  readonly token?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer;
  /** By default each request has a connection of its own. */
  readonly agent?: Agent;
  readonly signal?: AbortSignal;
  /** For so long no byte may arrive, in milliseconds. */
  readonly silenceMs?: number;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly bytes: Buffer;
}

/** Longer than a node on a busy machine waits for anything but blocking queries. */
const SILENCE_MS = 120_000;

function partsOf(call: string): [method: string, path: string] {
  const at = call.indexOf(' ');
  return [call.slice(0, at), call.slice(at + 1)];
}

/**
 * Sends a request to `url`. `call` is a method and a path, which is sent as it is given. Rejects if
 * no whole response arrives.
 */
export function send(url: string, call: string, ask: Ask = {}): Promise<Reply> {
  const { token = '', headers = {}, body, agent = false, signal } = ask;
  const [method, path] = partsOf(call);
  const { hostname: host, port } = urlToHttpOptions(new URL(url));
  const to = { host, port, path, method, agent, timeout: ask.silenceMs ?? SILENCE_MS };
  // Node does not frame the body of a GET by itself.
  const isFramed = body === undefined || 'transfer-encoding' in headers;
  const own = {
    ...(token !== '' && { 'x-service-token': token }),
    ...(!isFramed && { 'content-length': String(Buffer.byteLength(body)) }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(
      { ...to, headers: { ...own, ...headers }, ...(signal !== undefined && { signal }) },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const { statusCode, headers: received } = answer;
          resolve({ status: statusCode!, headers: received, bytes, text: bytes.toString('utf8') });
        });
      },
    );
    sent.on('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.on('error', reject);
    sent.end(body);
  });
}

/** A response of the API. */
export interface Answer extends Reply {
  /** Without the newline at its end. */
  readonly text: string;
  /** The body as JSON; undefined if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: each answer has a shape of its own
  readonly body: any;
  readonly index: number;
  /** The header Results-Filtered-By-ACLs. */
  readonly filtered: string | null;
  /** The header Decision. */
  readonly decision: string | null;
}

const one = (header: string | string[] | undefined): string | null =>
  (header as string | undefined) ?? null;

/** The policies that `secretWith` has made have names of their own. */
let policies = 0;

/** Calls the API of a node. Every exchange must be as the OpenAPI document says. */
export class Client {
  readonly url: string;
  readonly token: string;

  constructor(url: string, token: string) {
    this.url = url;
    this.token = token;
  }

  /** `call` is a method and a path below /v1. An empty token means that none is sent. */
  async ask(
    call: string,
    body?: unknown,
    token = this.token,
    more: Omit<Ask, 'token' | 'body'> = {},
  ): Promise<Answer> {
    const [method, below] = partsOf(call);
    const path = `/v1${below}`;
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const sent = { token, ...more, ...(payload !== undefined && { body: payload }) };
    const reply = await send(this.url, `${method} ${path}`, sent);
    const { status, headers } = reply;
    expectDeclared({ method, path, status, text: reply.text, payload, headers });
    const text = reply.text.replace(/\n$/, '');
    const isJson = headers['content-type']?.includes('json') === true;
    return {
      ...reply,
      text,
      body: isJson ? JSON.parse(text) : undefined,
      index: Number(headers['x-service-index']),
      filtered: one(headers['x-service-results-filtered-by-acls']),
      decision: one(headers['x-service-decision']),
    };
  }

  /** The response of a call that must succeed. */
  async answerTo(call: string, body?: unknown, token?: string): Promise<Answer> {
    const answer = await this.ask(call, body, token);
    expect(answer.status, answer.text).to.equal(200);
    return answer;
  }

  /** The body of the response of a call that must succeed. */
  async must(call: string, body?: unknown, token?: string): Promise<Answer['body']> {
    return (await this.answerTo(call, body, token)).body;
  }

  /** The secret of a new token with these rules. */
  async secretWith(Rules: string, ns = 'default'): Promise<string> {
    policies += 1;
    const Name = `p-${policies}`;
    await this.must(`PUT /acl/policy?ns=${ns}`, { Name, Rules });
    return (await this.must(`PUT /acl/token?ns=${ns}`, { Policies: [{ Name }] })).SecretID;
  }
}
