/**
 * How the traffic between members is protected.
 *
 *   closed A server without peers. It neither listens nor connects.
 *   plain  TCP without protection, only if the operator asks for it and every address is a loopback
 *          address. Every user of the machine can then become a member and read the whole state.
 *   key    TLS 1.3 with a pre-shared key and ephemeral Diffie-Hellman (RFC 8446, psk_dhe_ke), as
 *          OpenSSL implements it. Both sides prove that they have the key, and the traffic is
 *          encrypted and authenticated. A recorded connection can neither be replayed nor be
 *          decrypted later with the key. The PSK is HKDF-SHA-256 of the configured key. There are no
 *          certificates, and a peer that shows one instead is refused. Several keys may be configured
 *          during a rotation: the first is used to connect, all are accepted.
 *   tls    Mutual TLS 1.3. Both sides show a certificate of the configured authority that carries
 *          the DNS name `name`, so that another certificate of that authority, such as a client's,
 *          does not make its owner a member.
 */

import { createHash, hkdfSync, X509Certificate } from 'node:crypto';
import { lookup as dnsLookup } from 'node:dns';
import net from 'node:net';
import tls from 'node:tls';
import { isLoopback } from '../base/address.js';
import { patientLookup } from './lookup.js';
import { listTexts } from './revocation-lists.js';
import type { WireSecurity, WireServer, WireSocket, WireSockets } from './sockets.js';

/** A shorter key could be guessed from a recorded handshake. */
const KEY_CHARACTERS_MIN = 16;
/**
 * Set explicitly on both sides. The default comes from NODE_TLS_REJECT_UNAUTHORIZED, which could
 * disable the check.
 */
const VERIFIED = { rejectUnauthorized: true };
/** How long a TLS handshake may take: a silent client must not occupy a connection for longer. */
const HANDSHAKE_MS = 3000;

/**
 * Returns the subject of the peer's certificate: its common name, or the whole subject if it has
 * none. Returns undefined if no certificates are used. The subject stays the same when a
 * certificate is renewed.
 */
export function subjectOf(socket: WireSocket): string | undefined {
  if (!(socket instanceof tls.TLSSocket)) return undefined;
  // With a shared key there is no certificate, and Node returns an empty object.
  const { subject } = socket.getPeerCertificate() as Partial<tls.PeerCertificate>;
  return nameOf(subject);
}

/** Returns subject and issuer of the certificate of this side; undefined if there is none. */
export function ownCertificateOf(
  socket: WireSocket,
): { readonly subject: string; readonly issuer: string } | undefined {
  if (!(socket instanceof tls.TLSSocket)) return undefined;
  const own = socket.getCertificate() as Partial<tls.PeerCertificate> | null;
  const subject = nameOf(own?.subject);
  return subject === undefined ? undefined : { subject, issuer: nameOf(own?.issuer) ?? '' };
}

/** Returns the common name of a subject or issuer, or all of it if it has none. */
function nameOf(name: tls.Certificate | undefined): string | undefined {
  if (name === undefined) return undefined;
  const { CN } = name as { CN?: string | string[] };
  return typeof CN === 'string' && CN !== '' ? CN : JSON.stringify(name);
}

/**
 * Throws Error if this protection is insufficient for these hosts. The message says what to
 * configure.
 */
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
      `members would communicate without protection on ${open}. Give every member the same shared key, or TLS certificates ` +
        '(certificate, key, authority and name); without either, only loopback addresses (127.0.0.1, ::1) are allowed',
    );
  }
}

/** What differs between the modes: how to listen and how to dial, on sockets of the system. */
export interface SocketMaker extends WireSockets {
  listen(
    onSocket: (socket: net.Socket) => void,
    onError: (problem: string, remote: string) => void,
  ): net.Server;
  dial(address: { host: string; port: number }, onReady: () => void): net.Socket;
  update(security: WireSecurity, server: WireServer | undefined): void;
}

/** One for all connections: their members are the same. */
const lookup = patientLookup(dnsLookup, (ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
});

/** Returns the sockets of a mode. */
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
          onError(problem.message, remoteOf(socket));
          socket.destroy();
        }
      });
      return server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
        onError(handshakeProblem(error, socket, current.both.cert), remoteOf(socket));
        // Node never closes a socket whose handshake timed out.
        socket.destroy();
      });
    },
    dial: (address, onReady) =>
      tls.connect({ ...address, lookup, ...current.both, ...current.client, ...VERIFIED }, onReady),
    update: (next, server) => {
      const protection = protect(next as Protected);
      // Throws for unusable files.
      (server as tls.Server | undefined)?.setSecureContext(protection.both);
      current = protection;
    },
  };
}

const notValid = (code: Error | string): string => `the certificate is not valid: ${code}`;

/**
 * Returns why a handshake failed. When Node rejects a certificate it closes the connection, and
 * only the socket has the reason.
 */
function handshakeProblem(
  error: NodeJS.ErrnoException,
  socket: tls.TLSSocket,
  own: tls.SecureContextOptions['cert'],
): string {
  if (socket.authorizationError) return notValid(socket.authorizationError);
  if (error.code !== 'ECONNRESET') return error.message;
  const what = 'the client aborted the handshake';
  if (own === undefined) return what;
  const certificate = new X509Certificate(String(own));
  const [subject, issuer] = [certificate.subject, certificate.issuer].map((each) =>
    each.replaceAll('\n', ', '),
  );
  const names = `subject "${subject}", issuer "${issuer}"`;
  return `${what}: a member probably refused the certificate of this node (${names}); see its log`;
}

/** Returns the address and port of a client, also after its socket is closed. */
function remoteOf(socket: tls.TLSSocket & { readonly _parent?: net.Socket }): string {
  // A closed TLS socket has forgotten them. The TCP socket below it has not.
  const { remoteAddress, remotePort } = socket._parent ?? socket;
  return `${remoteAddress}:${remotePort}`;
}

const plainSockets: SocketMaker = {
  listen: (onSocket) => net.createServer(onSocket),
  dial: (address, onReady) => net.connect({ ...address, lookup }, onReady),
  update: () => {},
};

type Protected = Extract<WireSecurity, { mode: 'key' | 'tls' }>;
interface Protection {
  readonly both: tls.SecureContextOptions;
  readonly client: tls.ConnectionOptions;
  /** Returns the pre-shared key of an identity; null if there is none. */
  keyFor(identity: string): Buffer | null;
  /** Returns why a client that passed the handshake is not a member. */
  problemOf(socket: tls.TLSSocket): Error | undefined;
}
const protect = (security: Protected): Protection =>
  security.mode === 'key' ? protectByKey(security.keys) : protectByCertificate(security);

function protectByKey(keys: readonly string[]): Protection {
  const derived = keys.map((key) => {
    const psk = Buffer.from(hkdfSync('sha256', key, '', 'conclave wire psk v1', 32));
    // The identity is sent in clear text. It distinguishes keys without revealing them.
    const identity = createHash('sha256').update('conclave wire id v1').update(psk).digest('hex');
    return { psk, identity };
  });
  return {
    both: { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' },
    client: {
      pskCallback: () => derived[0]!,
      ca: [],
      // Called with the peer's certificate. With a shared key there is none.
      checkServerIdentity: (_host, certificate) =>
        Object.keys(certificate ?? {}).length === 0
          ? undefined
          : new Error('the peer presents a certificate instead of proving the shared key'),
    },
    keyFor: (identity) => derived.find((key) => key.identity === identity)?.psk ?? null,
    problemOf: () => undefined,
  };
}

function protectByCertificate(security: WireSecurity & { mode: 'tls' }): Protection {
  const { cert, key, ca, name, crl } = security;
  return {
    both: {
      cert,
      key,
      ca,
      minVersion: 'TLSv1.3',
      ...(crl !== undefined && { crl: listTexts(crl) }),
    },
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
