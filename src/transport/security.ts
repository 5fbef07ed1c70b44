/**
 * How bytes between members are protected.
 *
 *   closed A server without peers: it neither listens nor connects.
 *   plain  TCP without protection: only where somebody asked for it and every address is a loopback address. Every user of
 *          the machine can then become a member and read the whole state.
 *   key    TLS 1.3 with a pre-shared key and ephemeral Diffie-Hellman (RFC 8446, psk_dhe_ke), as OpenSSL does it: both
 *          sides prove the key, bytes are encrypted and authenticated, a recorded connection can neither be played again
 *          nor be read later with the key. The PSK is HKDF-SHA-256 of the configured key; no certificates are involved,
 *          and a peer that shows one instead is refused. Several keys may be given while they are being exchanged:
 *          the first is used to connect, all are accepted.
 *   tls    TLS 1.3, mutual: both sides show a certificate of the configured authority that carries the DNS name `name`,
 *          so that another certificate of the same authority (a client's, say) does not make its owner a member.
 */
import { createHash, hkdfSync } from 'node:crypto';
import net from 'node:net';
import tls from 'node:tls';

export type WireSecurity =
  | { readonly mode: 'closed' }
  | { readonly mode: 'plain' }
  /** Secret texts of at least 16 characters; better 32 random bytes in base64. */
  | { readonly mode: 'key'; readonly keys: readonly string[] }
  | {
      readonly mode: 'tls';
      /** PEM. */
      readonly cert: string;
      readonly key: string;
      readonly ca: string;
      /** DNS name which the certificate of every member carries. */
      readonly name: string;
      /**
       * Revocation lists (PEM), one of each authority in a certificate's chain. Without it nothing
       * counts as revoked.
       */
      readonly crl?: string;
    };

/** A shorter key could be guessed by whoever records a handshake. */
const KEY_CHARACTERS_MIN = 16;
/**
 * Said on both sides: Node takes its default from NODE_TLS_REJECT_UNAUTHORIZED, which would let
 * anyone in.
 */
const VERIFIED = { rejectUnauthorized: true };
/** A stranger who connects and says nothing is not held for long. */
const HANDSHAKE_MS = 3000;

/** True for names and numbers that cannot be reached from another machine. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return net.isIPv4(host) && host.startsWith('127.');
}

/** The same of `host:port`; false for text that is no address. */
export function isLoopbackAddress(address: string): boolean {
  try {
    return isLoopback(parseAddress(address).host);
  } catch {
    return false;
  }
}

/** Whether it can be dialled: `host:port` or `[v6]:port`. */
export function isAddress(text: string): boolean {
  try {
    parseAddress(text);
    return true;
  } catch {
    return false;
  }
}

/** Splits `host:port` or `[v6]:port`. Throws for anything else. */
export function parseAddress(address: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  if (match === null || port > 65535) {
    throw new Error(`"${address}" is not an address: expected host:port or [ipv6]:port`);
  }
  return { host: match[1] ?? match[2]!, port };
}

/**
 * The subject of the certificate that the other side has shown: its common name, or the whole
 * subject if it has none. Undefined where no certificates are used. It stays the same when a
 * certificate is renewed.
 */
export function subjectOf(socket: net.Socket): string | undefined {
  if (!(socket instanceof tls.TLSSocket)) return undefined;
  // With a shared key there is no certificate, and Node gives an empty object.
  const { subject } = socket.getPeerCertificate() as Partial<tls.PeerCertificate>;
  if (subject === undefined) return undefined;
  const { CN } = subject as { CN?: string | string[] };
  return typeof CN === 'string' && CN !== '' ? CN : JSON.stringify(subject);
}

/** Throws, saying what to configure, when this security is not enough for these hosts. */
export function checkSecurity(security: WireSecurity, hosts: readonly string[]): void {
  if (security.mode === 'key') {
    if (
      security.keys.length === 0 ||
      security.keys.some((key) => key.length < KEY_CHARACTERS_MIN)
    ) {
      throw new Error(
        `the shared key of the cluster must have at least ${KEY_CHARACTERS_MIN} characters; ` +
          'make one with: openssl rand -base64 32',
      );
    }
  }
  const open = hosts.find((host) => !isLoopback(host));
  if (security.mode === 'plain' && open !== undefined) {
    throw new Error(
      `members would talk without protection on ${open}. Give every member the same shared key, or TLS certificates ` +
        '(certificate, key, authority and name); without either, only loopback addresses (127.0.0.1, ::1) are allowed',
    );
  }
}

/**
 * What differs between the modes: how to listen and how to dial. A socket given out is ready to
 * carry frames.
 */
export interface SocketMaker {
  listen(
    onSocket: (socket: net.Socket) => void,
    onError: (problem: string, remote: string | undefined) => void,
  ): net.Server;
  /** `onReady` is called once the other side has proved itself, as far as the mode demands. */
  dial(address: { host: string; port: number }, onReady: () => void): net.Socket;
  /**
   * Uses other secrets, of the same mode, for connections from now on, also on the server given.
   */
  update(security: WireSecurity, server: net.Server | undefined): void;
}

export function socketMaker(security: WireSecurity): SocketMaker {
  if (security.mode === 'plain' || security.mode === 'closed') return plainSockets;
  let current = protect(security);
  return {
    listen: (onSocket, onError) => {
      const options: tls.TlsOptions = {
        ...current.both,
        ...VERIFIED,
        requestCert: security.mode === 'tls',
        handshakeTimeout: HANDSHAKE_MS,
        ...(security.mode === 'key'
          ? { pskCallback: (_socket: tls.TLSSocket, identity: string) => current.keyFor(identity) }
          : {}),
      };
      const server = tls.createServer(options, (socket) => {
        const problem = current.problemOf(socket);
        if (problem === undefined) onSocket(socket);
        else {
          onError(problem.message, socket.remoteAddress);
          socket.destroy();
        }
      });
      return server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
        onError(handshakeProblem(error, socket), socket.remoteAddress);
        // Node leaves one that was too slow open for ever
        socket.destroy();
      });
    },
    dial: (address, onReady) =>
      tls.connect({ ...address, ...current.both, ...current.client, ...VERIFIED }, onReady),
    update: (next, server) => {
      current = protect(next as Protected);
      (server as tls.Server | undefined)?.setSecureContext(current.both);
    },
  };
}

const notValid = (code: Error | string): string => `the certificate is not valid: ${code}`;

/**
 * Why a handshake failed. A client whose certificate is refused is cut off by Node, which only the
 * socket explains.
 */
function handshakeProblem(error: NodeJS.ErrnoException, socket: tls.TLSSocket): string {
  if (socket.authorizationError) return notValid(socket.authorizationError);
  return error.code === 'ECONNRESET' ? 'it broke the handshake off' : error.message;
}

const plainSockets: SocketMaker = {
  listen: (onSocket) => net.createServer(onSocket),
  dial: (address, onReady) => net.connect(address, onReady),
  update: () => {},
};

type Protected = Extract<WireSecurity, { mode: 'key' | 'tls' }>;
interface Protection {
  readonly both: tls.SecureContextOptions;
  readonly client: tls.ConnectionOptions;
  /** The pre-shared key behind an identity; null when there is none. */
  keyFor(identity: string): Buffer | null;
  /** Why a client that the handshake let in is not a member. */
  problemOf(socket: tls.TLSSocket): Error | undefined;
}
const protect = (security: Protected): Protection =>
  security.mode === 'key' ? protectByKey(security.keys) : protectByCertificate(security);

function protectByKey(keys: readonly string[]): Protection {
  const derived = keys.map((key) => {
    const psk = Buffer.from(hkdfSync('sha256', key, '', 'conclave wire psk v1', 32));
    // The identity is sent in the open: it tells keys apart and says nothing about them.
    const identity = createHash('sha256').update('conclave wire id v1').update(psk).digest('hex');
    return { psk, identity };
  });
  return {
    both: { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' },
    client: {
      pskCallback: () => derived[0]!,
      ca: [],
      // Called with the certificate of the other side: with the key there is none.
      checkServerIdentity: (_host, certificate) =>
        Object.keys(certificate ?? {}).length === 0
          ? undefined
          : new Error('the peer shows a certificate instead of proving the shared key'),
    },
    keyFor: (identity) => derived.find((key) => key.identity === identity)?.psk ?? null,
    problemOf: () => undefined,
  };
}

function protectByCertificate(security: WireSecurity & { mode: 'tls' }): Protection {
  const { cert, key, ca, name, crl } = security;
  return {
    both: { cert, key, ca, minVersion: 'TLSv1.3', ...(crl !== undefined && { crl }) },
    client: {
      servername: name,
      checkServerIdentity: (_host, certificate) => tls.checkServerIdentity(name, certificate),
    },
    keyFor: () => null,
    problemOf: (socket) => {
      if (socket.authorized) return tls.checkServerIdentity(name, socket.getPeerCertificate());
      return new Error(notValid(socket.authorizationError));
    },
  };
}
