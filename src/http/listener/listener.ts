/**
 * The listening socket: TLS, time limits of slow clients, size of headers, and an orderly end.
 */
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { createSecureContext, type TLSSocket } from 'node:tls';
import { createServer } from '../../base/node-http.js';
import type { HttpApp } from '../app.js';
import { type ConnectionLimits, Connections, placeOf, plainResponse } from './connections.js';
import { takeRequests } from './intake.js';

export interface ListenerOptions extends ConnectionLimits {
  readonly host: string;
  readonly port: number;
  /**
   * Sockets at one time, those of refused connections and unfinished handshakes included. Others
   * are closed at once. Absent: there is no such limit.
   */
  readonly sockets?: number;
  /** Files of certificate, key and, to ask clients for certificates, their authority. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca?: string };
  /** Bytes of all request headers together; more is answered with 431. */
  readonly headerBytes: number;
  /**
   * Milliseconds for all headers, and for the whole request, to arrive: against clients that send
   * byte by byte. For headers, fewer while many connections have no request in progress.
   */
  readonly headersMs: number;
  readonly receiveMs: number;
  readonly keepAliveMs: number;
  /** Milliseconds without a byte in either direction after which a connection is closed. */
  readonly silenceMs: number;
  /** Called for requests without TLS to a port that speaks it, at most once a minute. */
  readonly onPlainRequests?: PlainReport;
}

/** A listening front end. */
export interface Listener {
  readonly port: number;
  connections(): number;
  /**
   * Reads the TLS files again. Throws Error if they are unusable. The returned function, which
   * cannot fail, makes later connections use them.
   */
  prepareTls(): () => void;
  /**
   * Accepts no more connections, waits for requests in flight, and closes what is left after
   * `graceMs`. Idle connections stay open for `lingerMs`: the next response on them closes them. If
   * they were closed at once, a request in flight would be lost.
   */
  close(graceMs: number, lingerMs?: number): Promise<void>;
}

/** How many connections may wait in the kernel to be accepted. */
const BACKLOG = 4096;
/** The part of all connections that may take `headersMs` for their headers. */
const PATIENT_PART = 1 / 32;
/** Milliseconds that headers may take at least, and between two looks for those that are late. */
const HEADERS_MS_MIN = 1000;

const MALFORMED: Record<string, string> = {
  HPE_HEADER_OVERFLOW: plainResponse(
    '431 Request Header Fields Too Large',
    'The request line and headers are larger than this server accepts',
  ),
  ERR_HTTP_REQUEST_TIMEOUT: plainResponse(
    '408 Request Timeout',
    'The request did not arrive in time',
  ),
};
const BAD_REQUEST = plainResponse('400 Bad Request', 'The request is not well-formed HTTP');
const NOT_EXPECTED = 'This server supports no value of the header Expect but 100-continue\n';
const NO_PROXY = plainResponse(
  '405 Method Not Allowed',
  'method CONNECT not allowed: this server is no proxy',
  'Allow: \r\n',
);

const tlsFiles = (tls: NonNullable<ListenerOptions['tls']>) => ({
  cert: readFileSync(tls.cert),
  key: readFileSync(tls.key),
  ...(tls.ca !== undefined && {
    ca: readFileSync(tls.ca),
    requestCert: true,
    rejectUnauthorized: true,
  }),
});

/** Listens. Rejects with Node's error (EADDRINUSE, EACCES) if it cannot. */
export async function listen(app: HttpApp, options: ListenerOptions): Promise<Listener> {
  const settings = {
    maxHeaderSize: options.headerBytes,
    headersTimeout: options.headersMs,
    requestTimeout: options.receiveMs,
    keepAliveTimeout: options.keepAliveMs,
    // one shared sweep over all connections instead of a timer per request
    connectionsCheckingInterval: HEADERS_MS_MIN,
    noDelay: true,
    // BrowserCheck says what is missing
    requireHostHeader: false,
  };
  const { tls } = options;
  const secure = tls && createTlsServer({ ...settings, ...tlsFiles(tls) });
  const server: Server = secure ?? createServer(settings);
  const connections = new Connections(app, options);
  server.timeout = options.silenceMs;
  if (options.sockets !== undefined) server.maxConnections = options.sockets;
  // `headerBytes` bounds them. Node would ignore all beyond a thousand.
  server.maxHeadersCount = 0;
  server.on('connection', (socket: Socket) => connections.accept(socket));
  const requests = takeRequests(server, secure !== undefined, (req, res) =>
    connections.handle(req, res),
  );
  // Node reads it at each sweep.
  Object.defineProperty(server, 'headersTimeout', {
    get: () => headersMs(options, connections.begun() - requests.busy()),
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (socket.writable && error.code !== 'ECONNRESET')
      requests.end(socket, MALFORMED[error.code ?? ''] ?? BAD_REQUEST);
    else socket.destroy();
  });
  sayWhatIsUnsupported(server);
  if (secure !== undefined) watchHandshakes(secure, options);

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: options.host, port: options.port, backlog: BACKLOG }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections.open.size,
    prepareTls() {
      if (tls === undefined) return () => {};
      const files = tlsFiles(tls);
      createSecureContext(files);
      return () => secure?.setSecureContext(files);
    },
    close: (graceMs, lingerMs = 0) => close(server, app, connections, { graceMs, lingerMs }),
  };
}

/** Answers what Node by itself would refuse without a word. */
function sayWhatIsUnsupported(server: Server): void {
  server.on('connect', (_request, socket) => {
    socket.on('error', () => {}).end(NO_PROXY, () => socket.destroy());
  });
  server.on('checkExpectation', (_request, response) => {
    response.statusCode = 417;
    response
      .setHeader('Content-Type', 'text/plain; charset=utf-8')
      .setHeader('Connection', 'close');
    response.end(NOT_EXPECTED);
  });
}

/**
 * Milliseconds for headers to arrive while so many connections have no request in progress, and for
 * a TLS handshake while so many are not finished. Each may keep `headerBytes` of unfinished headers
 * in memory, or some 80 kB of a handshake, so the more there are, the shorter.
 */
function headersMs(options: ListenerOptions, waiting: number): number {
  const patient = options.connections * PATIENT_PART;
  const ms = Math.round((options.headersMs * patient) / Math.max(waiting, patient, 1));
  return Math.min(options.headersMs, Math.max(ms, HEADERS_MS_MIN));
}

function watchHandshakes(server: TlsServer, options: ListenerOptions): void {
  const handshakes = new Handshakes(options);
  server.on('connection', (socket: Socket) => handshakes.begin(socket));
  server.on('secureConnection', (socket) => handshakes.done(socket));
  server.on('tlsClientError', (error, socket) => {
    handshakes.failed(error, socket);
    socket.destroy();
  });
}

async function close(
  server: Server,
  app: HttpApp,
  connections: Connections,
  { graceMs, lingerMs }: { readonly graceMs: number; readonly lingerMs: number },
): Promise<void> {
  const closed = new Promise((resolve) => server.once('close', resolve));
  // Connections that the kernel has established already are accepted first, or they would be reset.
  // Each turn of the loop accepts at least one: a turn that accepts none means that none is left.
  // Under constant load, one backlog's worth is enough.
  const most = connections.accepted + BACKLOG;
  for (let before = -1; before !== connections.accepted && connections.accepted < most; ) {
    before = connections.accepted;
    for (let phase = 0; phase < 2; phase += 1) await new Promise((done) => setImmediate(done));
  }
  // not the HTTP server's own close, which closes idle connections at once
  NetServer.prototype.close.call(server);
  // Only now: a client that is told to close its connection opens another one at once, which would
  // be reset if this server listened until then.
  app.drain();
  const idle = setTimeout(() => {
    server.close(() => {});
    // Node counts a connection as idle only after its first request
    for (const socket of connections.open) if (socket.bytesRead === 0) socket.destroy();
  }, lingerMs);
  const cut = setTimeout(() => {
    server.closeAllConnections();
    // those in a handshake are not yet known to Node as such
    for (const socket of connections.open) socket.destroy();
  }, graceMs);
  await closed;
  clearTimeout(idle);
  clearTimeout(cut);
  // ends the server's own sweep over its connections
  server.close(() => {});
}

/** Tells that requests came without TLS: the address of one, and how many since the last report. */
export type PlainReport = (address: string, count: number) => void;

/** Milliseconds from one report to the next: anyone can send such requests. */
const REPORTED_EVERY_MS = 60_000;

/** What OpenSSL says of the usual methods, and of other bytes that are no TLS. */
const NO_TLS: ReadonlySet<string> = new Set([
  'ERR_SSL_HTTP_REQUEST',
  'ERR_SSL_WRONG_VERSION_NUMBER',
]);

const ANSWER = plainResponse(
  '400 Bad Request',
  'This port requires TLS: write https:// before the address',
);

/** The TLS handshakes that are not finished. */
class Handshakes {
  readonly #options: ListenerOptions;
  /** The raw sockets and their time limits, by the origin of the connection. */
  readonly #open = new Map<string, { readonly socket: Socket; readonly late: NodeJS.Timeout }>();
  #count = 0;
  #dueMs = 0;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  begin(socket: Socket): void {
    const place = placeOf(socket);
    const drop = (): void => {
      if (this.#open.get(place)?.socket === socket) socket.destroy();
    };
    // What has arrived meanwhile is read first: this node may have been busy, and not the client.
    const late = setTimeout(
      () => setImmediate(() => setImmediate(drop)),
      headersMs(this.#options, this.#open.size),
    );
    this.#open.set(place, { socket, late });
    socket.once('close', () => {
      clearTimeout(late);
      if (this.#open.get(place)?.socket === socket) this.#open.delete(place);
    });
  }

  done(socket: TLSSocket): void {
    const place = placeOf(socket);
    clearTimeout(this.#open.get(place)?.late);
    this.#open.delete(place);
  }

  /** Answers a connection whose handshake failed for want of TLS. Node closes it after that. */
  failed({ code = '' }: NodeJS.ErrnoException, socket: TLSSocket): void {
    const raw = this.#open.get(placeOf(socket))?.socket;
    if (raw?.writable !== true || !NO_TLS.has(code)) return;
    raw.end(ANSWER);
    this.#count += 1;
    const nowMs = performance.now();
    if (nowMs < this.#dueMs) return;
    const address = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
    this.#options.onPlainRequests?.(address, this.#count);
    this.#count = 0;
    this.#dueMs = nowMs + REPORTED_EVERY_MS;
  }
}
