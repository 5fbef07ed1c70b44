/** A client that sends what it is given, and checks what every response must fulfil. */
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import { type Reply, send } from '../support/client.js';
import type { Hostile } from './mutate.js';

/** Longer than the server's own deadline on a busy machine: a request that takes longer hangs. */
const HANG_MS = 120_000;

export class HostileClient {
  readonly #agent: Agent;
  readonly #url: URL;
  readonly #token: string;

  /** `connections` is the number of concurrent requests. */
  constructor(url: string, token: string, connections = 16) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
    this.#url = new URL(url);
    this.#token = token;
  }

  /** Sends a request with the management token unless its headers contain another. */
  send({ method, target, headers, body }: Hostile): Promise<Reply> {
    const ask = { token: this.#token, headers, agent: this.#agent, silenceMs: HANG_MS };
    return send(this.#url.href, `${method} ${target}`, {
      ...ask,
      ...(body !== undefined && { body }),
    });
  }

  ask(method: string, target: string, body?: unknown, headers: Record<string, string> = {}) {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    return this.send({ method, target, headers, body: bytes });
  }

  /** Sends bytes, half-closes, and returns what arrives until the server closes. */
  raw(bytes: string | Buffer): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(Number(this.#url.port), this.#url.hostname);
      let text = '';
      socket.setTimeout(HANG_MS, () => socket.destroy(new Error('no answer: it hangs')));
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
      });
      socket.on('error', (error: NodeJS.ErrnoException) =>
        ['ECONNRESET', 'EPIPE'].includes(error.code ?? '') ? resolve(text) : reject(error),
      );
      socket.on('close', () => resolve(text));
      socket.end(bytes);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

const TEXT = 'text/plain; charset=utf-8';
/** A line without control characters and without marks that turn its direction. */
const ONE_LINE = /^[^\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+\n$/;
/** Paths that Consul does not have. Their errors are problem details. */
const NEW_PATHS = new RegExp(
  `^/v1/(operator/(level|(acl|history)/configuration|raft/join)|discovery-chain/|` +
    'openapi\\.json|schema/|agent/history|refs/|export|config/validate|plan|apply|history|undo|' +
    'owners|' +
    `acl/(${[
      '((policy|binding-rule)/)?lint',
      '\\w+/explain',
      'who-can',
      'decision/',
      'token/[^/]*/(effective|rights)',
      'tokens/import',
    ].join('|')}))`,
);

const STANDARD_PATHS = /^\/(access\/v1\/|\.well-known\/authzen)/;

/** What no response may be, and what a refusal must contain. */
export function judge(
  { method, target, headers: sent }: Hostile,
  { status, headers, text }: Reply,
): void {
  expect(status, text).to.be.lessThan(500);
  const warning = headers['x-service-warning'] ?? '';
  expect(warning).to.match(/^[ -~]{0,300}$/);
  if (status < 400 || status === 429) return;
  expect(text, 'an error says what is wrong').to.match(/[A-Za-z]{3}/);
  for (const slip of ['undefined', '[object ', 'Internal error', 'TypeError', 'NaN', '.js:'])
    expect(text).not.to.include(slip);
  // A refused set lists the problems of its objects.
  const most = /^\/v1\/(plan|apply)/.test(target) ? 25_000 : 2500;
  expect(text.length, 'an error is a sentence, not an echo').to.be.lessThan(most);
  expect(headers['content-length']).to.equal(String(Buffer.byteLength(text)));
  const type = headers['content-type'];
  // An error found before the path was known is plain text even there.
  const isNew = NEW_PATHS.test(target) && type !== TEXT;
  // The Authorization API answers problem details only if these are named.
  const named = STANDARD_PATHS.test(target) ? /problem\+json/ : /json/;
  if (!named.test(sent['accept'] ?? '') && !isNew) {
    expect(type).to.equal(TEXT);
    if (method !== 'HEAD') expect(text, 'an error is one line').to.match(ONE_LINE);
    return;
  }
  expect(type).to.equal('application/problem+json');
  const problem = JSON.parse(text) as Record<string, unknown>;
  expect(problem, method).to.include({ type: 'about:blank', status });
  for (const member of ['title', 'detail', 'code']) expect(problem[member]).to.be.a('string');
  if ('pointer' in problem) expect(problem['pointer']).to.match(/^(?:\/(?:[^~/]|~[01])*)*$/u);
}
