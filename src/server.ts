/** The composition root: builds the rooms from the disk up, listens last, closes in reverse. */
import type { Config } from './config.js';
import type { Log } from './log.js';

export interface Server {
  /** Where the API is reached. */
  readonly url: string;
  /** Reads the certificates again. Throws, changing nothing, if they are no good. */
  reloadTls(): void;
  /** Stops in order: no more requests, held calls answered, leadership handed over, queues drained, disks closed. */
  stop(): Promise<void>;
}

/** Starts a node. `onFatal` is told once of what it cannot go on after. */
export async function startServer(
  _config: Config,
  _log: Log,
  _onFatal: (error: unknown) => void,
): Promise<Server> {
  throw new Error('no rooms yet');
}
