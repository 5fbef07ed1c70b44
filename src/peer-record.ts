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
}
