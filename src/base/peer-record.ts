/**
 * The Ed25519 key pair of a data folder, as 32 bytes each in base64url. It is drawn at the first
 * start of the folder. Only a server that has the private half may speak for the folder.
 */
export interface KeyPair {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** What a server remembers of another one, to notice a disk that was wiped, copied or put back. */
export interface PeerRecord {
  /**
   * Random, drawn when the data folder was made. A server whose disk was wiped comes back with
   * another one.
   */
  readonly incarnation: string;
  /** Starts of a server on the data folder. */
  readonly starts: number;
  /** Random, drawn at each start. Two starts with one number come from two copies of the folder. */
  readonly startId: string;
  /**
   * Subject of the first certificate it showed, where TLS is used. No other certificate speaks for
   * it.
   */
  readonly subject?: string;
  /** Public key of its data folder, once it has proved to have the private one. */
  readonly publicKey?: string;
}
