/**
 * The listening socket and its limits: slow clients, large headers, too many connections, an
 * orderly end.
 */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { clientAt } from './addresses.js';
import type { HttpApp } from './app.js';
import { Tally } from './held.js';

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** Files of certificate, key and, to ask clients for certificates, their authority. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca?: string };
  /** Bytes of all request headers together; more is answered with 431. */
  readonly headerBytes: number;
  /**
   * Connections at one time, in all and from one address; more are answered with 429 and closed.
   */
  readonly connections: number;
  readonly connectionsPerAddress: number;
  /** Connections beyond these, each for one probe of the node's health. */
  readonly probeConnections: number;
  /**
   * Milliseconds for all headers, and for the whole request, to arrive: against clients that send
   * byte by byte.
   */
  readonly headersMs: number;
  readonly receiveMs: number;
  /** Milliseconds an idle connection is kept. */
  readonly keepAliveMs: number;
  /**
   * Milliseconds without a byte either way, whatever is under way, after which a connection is cut.
   */
  readonly silenceMs: number;
}

export interface Listener {
  readonly port: number;
  /** Connections open at present. */
  connections(): number;
  /**
   * Reads the TLS files again; connections made from now on use them. Throws, changing nothing, if
   * they are no good.
   */
  reloadTls(): void;
  /**
   * Takes no more connections, lets requests in flight end, cuts what is left after `graceMs`.
   * Connections on which nothing is asked stay open for `lingerMs`: a client that keeps its
   * connection is told by its next answer to leave; closed under it, the connection would take a
   * request on its way with it.
   */
  close(graceMs: number, lingerMs?: number): Promise<void>;
}

/** How long one that is beyond the limit may take to hear so. */
const REFUSED_MS = 1000;
/**
 * Of the connections for probes, those that one address may have: a node is probed from few places.
 */
const PROBES_PER_ADDRESS = 4;
/** How many connections may wait to be taken in. */
const BACKLOG = 4096;

/** What probes ask for. */
const PROBES = '/v1/health/';

const plain = (status: string, message: string, extra = ''): string =>
  `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${message.length}\r\n${extra}Connection: close\r\n\r\n${message}`;
const TOO_MANY = plain(
  '429 Too Many Requests',
  'Too many connections; try again in a second',
  'Retry-After: 1\r\n',
);
const MALFORMED: Record<string, string> = {
  HPE_HEADER_OVERFLOW: plain(
    '431 Request Header Fields Too Large',
    'The request line and headers are larger than this server takes',
  ),
  ERR_HTTP_REQUEST_TIMEOUT: plain('408 Request Timeout', 'The request did not arrive in time'),
};
const BAD_REQUEST = plain('400 Bad Request', 'The request is not well-formed HTTP');

const tlsFiles = (tls: NonNullable<ListenerOptions['tls']>) => ({
  cert: readFileSync(tls.cert),
  key: readFileSync(tls.key),
  ...(tls.ca !== undefined && {
    ca: readFileSync(tls.ca),
    requestCert: true,
    rejectUnauthorized: true,
  }),
});

/** Connections beyond the limit that may still ask for the node's health. */
class Reserve {
  readonly #places = new Set<string>();
  readonly #addresses = new Tally();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a connection in; false when there is no place for it. */
  enter(socket: Socket, address: string): boolean {
    if (this.#places.size >= this.#max) return false;
    if (this.#addresses.of(address) >= PROBES_PER_ADDRESS) return false;
    const place = placeOf(socket);
    this.#places.add(place);
    this.#addresses.change(address, 1);
    socket.once('close', () => {
      this.#places.delete(place);
      this.#addresses.change(address, -1);
    });
    return true;
  }

  holds(socket: Socket): boolean {
    return this.#places.size > 0 && this.#places.has(placeOf(socket));
  }
}

/** Where a connection comes from: the same of a TLS socket and of the one below it. */
const placeOf = (socket: Socket): string => `${socket.remoteAddress} ${socket.remotePort}`;

/** Listens. Rejects with Node's error (EADDRINUSE, EACCES) when it cannot. */
export async function listen(app: HttpApp, options: ListenerOptions): Promise<Listener> {
  const settings = {
    maxHeaderSize: options.headerBytes,
    headersTimeout: options.headersMs,
    requestTimeout: options.receiveMs,
    keepAliveTimeout: options.keepAliveMs,
    // one shared sweep over all connections instead of a timer per request
    connectionsCheckingInterval: Math.max(1000, Math.min(options.headersMs, 30_000) / 2),
    noDelay: true,
  };
  const open = new Set<Socket>();
  const { tls } = options;
  const server: Server =
    tls === undefined
      ? createServer(settings)
      : createTlsServer({ ...settings, ...tlsFiles(tls), handshakeTimeout: options.headersMs });

  server.timeout = options.silenceMs;
  const refused = new WeakSet<Socket>();
  const addresses = new Tally();
  const reserve = new Reserve(options.probeConnections);
  server.on('request', (req, res) => {
    // Node reads on: what a refused connection asks must not happen
    if (refused.has(req.socket)) req.socket.destroy();
    else if (!reserve.holds(req.socket)) app.handler(req, res);
    else if (req.url?.startsWith(PROBES)) {
      // one probe, then the place is for the next
      res.shouldKeepAlive = false;
      app.handler(req, res);
    } else refuse(req.socket);
  });
  const refuse = (socket: Socket): void => {
    refused.add(socket);
    socket.end(TOO_MANY);
  };
  const cutLater = (socket: Socket, andThen: () => void): void => {
    const cut = setTimeout(andThen, REFUSED_MS);
    socket.once('close', () => clearTimeout(cut));
  };
  let accepted = 0;
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    const address = clientAt(socket.remoteAddress ?? '');
    const own = addresses.of(address);
    if (open.size < options.connections && own < options.connectionsPerAddress) {
      open.add(socket);
      addresses.change(address, 1);
      socket.once('close', () => {
        open.delete(socket);
        addresses.change(address, -1);
      });
      return;
    }
    app.refused.add(open.size < options.connections ? 'connectionsPerAddress' : 'connections');
    if (reserve.enter(socket, address)) {
      cutLater(socket, () => {
        refuse(socket);
        cutLater(socket, () => socket.destroy());
      });
      return;
    }
    refuse(socket);
    cutLater(socket, () => socket.destroy());
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (socket.writable && error.code !== 'ECONNRESET')
      socket.end(MALFORMED[error.code ?? ''] ?? BAD_REQUEST);
    else socket.destroy();
  });

  // Node leaves one open for ever that does not end its handshake
  server.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: options.host, port: options.port, backlog: BACKLOG }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => open.size,
    reloadTls() {
      if (tls !== undefined)
        (server as ReturnType<typeof createTlsServer>).setSecureContext(tlsFiles(tls));
    },
    async close(graceMs, lingerMs = 0) {
      const closed = new Promise((resolve) => server.once('close', resolve));
      // Connections that the system has made for us already must be taken in, or they would be
      // reset. Each turn of the loop takes at least one: where one brings none, none waits. Where
      // they never cease to come, those of now are in by then.
      const most = accepted + BACKLOG;
      for (let before = -1; before !== accepted && accepted < most; ) {
        before = accepted;
        for (let phase = 0; phase < 2; phase += 1) await new Promise((done) => setImmediate(done));
      }
      // not the HTTP server's own close, which cuts idle connections at once
      NetServer.prototype.close.call(server);
      // Only now: a client that is told to leave comes back at once, and would be reset if we still
      // listened until then.
      app.drain();
      const idle = setTimeout(() => {
        server.close(() => {});
        // Node counts a connection as idle only after its first request
        for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
      }, lingerMs);
      const cut = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(idle);
      clearTimeout(cut);
      // ends the server's own sweep over its connections
      server.close(() => {});
    },
  };
}
