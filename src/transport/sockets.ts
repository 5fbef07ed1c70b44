/**
 * The sockets that the network runs on, as far as it uses them: the sockets of `node:net` and
 * `node:tls` in production, sockets in virtual time in the simulation.
 */

/** A connected stream of bytes. The members are those of `net.Socket` and `tls.TLSSocket`. */
export interface WireSocket {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly destroyed: boolean;
  readonly writableLength: number;
  readonly writableNeedDrain: boolean;
  setNoDelay(noDelay: boolean): unknown;
  write(bytes: Uint8Array): boolean;
  cork(): void;
  uncork(): void;
  /**
   * Returns bytes that only the two ends of this connection know. Absent where nothing protects the
   * connection.
   */
  exportKeyingMaterial?(bytes: number, label: string, context: Buffer): Buffer;
  end(): unknown;
  destroy(): unknown;
  on(event: 'data', listener: (bytes: Buffer) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'drain' | 'close', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** A listening socket. The members are those of `net.Server`. */
export interface WireServer {
  maxConnections: number;
  listen(options: { readonly host: string; readonly port: number }, done: () => void): unknown;
  address(): unknown;
  close(done: () => void): unknown;
  on(event: 'connection', listener: (socket: WireSocket) => void): unknown;
  once(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
}

/** The mode of protection, with its secrets. See security.ts. */
export type WireSecurity =
  | { readonly mode: 'closed' }
  | { readonly mode: 'plain' }
  /** Secrets of at least 16 characters, preferably 32 random bytes in base64. */
  | { readonly mode: 'key'; readonly keys: readonly string[] }
  | {
      readonly mode: 'tls';
      /** PEM. */
      readonly cert: string;
      readonly key: string;
      readonly ca: string;
      /** DNS name that the certificate of every member carries. */
      readonly name: string;
      /**
       * Revocation lists (PEM), one for each authority in a certificate's chain. Without them no
       * certificate is considered revoked.
       */
      readonly crl?: string;
    };

/**
 * How the sockets are made. `listen` and `dial` pass a socket on only when it is ready to carry
 * frames.
 */
export interface WireSockets {
  listen(
    onSocket: (socket: WireSocket) => void,
    onError: (problem: string, remote: string) => void,
  ): WireServer;
  /** Calls `onReady` once the peer is authenticated, as far as the mode requires. */
  dial(address: { host: string; port: number }, onReady: () => void): WireSocket;
  /**
   * Uses other secrets of the same mode for connections from now on, including those of `server`.
   */
  update(security: WireSecurity, server: WireServer | undefined): void;
}
