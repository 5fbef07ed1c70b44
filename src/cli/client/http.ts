/** Requests to the cluster, with failover and retries. */
import type { Agent as AnyAgent, IncomingMessage } from 'node:http';
import type { AgentOptions } from 'node:https';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent as HttpAgent, request as httpRequest } from '../../base/node-http.js';
import { readNamed } from '../files/files.js';
import type { Io } from '../io.js';
import { CliError, interruption, misused, refusedBy, unknownOutcome } from '../print/error.js';
import type { TlsSettings } from './environment.js';
import { connectionHint, lossOf, NoAnswer, NoAnswerInTime } from './no-answer.js';

export interface ApiOptions {
  readonly addresses: readonly URL[];
  readonly tls: TlsSettings;
  /** Reads the token for a request, and renews it if need be. */
  readonly token: () => Promise<string | undefined>;
  readonly namespace: string | undefined;
  /** Why the command writes: the cluster keeps it with the change. */
  readonly reason: string | undefined;
  readonly mode: 'stale' | 'consistent' | undefined;
  /** How long a request may take, retries included, in milliseconds. */
  readonly timeoutMs: number;
  readonly debug: boolean;
}

/** A request. */
export interface Ask {
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  /** JSON as the user wrote it, so that the server can name the place of an error in it. */
  readonly json?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether a request other than GET changes nothing and may be retried. */
  readonly isRead?: boolean;
  /** Whether a read must not be stale, because a write depends on it. */
  readonly isCurrent?: boolean;
  /** Whether the token is sent. Default: true. */
  readonly withToken?: boolean;
  /** Whether a 404 with an index is an answer, so that a missing object can be awaited. */
  readonly mayBeMissing?: boolean;
  /** Omits namespace and consistency parameters: the request is about a node or its cluster. */
  readonly isPlain?: boolean;
  /** Returns an answer of any status, which the caller judges. */
  readonly takesAny?: boolean;
  /** Sends the request once, without retries while there is no leader. */
  readonly isOnce?: boolean;
  /** Whether this refusal is not retried, although it may pass. */
  readonly isFinal?: (failure: CliError) => boolean;
  /** Sends this token instead of the usual one. */
  readonly token?: string;
  /** Milliseconds for which the server may hold the request, on top of the usual time. */
  readonly heldMs?: number;
  /** Whether each server has only the usual time to begin the answer, which has no end. */
  readonly isEndless?: boolean;
}

/** An answer with status 2xx, or the 404 of a request that permits it. */
export interface Answer {
  readonly status: number;
  /** Index to wait on; 0 if the answer has none. */
  readonly index: number;
  header(name: string): string | undefined;
  /** The body as JSON. Throws if it is none. */
  json<T>(): T;
  readonly text: string;
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A stream can be read only once, so each try makes its own. */
  readonly body: string | (() => Readable) | undefined;
  /** Undefined: no limit. */
  readonly timeoutMs: number | undefined;
  /** The same for the head of the answer alone. */
  readonly headMs?: number | undefined;
}

const TOKEN = 'X-Consul-Token';
/** The pause before a retry if the server names none. */
const RETRY_MS = 500;

/** A client of the API. */
export class Api {
  readonly #options: ApiOptions;
  readonly #io: Io;
  /** The address that is asked first: the one that answered last. */
  #first = 0;
  #agents: Promise<{ agent: AnyAgent; request: typeof httpRequest }>[] = [];

  constructor(options: ApiOptions, io: Io) {
    this.#options = options;
    this.#io = io;
  }

  /** The namespace of the requests; undefined for that of the token. */
  get namespace(): string | undefined {
    return this.#options.namespace;
  }

  /** Returns the token that requests send now; undefined if they send none. */
  token(): Promise<string | undefined> {
    return this.#options.token();
  }

  /** Asks another node first from now on. */
  avoidNode(): void {
    this.#first += 1;
  }

  async close(): Promise<void> {
    for (const made of this.#agents) (await made)?.agent.destroy();
  }

  get(path: string, ask: Ask = {}): Promise<Answer> {
    return this.ask('GET', path, { ...ask, isRead: true });
  }

  /** Sends a request. Retries while there is no leader. Throws if it is refused. */
  async ask(method: string, path: string, ask: Ask = {}): Promise<Answer> {
    const body = ask.json ?? (ask.body === undefined ? undefined : JSON.stringify(ask.body));
    const timeoutMs = this.#options.timeoutMs + (ask.heldMs ?? 0);
    const message = await this.#accepted({ method, path, headers: {}, body, timeoutMs }, ask);
    return this.#answerOf(message, ask.isRead === true);
  }

  /** The same, with an answer as a stream. `body` makes the stream that is sent. */
  open(
    method: string,
    path: string,
    body?: () => Readable,
    ask: Pick<Ask, 'query' | 'headers' | 'isEndless'> = {},
  ): Promise<IncomingMessage> {
    const headMs = ask.isEndless === true ? this.#options.timeoutMs : undefined;
    const sent = { method, path, headers: {}, body, timeoutMs: undefined, headMs };
    return this.#accepted(sent, { ...ask, isRead: method === 'GET' });
  }

  /**
   * Retries a request until it is accepted. Throws if it is refused for good, or if time runs out.
   */
  async #accepted(request: Sent, ask: Ask): Promise<IncomingMessage> {
    const { path } = request;
    const isRead = ask.isRead === true;
    // A read that is held is refused late: its retries begin then.
    const begunMs = ask.heldMs === undefined ? performance.now() : undefined;
    let deadline: number | undefined;
    let headers = await this.#headersOf(ask);
    let gone = 0;
    for (;;) {
      const sent = { ...request, path: this.#pathOf(path, ask), headers };
      const message = await this.#sendAnywhere(sent, isRead);
      const { statusCode = 0 } = message;
      const isMissing = statusCode === 404 && Number(message.headers['x-consul-index'] ?? 0) > 0;
      const isTaken = ask.takesAny === true || (ask.mayBeMissing === true && isMissing);
      if (isSuccess(statusCode) || isTaken) return message;
      const answer = await this.#answerOf(message, isRead);
      const failure = errorOf({ ...request, headers }, answer);
      if (failure.details.code === 'acl_not_found') {
        // Another command may have renewed the login meanwhile, which ends the token that was sent.
        const { [TOKEN]: sentToken } = headers;
        headers = await this.#headersOf(ask);
        if (headers[TOKEN] !== undefined && headers[TOKEN] !== sentToken) continue;
      }
      gone = isGone(failure, answer) ? gone + 1 : 0;
      if (gone > 0 && gone < this.#options.addresses.length) {
        this.avoidNode();
        continue;
      }
      const waitMs = retryAfterMs(failure, answer);
      deadline ??= (begunMs ?? performance.now()) + this.#options.timeoutMs;
      const isLast = ask.isOnce || waitMs === undefined || ask.isFinal?.(failure);
      if (isLast || performance.now() + waitMs > deadline) throw failure;
      if (failure.details.code === 'unavailable') this.avoidNode();
      await pause(waitMs, undefined, { signal: this.#io.signal });
    }
  }

  async #answerOf(message: IncomingMessage, isRead: boolean): Promise<Answer> {
    try {
      return await answerOf(message);
    } catch (error) {
      if (this.#io.signal.aborted) throw interruption();
      const what = `the answer was cut off: ${(error as Error).message}`;
      throw isRead ? new CliError(what, { code: 'unreachable' }) : unknownOutcome(what);
    }
  }

  async #headersOf(ask: Ask): Promise<Record<string, string>> {
    const { headers, withToken, token, isRead } = ask;
    const { reason } = this.#options;
    const sent = token ?? (withToken === false ? undefined : await this.#options.token());
    return {
      Accept: 'application/json',
      'User-Agent': `conclave/${this.#io.version}`,
      ...(sent !== undefined && { [TOKEN]: sent }),
      ...(reason !== undefined &&
        isRead !== true && { 'X-Consul-Reason': encodeURIComponent(reason) }),
      ...headers,
    };
  }

  #pathOf(path: string, { query, isRead, isCurrent, isPlain = false }: Ask): string {
    const { namespace, mode } = this.#options;
    const parameters = new URLSearchParams();
    if (namespace !== undefined && !isPlain) parameters.set('ns', namespace);
    const hasMode = isRead === true && !isPlain && !(isCurrent === true && mode === 'stale');
    if (hasMode && mode !== undefined) parameters.set(mode, '');
    for (const [name, value] of Object.entries(query ?? {}))
      if (value !== undefined) parameters.set(name, value);
    const text = parameters.toString();
    return text === '' ? path : `${path}?${text}`;
  }

  /** Tries the addresses in turn. A write that may have arrived is not sent to another one. */
  async #sendAnywhere(sent: Sent, isRead: boolean): Promise<IncomingMessage> {
    const { addresses } = this.#options;
    const failed: string[] = [];
    let hint: string | undefined;
    for (let at = 0; at < addresses.length; at += 1) {
      const which = (this.#first + at) % addresses.length;
      const url = addresses[which]!;
      try {
        const message = await this.#send(url, which, sent);
        this.#first = which;
        return message;
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        if (this.#io.signal.aborted) throw interruption();
        if (error.wasSent && !isRead) throw unknownOutcome(lossOf(url, error));
        failed.push(`${url.origin} does not answer: ${error.message || error.reason.code}`);
        hint ??= connectionHint(url, error.reason, error.wasSent);
      }
    }
    throw new CliError(failed.join('; '), { code: 'unreachable', hint });
  }

  async #send(url: URL, which: number, sent: Sent): Promise<IncomingMessage> {
    this.#agents[which] ??= agentOf(url, this.#options.tls);
    const { agent, request } = await this.#agents[which];
    const { method, path, headers, body, timeoutMs, headMs } = sent;
    const started = performance.now();
    const prefix = url.pathname.replace(/\/+$/, '');
    let timer: NodeJS.Timeout | undefined;
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      let wasSent = false;
      const asked = request(
        {
          agent,
          method,
          host: url.hostname.replace(/^\[|\]$/g, ''),
          port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port,
          path: prefix + path,
          headers: {
            ...headers,
            ...(typeof body === 'string' && {
              'Content-Type': 'application/json',
              'Content-Length': String(Buffer.byteLength(body)),
            }),
          },
          signal: this.#io.signal,
        },
        resolve,
      );
      const fail = (error: Error): void => reject(new NoAnswer(error, wasSent));
      asked.on('error', fail);
      asked.on('socket', (socket) => {
        const ready = url.protocol === 'https:' ? 'secureConnect' : 'connect';
        if (socket.connecting) socket.once(ready, () => (wasSent = true));
        else wasSent = true;
      });
      if (timeoutMs !== undefined)
        asked.setTimeout(timeoutMs, () => asked.destroy(new NoAnswerInTime(timeoutMs)));
      if (headMs !== undefined)
        timer = setTimeout(() => asked.destroy(new NoAnswerInTime(headMs)), headMs);
      if (typeof body === 'function') pipeline(body(), asked).catch(fail);
      else asked.end(body);
    }).finally(() => clearTimeout(timer));
    if (this.#options.debug) {
      const took = Math.round(performance.now() - started);
      this.#io.err.write(`${method} ${url.origin}${path} ${message.statusCode} ${took} ms\n`);
    }
    return message;
  }
}

async function agentOf(url: URL, tls: TlsSettings) {
  if (url.protocol === 'http:')
    return { agent: new HttpAgent({ keepAlive: true }), request: httpRequest };
  // Loaded here, because TLS takes a third of the program's start.
  const [{ Agent, request }, { createSecureContext }] = await Promise.all([
    import('node:https'),
    import('node:tls'),
  ]);
  const ca = pemIn('--ca-file', tls.caFile);
  const cert = pemIn('--client-cert', tls.clientCert);
  const key = pemIn('--client-key', tls.clientKey);
  const settings: AgentOptions = {
    keepAlive: true,
    rejectUnauthorized: tls.verify,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(tls.serverName !== undefined && { servername: tls.serverName }),
  };
  try {
    createSecureContext(settings);
  } catch (error) {
    const words = (error as Error).message.replace(/^error:[0-9A-F]+:/, '');
    misused(`the certificates or the key cannot be used: ${words}`);
  }
  return { agent: new Agent(settings), request: request as typeof httpRequest };
}

/** Reads a file of certificates or a key. Without any, TLS would fail in words about the server. */
function pemIn(option: string, path: string | undefined): string | undefined {
  const text = path === undefined ? undefined : readNamed(option, path);
  if (text?.includes('-----BEGIN ') === false) misused(`${option}: ${path} is not a PEM file`);
  return text;
}

async function answerOf(message: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const header = (name: string): string | undefined => {
    const value = message.headers[name.toLowerCase()];
    return Array.isArray(value) ? value[0] : value;
  };
  return {
    status: message.statusCode ?? 0,
    index: Number(header('X-Consul-Index') ?? 0),
    header,
    text,
    json<T>(): T {
      try {
        // The caller names the form of its endpoint's answer.
        return JSON.parse(text) as T;
      } catch {
        throw new CliError('the answer is not JSON: this is not a server of this API', {
          hint: `it begins with ${JSON.stringify(text.slice(0, 60))}`,
        });
      }
    },
  };
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

function errorOf({ method, path, headers }: Sent, answer: Answer): CliError {
  const hasToken = headers[TOKEN] !== undefined;
  const type = answer.header('Content-Type') ?? '';
  const decision = answer.header('X-Consul-Decision');
  const { status, text } = answer;
  const location = answer.header('Location');
  return refusedBy({ method, path, status, hasToken, type, text, decision, location });
}

/** Whether a server refuses all requests and names no time to wait: it was removed. */
const isGone = ({ details: { code } }: CliError, answer: Answer): boolean =>
  code === 'unavailable' && answer.header('Retry-After') === undefined;

/** Returns after how long a refused request may be sent again; undefined if not at all. */
function retryAfterMs(failure: CliError, answer: Answer): number | undefined {
  const isWaiting = ['no_leader', 'unavailable'].includes(failure.details.code ?? '');
  if ((!isWaiting && answer.status !== 429) || isGone(failure, answer)) return undefined;
  return Math.max(RETRY_MS, Number(answer.header('Retry-After') ?? 0) * 1000 || 0);
}
