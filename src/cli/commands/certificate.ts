/** The certificate of a server. */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { TlsSettings } from '../client/environment.js';

/** How long a handshake may take, in milliseconds. */
const HANDSHAKE_MS = 5000;

/** Returns when the certificate of a server ends; undefined if it shows none. */
export async function certificateEnd(url: URL, tls: TlsSettings): Promise<Date | undefined> {
  // Loaded here, because TLS takes a third of the program's start.
  const { connect } = await import('node:tls');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const options: ConnectionOptions = {
    host,
    port: Number(url.port === '' ? 443 : url.port),
    // A certificate that has ended already is to be shown too. Nothing is sent.
    rejectUnauthorized: false,
    ...(tls.serverName !== undefined && { servername: tls.serverName }),
    ...(tls.clientCert !== undefined && { cert: readFileSync(tls.clientCert) }),
    ...(tls.clientKey !== undefined && { key: readFileSync(tls.clientKey) }),
  };
  return new Promise((resolve) => {
    const socket = connect(options, () => {
      const { valid_to: end } = socket.getPeerCertificate();
      socket.destroy();
      resolve(end === undefined ? undefined : new Date(end));
    });
    socket.setTimeout(HANDSHAKE_MS, () => socket.destroy());
    socket.on('error', () => resolve(undefined));
    socket.on('close', () => resolve(undefined));
  });
}
